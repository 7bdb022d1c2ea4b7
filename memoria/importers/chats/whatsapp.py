"""Read an exported chat of WhatsApp.

In: the zip, or the text file in it. Out: a conversation for each month. Reads the file twice, one
line at a time: the days of a chat tell whether the month or the day comes first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain, groupby
from os import PathLike

from memoria.errors import InvalidInputError
from memoria.importers.chats.archive import Export, open_export
from memoria.importers.chats.parsing import (
    MAX_CONVERSATION_BYTES,
    Aside,
    OnInvalid,
    OnLeftOut,
    digest,
    messages_of,
    placed_lines,
    size_of,
)
from memoria.types import Conversation, Message

SOURCE = "whatsapp"
FILES = r"(?:_chat|.*WhatsApp.*)\.txt"
#: No text is longer that anybody has sent.
MAX_MESSAGE_CHARS = 5_000_000
#: No chat has more messages a minute.
_MAX_A_MINUTE = 100_000
#: Marks of direction, and blanks that don't break a line: phones differ in these.
_MARKS = str.maketrans(
    {**dict.fromkeys("\u200e\u200f\u202a\u202c\u2068\u2069", ""), "\u202f": " ", "\xa0": " "}
)
_DATE = r"(?P<a>\d{1,4})(?P<mark>[./-]) ?(?P<b>\d{1,2})[./-] ?(?P<c>\d{1,4})"
_CLOCK = r"(?P<hour>\d{1,2})(?:[:.]| h )(?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
#: Words between date and clock, and after it: *at*, or the half of the day.
_WORDS = r"[^\d\n\[\]-]{%s}?"
_END = r"(?P<end>\] ?| - )(?P<rest>.*)"
_HEADS = tuple(
    re.compile(rf"(?P<begin>\[?){head}{_END}", re.DOTALL)
    for head in (
        rf"{_DATE}(?P<before>{_WORDS % '1,16'}){_CLOCK}(?P<after>{_WORDS % '0,12'})",
        rf"{_CLOCK}(?P<after>{_WORDS % '0,12'})(?P<before>, ){_DATE}",
    )
)
#: The halves of the day as phones write them, without points and blanks.
_HALVES = {
    **dict.fromkeys(("am", "a", "ص", "πμ", "上午", "早上", "清晨", "凌晨", "午前", "오전"), "am"),
    **dict.fromkeys(("pm", "p", "م", "μμ", "下午", "中午", "晚上", "午後", "오후"), "pm"),
    **dict.fromkeys(("sa", "öö", "de", "pd", "qm", "قظ"), "am"),
    **dict.fromkeys(("ch", "ös", "du", "md", "ps", "بظ"), "pm"),
}
_SAID = re.compile(r"(?P<name>[^:\n]{1,100}): (?P<text>.*)", re.DOTALL)
_FILE = re.compile(
    r"<[^<>\n]{1,200}>|(?:image|video|audio|sticker|GIF|document|Contact card) omitted|"
    r"[A-Z]{2,5}-\d{8}-WA\d{4}\.\w{2,5} \([^()\n]{3,40}\)|"
    r"[^\n]{1,200} \((?:file attached|Datei angehängt|archivo adjunto|arquivo anexado|"
    r"fichier joint|file allegato|bestand bijgevoegd)\)",
    re.IGNORECASE,
)
#: The program begins its own texts with this mark, on some phones.
_OWN = "\u200e"
_ATTACHED = re.compile(rf"\s*{_OWN}<[^<>\n]{{1,150}}\.\w{{2,5}}>\Z")
_EDITED = re.compile(
    rf"\s*(?:{_OWN}<[^<>\n]{{1,80}}>|<(?:This message was edited|"
    r"Diese Nachricht wurde bearbeitet\.?|Se editó este mensaje\.?|Ce message a été modifié\.?|"
    r"Mensagem editada|Questo messaggio è stato modificato\.?|Dit bericht is bewerkt\.?)>)\Z"
)
_DELETED = re.compile(
    r"(?:This message was deleted|You deleted this message|Diese Nachricht wurde gelöscht|"
    r"Du hast diese Nachricht gelöscht|Se eliminó este mensaje|Eliminaste este mensaje|"
    r"Ce message a été supprimé|Vous avez supprimé ce message|Mensagem apagada|"
    r"Você apagou esta mensagem|Questo messaggio è stato eliminato|Hai eliminato questo messaggio|"
    r"Dit bericht is verwijderd|U hebt dit bericht verwijderd)\.?"
)
#: WhatsApp is not older; no phone counts years that far ahead, but in Thailand.
_FIRST_YEAR, _THAI_YEARS = 2009, 543
_TITLE = re.compile(r"WhatsApp[ -]+Chat (?:with|-|mit|con|avec)? ?(.*)\.(?:txt|zip)", re.IGNORECASE)
_Key = tuple[int, int, int]


def read_whatsapp(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Conversation]:
    """Read a chat that WhatsApp has exported.

    Dates are read as phones of any language write them. A date counts as day, month, year unless
    the dates of the chat, or ``AM`` and ``PM``, say otherwise. Its times have no zone and count as
    UTC.

    Parameters
    ----------
    path
        The zip; or the text file, ``_chat.txt`` or ``WhatsApp Chat with ....txt``.
    on_invalid
        Called with the error about each date that does not exist; its message is passed over. None
        raises the first.
    on_left_out
        Called with the reason for each message or part of one that is left out: ``notice`` (a text
        of WhatsApp itself: somebody joined; on some phones, a file is not there), ``file``,
        ``deleted`` or ``end of a long message``.

    Raises
    ------
    InvalidInputError
        The chat can't be read, or a date is wrong and ``on_invalid`` is None; the message names
        file and line.
    """
    aside = Aside(on_invalid, on_left_out)
    with open_export(path) as export:
        for name in export.needed(FILES, "chat of WhatsApp (_chat.txt)"):
            lines = _Lines(export, name)
            order = _order(lines)
            if order is None:
                raise InvalidInputError(
                    f"{export.place(name)}: no line begins with a date and a time, as in "
                    "'31.12.2025, 09:15 - Ada: Good morning'"
                )
            title = _title(export, name)
            said = _messages(lines, order, aside)
            for month, messages in groupby(said, lambda message: f"{message.created_at:%Y-%m}"):
                id_ = f"{title}/{month}"
                for number, piece in enumerate(_pieces(messages), 1):
                    yield Conversation(
                        id=id_ if number == 1 else f"{id_}/{number}",
                        messages=piece,
                        title=title,
                        source=SOURCE,
                    )


def _pieces(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """Yield the messages of a month; in pieces if there are too many for the memory."""
    piece, size = list[Message](), 0
    for message in messages:
        piece.append(message)
        size += size_of([message])
        if size > MAX_CONVERSATION_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _title(export: Export, name: str) -> str:
    """Return with whom the chat is, as the names of the files say."""
    for each in (name.rpartition("/")[2], export.path.name, export.path.stem):
        if (found := _TITLE.fullmatch(each)) and found[1].strip():
            return found[1].strip()[:100]
    return export.path.stem[:100]


class _Lines:
    """The lines of a chat, and which of them begin a message: all of these are of one form."""

    def __init__(self, export: Export, name: str) -> None:
        self._export = export
        self._name = name
        self._form: tuple[object, ...] | None = None

    def __iter__(self) -> Iterator[tuple[str, re.Match[str] | None, str]]:
        """Yield each line: its place, its head if it begins a message, and its text."""
        with self._export.opened(self._name) as read:
            for place, _, raw, _ in placed_lines(read, self._export.place(self._name)):
                line = raw.decode("utf-8", "replace").removeprefix("\ufeff")
                yield place, self._head(line), line

    def _head(self, line: str) -> re.Match[str] | None:
        shown = line.translate(_MARKS)
        for number, pattern in enumerate(_HEADS):
            if (head := pattern.match(shown)) is not None:
                seconds = head["second"] is not None
                form = (number, head["begin"], head["mark"], head["end"].strip(), seconds)
                self._form = self._form or form
                return head if form == self._form else None
        return None


def _order(lines: _Lines) -> str | None:
    """Return the order of year, month and day in the dates; None without any date."""
    heads = (head for _, head, _ in lines if head is not None)
    first = next(heads, None)
    if first is None:
        return None
    if len(first["a"]) == 4:
        return "ymd"
    # How often the dates don't exist, go back in time, and change their year.
    american = first["mark"] == "/" and any(word in ("AM", "PM") for word in _words(first))
    orders = ["mdy", "dmy"] if american else ["dmy", "mdy"]  # others write pm
    if len(first["c"]) == 2 and first["mark"] == "-":
        orders.append("ymd")
    wrong = {order: [0, 0, 0] for order in orders}
    before: dict[str, _Key] = {}
    for head in chain([first], heads):
        for order in orders:
            key = year, month, day = _date(head, order)
            earlier = before.get(order, key)
            wrong[order][0] += not (year >= _FIRST_YEAR and 0 < month <= 12 and 0 < day <= 31)
            wrong[order][1] += key < earlier
            wrong[order][2] += year != earlier[0]
            before[order] = key
    return min(orders, key=lambda order: wrong[order])


def _date(head: re.Match[str], order: str) -> _Key:
    """Return year, month and day."""
    parts = dict(zip(order, (int(head["a"]), int(head["b"]), int(head["c"])), strict=True))
    year = parts["y"] + (2000 if parts["y"] < 100 else 0)
    return year - (_THAI_YEARS if year > 2500 else 0), parts["m"], parts["d"]


def _words(head: re.Match[str]) -> list[str]:
    """Return the words before and after the clock, without points and blanks."""
    return [re.sub(r"[\W\d]", "", head[part]) for part in ("before", "after")]


def _messages(entries: _Lines, order: str, aside: Aside) -> Iterator[Message]:
    """Yield the messages of a chat; a line without a date continues the message before."""
    numbers = Counter[str]()
    place, head, lines, size = "", None, list[str](), 0
    for next_place, next_head, line in entries:
        if next_head is None:
            added = len(line) + 1  # with its end: an empty line takes room as well
            if (size := size + added) <= MAX_MESSAGE_CHARS:
                lines.append(line)
            elif size - added <= MAX_MESSAGE_CHARS:
                aside.left_out("end of a long message")
            continue
        size = 0
        if head is not None:
            yield from _said(place, head, lines, order, numbers, aside)
        place, head, lines = next_place, next_head, [_rest(line, next_head)]
    if head is not None:
        yield from _said(place, head, lines, order, numbers, aside)


def _said(
    place: str,
    head: re.Match[str],
    lines: list[str],
    order: str,
    numbers: Counter[str],
    aside: Aside,
) -> list[Message]:
    marked = "\n".join(lines)
    said = _SAID.fullmatch(marked.lstrip(_OWN))
    text, reason = _text(said["text"]) if said is not None else ("", "notice")
    if reason is not None:
        aside.left_out(reason)
    if said is None or not text:
        return []
    with aside.at(place):
        at = _time(head, order)
        # Only within a minute texts are the same.
        if (stamp := at.isoformat()) not in numbers or len(numbers) > _MAX_A_MINUTE:
            numbers.clear()
        speaker = said["name"].translate(_MARKS)
        key = digest(stamp, speaker, text)
        numbers.update((stamp, key))
        number = numbers[key]
        return messages_of(
            text,
            id_=key if number == 1 else f"{key}-{number}",
            role="other",
            speaker=speaker.lstrip("~ ").strip() or "unknown",
            created_at=at,
        )
    return []


def _rest(line: str, head: re.Match[str]) -> str:
    """Return what follows the head of a line, with its marks: they tell who has written it."""
    if head.string == line:
        return head["rest"]
    size = len(head["rest"])
    place = len(line)
    while size:  # the marks are gone from the head that was matched
        place -= 1
        size -= line[place].translate(_MARKS) != ""
    while place and line[place - 1] == _OWN:
        place -= 1
    return line[place:]


def _text(marked: str) -> tuple[str, str | None]:
    """Return the words of a message, and why it or a part of it is left out."""
    text = marked.translate(_MARKS).strip()
    if _FILE.fullmatch(text):
        return "", "file"
    if _DELETED.fullmatch(text):
        return "", "deleted"
    if marked.startswith(_OWN) and ":" not in text:  # not a place or a vote
        return "", "notice"
    kept = _ATTACHED.sub("", marked)
    reason = None if kept == marked else "file"
    return _EDITED.sub("", kept).translate(_MARKS).strip("\n"), reason


def _time(head: re.Match[str], order: str) -> datetime:
    year, month, day = _date(head, order)
    hour = int(head["hour"])
    half = next(filter(None, (_HALVES.get(word.casefold()) for word in _words(head))), None)
    if half is not None and hour <= 12:
        hour = hour % 12 + (12 if half == "pm" else 0)
    try:
        if year < _FIRST_YEAR:
            raise ValueError("a calendar of another people")
        return datetime(
            year, month, day, hour, int(head["minute"]), int(head["second"] or 0), tzinfo=UTC
        )
    except ValueError as exc:
        raise InvalidInputError(f"this date does not exist: {head[0][:30]!r}") from exc
