"""Turn HTML into a text for people.

In: HTML. Out: its text, with a line for each block. Pure.

Each character is looked at a bounded number of times. The parser of Python looks for the end of
each tag or comment that has none in all that follows: 36 kB of ``<a `` take it 17 s.
"""

from __future__ import annotations

import html as entities
import re
from collections.abc import Iterator

_BLOCKS = frozenset(
    {"address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "figure", "footer", "form"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre"}
    | {"section", "table", "tr", "ul"}
)
_HIDDEN = frozenset({"head", "script", "style", "template", "title"})
# A quoted value may contain "<" if it is short: a quote that never ends is looked at only so far.
_QUOTED = "|".join(rf"{mark}(?:[^{mark}<]*+|[^{mark}]{{0,500}}+){mark}" for mark in "\"'")
_TAG = re.compile(
    rf"""<(?P<end>/?)(?P<name>[a-zA-Z][^\s/<>]*+)(?:(?:[^<>"']|{_QUOTED})*+>|[^<>]*+>)"""
)
#: A declaration, such as the type of a document, or an instruction.
_OTHER = re.compile(r"<[!?/][^<>]*+>")
#: The end tags of elements that contain no HTML.
_RAW = {name: re.compile(rf"</{name}\b", re.IGNORECASE) for name in ("script", "style")}
_DIGITS = re.compile(r"&#[0-9]{8,};?")
_BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")
_EMPTY_LINES = re.compile(r"\n{3,}")


def text_of_html(html: str) -> str:
    r"""Return the text of a piece of HTML.

    >>> text_of_html("<p>Sow <b>beans</b>,<br>then:</p><ul><li>peas</li></ul><style>p{}</style>")
    'Sow beans,\nthen:\n\n- peas'
    """
    shown = "".join(_parts(html)).split("\n")
    lines = "\n".join(_BLANKS.sub(" ", line).strip() for line in shown)
    return _EMPTY_LINES.sub("\n\n", lines).strip()


def _parts(html: str) -> Iterator[str]:
    """Yield the texts that are shown, and line breaks where a browser would put them."""
    hidden = at = 0
    while at < len(html):
        start = html.find("<", at)
        start = len(html) if start < 0 else start
        if not hidden:
            yield _said(html[at:start])
        if html.startswith("<!--", start):
            end = html.find("-->", start + 4)
            at = len(html) if end < 0 else end + 3
            continue
        tag = _TAG.match(html, start)
        if tag is None:
            other = _OTHER.match(html, start)
            if other is None and not hidden:
                yield html[start : start + 1]
            at = other.end() if other else start + 1
            continue
        at, name, is_end = tag.end(), tag["name"].lower(), bool(tag["end"])
        if name in _HIDDEN and not tag[0].endswith("/>"):
            hidden = max(0, hidden - 1) if is_end else hidden + 1
        elif name == "body" and not is_end:
            hidden = 0
        if name in _BLOCKS and not (is_end and name == "br"):
            yield "\n- " if name == "li" and not is_end else "\n"
        if name in _RAW and not is_end:
            end_tag = _RAW[name].search(html, at)
            at = end_tag.start() if end_tag else len(html)


def _said(text: str) -> str:
    """Return a text without its entities and line breaks."""
    if "&" in text:
        text = entities.unescape(_DIGITS.sub("\ufffd", text))
    return text.replace("\n", " ")
