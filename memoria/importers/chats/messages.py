"""Read messages from JSON Lines: the format for what no other reader knows.

In: a file, plain or gzip. Out: conversations. Reads files, one line at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

from memoria._support.checks import check_id
from memoria.errors import InvalidInputError
from memoria.importers.chats.parsing import (
    MAX_CONVERSATION_BYTES,
    Aside,
    OnInvalid,
    OnLeftOut,
    map_in,
    messages_of,
    objects_in,
    size_of,
    string_in,
    time_in,
)
from memoria.ingest.jsonl import raw_lines
from memoria.remember.ids import named
from memoria.types import Conversation, Message

FIELDS = (
    "conversation",
    "title",
    "source",
    "text",
    "role",
    "id",
    "speaker",
    "created_at",
    "reply_to",
    "metadata",
)
#: Messages of conversations that may go on. Then those that have rested longest are done.
MAX_HELD = 50_000
Key = tuple[str, str]


def read_messages(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Conversation]:
    """Read JSON Lines, each the fields of a `Message`, and ``conversation``, the id of its own.

    ``title`` and ``source`` of the conversation may stand in each line, too; the first counts. A
    message without an id gets its place in its conversation, from 1, or the next number if an id
    before it was one as large; so add lines at the end only.
    Lines of several conversations may be mixed, as in a log, but not over too long a stretch.

    Parameters
    ----------
    path
        A file, plain or gzip; ``-`` is standard input.
    on_invalid
        Called with the error about each line that is wrong, which is then passed over; None raises
        the first.
    on_left_out
        Called with the reason for each message that is left out: ``empty``.

    Raises
    ------
    InvalidInputError
        The file can't be read, or a line is wrong and ``on_invalid`` is None; the message names
        file, line and field.
    """
    aside = Aside(on_invalid, on_left_out)
    held = _Held()
    for file, number, raw in raw_lines(path):
        if raw.strip():
            with aside.at(f"{file}:{number}"):
                for fields in objects_in(raw):
                    held.add(fields, aside)
        yield from held.conversations(above=MAX_HELD)
    yield from held.conversations()


@dataclass(slots=True)
class _Open:
    """A conversation that may go on."""

    empty: Conversation
    lines: int = 0
    size: int = 0
    taken: int = 0  # largest number that names one of its messages
    messages: list[Message] = field(default_factory=list)


class _Held:
    """The conversations that may go on: the one that went on last stands last."""

    def __init__(self) -> None:
        self._open: dict[Key, _Open] = {}
        self._given: set[Key] = set()
        self._messages = 0

    def add(self, fields: Mapping[str, Any], aside: Aside) -> None:
        """Read the fields of a line, and put the message to its conversation."""
        _check_names(fields)
        key = string_in(fields, "source") or "", fields["conversation"]
        if key in self._given:
            raise InvalidInputError(
                f"conversation {key[1]!r:.80} continues after {MAX_HELD} messages of others: put "
                "its lines together",
                field="conversation",
            )
        held = self._open.pop(key, None) or _Open(_empty(fields))
        self._open[key] = held
        held.lines += 1
        id_ = string_in(fields, "id")
        name, held.taken = named(id_, place=held.lines, taken=held.taken)
        made = messages_of(
            fields["text"],
            id_=name,
            role=string_in(fields, "role") or "user",
            speaker=string_in(fields, "speaker"),
            created_at=time_in(fields, "created_at"),
            reply_to=string_in(fields, "reply_to"),
            metadata=map_in(fields, "metadata"),
        )
        held.size += size_of(made)
        if held.size > MAX_CONVERSATION_BYTES:
            raise InvalidInputError(
                f"conversation {key[1]!r:.80} is too long: give its lines several ids",
                field="conversation",
            )
        held.messages += made
        self._messages += len(made)
        if not made:
            aside.left_out("empty")

    def conversations(self, *, above: int = -1) -> Iterator[Conversation]:
        """Give conversations away until no more messages are held than that, or one is left."""
        while self._open and self._messages > above and (above < 0 or len(self._open) > 1):
            key = next(iter(self._open))
            held = self._open.pop(key)
            self._messages -= len(held.messages)
            self._given.add(key)
            if held.messages:
                yield replace(held.empty, messages=held.messages)


def _empty(fields: Mapping[str, Any]) -> Conversation:
    """Return the conversation of a line, without messages."""
    return Conversation(
        id=check_id(fields["conversation"], "conversation"),
        messages=(),
        title=string_in(fields, "title"),
        source=string_in(fields, "source") or "",
    )


def _check_names(fields: Mapping[str, Any]) -> None:
    for name in fields:
        if name not in FIELDS:
            raise InvalidInputError(
                f"unknown field {name[:80]!r}: a message has {', '.join(FIELDS)}", field=name[:80]
            )
    for name in ("conversation", "text"):
        if not isinstance(fields.get(name), str):
            raise InvalidInputError(f"{name} must be given, as a string", field=name)
