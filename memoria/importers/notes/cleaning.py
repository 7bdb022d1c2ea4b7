"""Take out of a note what nobody wrote to be read: comments, pasted pictures, drawings.

In: the text of a note, without front matter. Out: the text that is left. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

LeftOut = Callable[[str], None]

_OPENING = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})(?P<info>[^\n]*)$|(?P<ticks>`+)|(?P<comment>%%|<!--)",
    re.MULTILINE,
)
_CLOSING = {"%%": "%%", "<!--": "-->"}
_HEAD = r"data:[A-Za-z]{1,20}/[\w.+-]{1,60}(?:;[\w=.-]{1,40}){0,4},"
# No data have a bracket, so that those of one picture end where another one begins.
_LONG_LINE = r"[^\s()\[\]\"'<>]{64,}"
# Base64 in lines; the last one ends where the picture does.
_LINES = (
    r"[A-Za-z0-9+/]*+(?:[ \t]*\n[ \t>]*[A-Za-z0-9+/]{60,}+={0,2})++"
    r"(?:\n[ \t>]*[A-Za-z0-9+/]++={0,2}(?=[ \t]*[)\"'>]))?"
)
_BYTES = rf"(?:{_LINES}|{_LONG_LINE})"
_DATA = _HEAD + _BYTES
#: Pictures that stand in the text itself, each with what stays of it.
_PICTURES = (
    (re.compile(rf'!\[([^\[\]\n]*)\]\([ \t]*<?{_DATA}>?(?:[ \t]+"[^"\n]*")?[ \t]*\)'), r"\1"),
    (re.compile(rf"<img\b[^<>]{{0,500}}?[\"']{_DATA}[\"'][^<>]{{0,500}}>"), ""),
    (re.compile(rf"^[ \t]{{0,3}}\[[^\[\]\n]+\]:[ \t]*<?{_DATA}>?[ \t]*$", re.MULTILINE), ""),
    (re.compile(rf"({_HEAD}){_BYTES}"), r"\1…"),
)
#: Where a picture of SVG begins or ends, also within an address that holds it.
_SVG = re.compile(
    rf"(?P<head>{_HEAD}[ \t\n]*)?(?:(?P<coded>%3C)|<)(?P<end>/?)svg\b"
    r"(?(coded)(?:%3E)?|(?:[^<>]*+>)?)",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(?P<end>/?)(?P<name>[\w:]*)[^<>]*+>?")
#: So many pictures of SVG are looked for in a text, so that their places fit into memory.
_MAX_SVG = 100_000
_WORDLESS = frozenset({"metadata", "script", "style"})
#: As long as the data of a picture have to be.
_STAND_IN = "=" * 64
#: Languages of code blocks in which programs keep drawings.
_DRAWN = "compressed-json"
_DRAWING = re.compile(
    r"^(?:%%[ \t]*\n+)?#{1,2} (?:Excalidraw Data|Text Elements|Drawing)$", re.MULTILINE
)
_DRAWING_PART = re.compile(r"^#{1,2} (.*)\n((?:(?!#{1,2} |%%).*\n?)*)", re.MULTILINE)
_WORDS = ("Text Elements", "Element Links")
_MARKS = re.compile(r"[ \t]+\^[\w-]{1,40}[ \t]*$|^[\w-]{6,40}:[ \t]+", re.MULTILINE)
_SWITCH = re.compile(r"^==⚠[^\n]*$", re.MULTILINE)


def cleaned(text: str, left_out: LeftOut) -> str:
    r"""Return a text without comments, the data of pictures, and drawings.

    Parameters
    ----------
    left_out
        Called with ``comment``, ``picture`` or ``drawing`` for each.

    Examples
    --------
    >>> cleaned("Tea. %%buy more%% `%%` <!-- x -->", print)
    comment
    comment
    'Tea.  `%%` '
    """
    kept, written = [], list[str]()
    for kind, piece in pieces(text):
        if kind == "text":
            written.append(piece)
        elif kind == "code":
            kept += [_without_svg("".join(written), left_out), piece]
            written.clear()
        else:
            left_out(kind)
    kept.append(_without_svg("".join(written), left_out))
    return _without_pictures("".join(kept), left_out)


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a text with their kinds: text, code, comment or drawing."""
    place = paragraph = 0  # paragraph: where the one ends in which code was found
    unclosed: set[str] = set()
    while (opening := _OPENING.search(text, place)) is not None:
        if opening.start() > place:
            yield "text", text[place : opening.start()]
        kind = "code"
        if opening["fence"]:
            end = _fence_end(text, opening)
            if opening["info"].strip() == _DRAWN:
                kind = "drawing"
        elif opening["ticks"]:
            if paragraph < opening.end():
                found = text.find("\n\n", opening.end())
                paragraph = len(text) if found < 0 else found
            end = _span_end(text, opening, paragraph)
        else:
            mark = opening["comment"]
            found = -1 if mark in unclosed else text.find(_CLOSING[mark], opening.end())
            if found < 0:  # it hides nothing
                unclosed.add(mark)
                kind, end = "text", opening.end()
            else:
                kind, end = "comment", found + len(_CLOSING[mark])
        yield kind, text[opening.start() : end]
        place = end
    if place < len(text):
        yield "text", text[place:]


def _fence_end(text: str, opening: re.Match[str]) -> int:
    """Return where a block of code ends; one that nothing closes lasts to the end."""
    fence = opening["fence"]
    closing = rf"^[ \t>]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$"
    found = re.compile(closing, re.MULTILINE).search(text, opening.end())
    return found.end() if found else len(text)


def _span_end(text: str, opening: re.Match[str], within: int) -> int:
    """Return where code within a paragraph ends; a mark that nothing closes is text."""
    found = re.compile(rf"(?<!`){opening['ticks']}(?!`)").search(text, opening.end(), within)
    return found.end() if found else opening.end()


def _without_pictures(text: str, left_out: LeftOut) -> str:
    if "data:" not in text:
        return text
    for pattern, stays in _PICTURES:
        text, number = pattern.subn(stays, text)
        for _ in range(number):
            left_out("picture")
    return text


def _without_svg(text: str, left_out: LeftOut) -> str:
    """Return a text with the words of each SVG picture in it instead of the picture."""
    begun, found = list[re.Match[str]](), list[tuple[re.Match[str], int]]()
    for mark in _SVG.finditer(text):
        if len(begun) + len(found) > _MAX_SVG:
            break
        if not mark["end"]:
            begun += [mark] if not mark[0].endswith("/>") else []
        elif begun:
            begin = begun.pop()
            while found and found[-1][0].start() > begin.start():
                found.pop()  # a picture within this one
            found.append((begin, mark.end()))
    kept, place = list[str](), 0
    for begin, end in found:
        picture = text[begin.end("head") if begin["head"] else begin.start() : end]
        if begin["head"]:  # the address goes with the other pictures
            kept += [text[place : begin.end("head")].rstrip(), _STAND_IN]
        elif picture.startswith("<"):
            kept += [text[place : begin.start()], _words_of_svg(picture)]
            left_out("picture")
        else:
            kept.append(text[place:end])
        place = end
    return "".join(kept) + text[place:]


def _words_of_svg(picture: str) -> str:
    words, place, wordless = list[str](), 0, ""
    for tag in _TAG.finditer(picture):
        if not wordless:
            words += picture[place : tag.start()].split()
        place, name = tag.end(), tag["name"].lower()
        if wordless and tag["end"] and name == wordless:
            wordless = ""
        elif not wordless and name in _WORDLESS and not tag["end"] and not tag[0].endswith("/>"):
            wordless = name
    return " ".join(words)


def words_of_drawing(text: str, left_out: LeftOut) -> str:
    r"""Return what is written in and around a drawing of Excalidraw.

    >>> words_of_drawing("# Excalidraw Data\n## Text Elements\nOven ^a1b2c3d4\n%%\n", print)
    drawing
    'Oven'
    """
    left_out("drawing")
    data = _DRAWING.search(text)
    around = text[: data.start()] if data else text
    parts = _DRAWING_PART.findall(text, data.start()) if data else []
    found = [_SWITCH.sub("", around)]
    found += [words for name, words in parts if name.strip() in _WORDS]
    return "\n\n".join(filter(None, (_MARKS.sub("", each).strip() for each in found)))
