"""Read an exported chat of WhatsApp.

In: the zip, or the text file in it. Out: a conversation for each month. Reads the file twice, one
line at a time: the days of a chat tell whether the month or the day comes first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, groupby
from os import PathLike

from memoria.errors import InvalidInputError
from memoria.importers.chats.archive import Export, open_export
from memoria.importers.chats.parsing import (
    Aside,
    OnInvalid,
    OnLeftOut,
    digest,
    messages_of,
    placed_lines,
)
from memoria.types import Conversation, Message

SOURCE = "whatsapp"
FILES = r"(?:_chat|.*WhatsApp.*)\.txt"
#: No text is longer that anybody has sent.
MAX_MESSAGE_CHARS = 5_000_000
#: Marks of direction, and the narrow blank before am and pm.
_MARKS = str.maketrans({"\u200e": "", "\u200f": "", "\u202a": "", "\u202c": "", "\u202f": " "})
_HEAD = re.compile(
    r"\[?(?P<a>\d{1,4})(?P<mark>[./-])(?P<b>\d{1,2})[./-](?P<c>\d{1,4}),? "
    r"(?:um |at )?(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    r"(?: (?P<half>[AaPp])\.? ?[Mm]\.?)?(?:\] | - )(?P<rest>.*)",
    re.DOTALL,
)
_SAID = re.compile(r"(?P<name>[^:\n]{1,100}): (?P<text>.*)", re.DOTALL)
_FILE = re.compile(
    r"<[^<>\n]{1,200}>|(?:image|video|audio|sticker|GIF|document|Contact card) omitted|"
    r"[^\n]{1,200} \((?:file attached|Datei angehängt)\)",
    re.IGNORECASE,
)
_TITLE = re.compile(r"WhatsApp[ -]+Chat (?:with|-|mit|con|avec)? ?(.*)\.(?:txt|zip)", re.IGNORECASE)
_Key = tuple[int, int, int]


def read_whatsapp(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Conversation]:
    """Read a chat that WhatsApp has exported.

    A date counts as day, month, year unless the dates of the chat, or ``AM`` and ``PM``, say
    otherwise. Its times have no zone and count as UTC.

    Parameters
    ----------
    path
        The zip; or the text file, ``_chat.txt`` or ``WhatsApp Chat with ....txt``.
    on_invalid
        Called with the error about each date that does not exist; its message is passed over. None
        raises the first.
    on_left_out
        Called with the reason for each message that is left out: ``notice`` (somebody joined, a
        number changed), ``file`` or
        ``end of a long message``.

    Raises
    ------
    InvalidInputError
        The chat can't be read, or a date is wrong and ``on_invalid`` is None; the message names
        file and line.
    """
    aside = Aside(on_invalid, on_left_out)
    with open_export(path) as export:
        for name in export.needed(FILES, "chat of WhatsApp (_chat.txt)"):
            order = _order(export, name)
            if order is None:
                raise InvalidInputError(f"{export.place(name)}: no line begins with a date")
            title = _title(export, name)
            said = _messages(export, name, order, aside)
            for month, messages in groupby(said, lambda message: f"{message.created_at:%Y-%m}"):
                yield Conversation(
                    id=f"{title}/{month}", messages=list(messages), title=title, source=SOURCE
                )


def _title(export: Export, name: str) -> str:
    """Return with whom the chat is, as the names of the files say."""
    for each in (name.rpartition("/")[2], export.path.name, export.path.stem):
        if (found := _TITLE.fullmatch(each)) and found[1].strip():
            return found[1].strip()[:100]
    return export.path.stem[:100]


def _entries(export: Export, name: str) -> Iterator[tuple[str, re.Match[str] | None, str]]:
    """Yield each line: its place, its head if it begins a message, and its text."""
    with export.opened(name) as read:
        for place, _, raw, _ in placed_lines(read, export.place(name)):
            line = raw.decode("utf-8", "replace").removeprefix("\ufeff").translate(_MARKS)
            yield place, _HEAD.match(line), line


def _order(export: Export, name: str) -> str | None:
    """Return the order of year, month and day in the dates; None without any date."""
    heads = (head for _, head, _ in _entries(export, name) if head is not None)
    first = next(heads, None)
    if first is None:
        return None
    if len(first["a"]) == 4:
        return "ymd"
    high = Counter[str]()
    turned = Counter[str]()
    before: dict[str, _Key] = {}
    for head in chain([first], heads):
        a, b, c = int(head["a"]), int(head["b"]), int(head["c"])
        high.update(day for day, value in (("dmy", a), ("mdy", b)) if value > 12)
        for order, key in (("dmy", (c, b, a)), ("mdy", (c, a, b))):
            turned[order] += key < before.get(order, key)
            before[order] = key
    if high["dmy"] != high["mdy"]:
        return "dmy" if high["dmy"] > high["mdy"] else "mdy"
    if turned["dmy"] != turned["mdy"]:  # time goes forward
        return "dmy" if turned["dmy"] < turned["mdy"] else "mdy"
    american = first["mark"] == "/" and (first["half"] or "").isupper()  # others write pm
    return "mdy" if american else "dmy"


def _messages(export: Export, name: str, order: str, aside: Aside) -> Iterator[Message]:
    """Yield the messages of a chat; a line without a date continues the message before."""
    numbers = Counter[str]()
    place, head, lines, size = "", None, list[str](), 0
    for next_place, next_head, line in _entries(export, name):
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
        place, head, lines = next_place, next_head, [next_head["rest"]]
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
    said = _SAID.fullmatch("\n".join(lines))
    if said is None or _FILE.fullmatch(said["text"].strip()):
        aside.left_out("notice" if said is None else "file")
        return []
    with aside.at(place):
        at = _time(head, order)
        if (stamp := at.isoformat()) not in numbers:  # only within a minute texts are the same
            numbers.clear()
        key = digest(stamp, said["name"], said["text"])
        numbers.update((stamp, key))
        number = numbers[key]
        return messages_of(
            said["text"],
            id_=key if number == 1 else f"{key}-{number}",
            role="other",
            speaker=said["name"].lstrip("~ ").strip() or "unknown",
            created_at=at,
        )
    return []


def _time(head: re.Match[str], order: str) -> datetime:
    parts = dict(zip(order, (int(head["a"]), int(head["b"]), int(head["c"])), strict=True))
    year = parts["y"] + (2000 if parts["y"] < 100 else 0)
    hour = int(head["hour"])
    if head["half"]:
        hour = hour % 12 + (12 if head["half"].lower() == "p" else 0)
    try:
        return datetime(
            year, parts["m"], parts["d"], hour, int(head["minute"]), int(head["second"] or 0)
        ).replace(tzinfo=UTC)
    except ValueError as exc:
        raise InvalidInputError(f"this date does not exist: {head[0][:30]!r}") from exc
