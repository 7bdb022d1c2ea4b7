"""Read the sessions that coding agents keep: those of Claude Code and of Codex.

In: a file of JSON Lines, or a folder or zip of some. Out: a conversation for each session. Reads
files, one line at a time.

The ids are those that `memoria hook` gives, so a session that both have kept is there once.

The words of people and agents are kept. Calls of tools, their results and thoughts are
left out, and so are texts that the host puts into the mouth of the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from memoria._support.foreign_files import MAX_LINE_BYTES
from memoria._support.session_lines import Said, said_to_claude_code, said_to_codex
from memoria.errors import InvalidInputError
from memoria.importers.chats.archive import open_export
from memoria.importers.chats.parsing import (
    Aside,
    OnInvalid,
    OnLeftOut,
    PlacedLine,
    digest,
    messages_of,
    objects_in,
    placed_lines,
    size_of,
    string_in,
    time_in,
    whole,
)
from memoria.types import Conversation, Message

FILES = r"(?:.*/)?[^/]+\.jsonl"
#: Sessions of Codex lie in folders for year, month and day.
MAX_FOLDERS = 6
#: A session that takes more memory, as nobody has had, becomes several conversations.
MAX_SESSION_BYTES = 20_000_000


def read_claude_code(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Conversation]:
    """Read the sessions of Claude Code, as they lie in ``~/.claude/projects``.

    Parameters
    ----------
    path
        A session (``*.jsonl``), or a folder or a zip of some.
    on_invalid
        Called with the error about each line that is wrong, which is then passed over; None raises
        the first.
    on_left_out
        Called with the reason for each part that is left out: ``tool call``, ``result of a tool``,
        ``thoughts``, ``internal`` (texts of the host), ``message between agents``, ``picture``,
        ``repeated`` (a session that was continued in another file), ``long line`` or
        ``line that is broken off``.

    Raises
    ------
    InvalidInputError
        The path can't be read, or a line is wrong and ``on_invalid`` is None; the message names
        file, line and field.
    """
    reader = _Reader("claude", said_to_claude_code, Aside(on_invalid, on_left_out))
    return reader.read(path)


def read_codex(
    path: str | PathLike[str],
    *,
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Conversation]:
    """Read the sessions of Codex, as they lie in ``~/.codex/sessions``.

    Parameters
    ----------
    path
        A session (``rollout-*.jsonl``), or a folder or a zip of some.
    on_invalid, on_left_out
        As in `read_claude_code`.

    Raises
    ------
    InvalidInputError
        The path can't be read, or a line is wrong and ``on_invalid`` is None; the message names
        file, line and field.
    """
    return _Reader("codex", said_to_codex, Aside(on_invalid, on_left_out)).read(path)


class _Reader:
    """Reads the sessions of one program."""

    def __init__(
        self, source: str, said: Callable[[Mapping[str, Any]], Said], aside: Aside
    ) -> None:
        self._source = source
        self._said = said
        self._aside = aside
        self._seen: set[str] = set()

    def read(self, path: str | PathLike[str]) -> Iterator[Conversation]:
        """Yield the sessions of all files."""
        with open_export(path, folders=MAX_FOLDERS) as export:
            for name in export.needed(FILES, "session (*.jsonl)", anywhere=True):
                session = _Session(id=name.rpartition("/")[2].removesuffix(".jsonl"))
                with export.opened(name) as read:
                    for line in placed_lines(read, export.place(name)):
                        self._add(session, line)
                        if session.size > MAX_SESSION_BYTES:
                            yield from self._said_in(session, export.place(name))
                yield from self._said_in(session, export.place(name))

    def _said_in(self, session: _Session, place: str) -> list[Conversation]:
        """Return what was said in a session since the last call, as a conversation."""
        with self._aside.at(place):
            return session.take(self._source)
        return []

    def _add(self, session: _Session, line: PlacedLine) -> None:
        if not line.raw.strip():
            return
        if len(line.raw) > MAX_LINE_BYTES:
            self._aside.left_out("long line")  # the output of a tool, or a picture
            return
        with self._aside.at(line.place):
            for number, fields in enumerate(self._objects(line)):
                place = str(line.offset)  # as a hook names it
                self._say(session, fields, f"{place}+{number}" if number else place)

    def _objects(self, line: PlacedLine) -> Iterator[Mapping[str, Any]]:
        """Yield the objects of a line: several if a line break was lost."""
        try:
            yield from objects_in(line.raw)
        except InvalidInputError:
            if line.ended:
                raise
            self._aside.left_out("line that is broken off")  # the session continues

    def _say(self, session: _Session, fields: Mapping[str, Any], place: str) -> None:
        session.describe(fields)
        said = self._said(fields)
        for reason in said.reasons:
            self._aside.left_out(reason)
        if not said.text:
            return
        key = digest(said.id) if said.id is not None else None
        if key in self._seen:
            self._aside.left_out("repeated")
            return
        created_at = time_in(fields, "timestamp")
        if key is not None:
            self._seen.add(key)
        made = messages_of(said.text, id_=said.id or place, role=said.role, created_at=created_at)
        session.size += size_of(made)
        session.messages += made


@dataclass(slots=True)
class _Session:
    """A session, as far as it was read."""

    id: str
    title: str | None = None
    folder: str | None = None
    messages: list[Message] = field(default_factory=list)
    size: int = 0  # bytes
    pieces: int = 0

    def describe(self, line: Mapping[str, Any]) -> None:
        """Take the title of the session and its folder from a line, if it has them."""
        meta = line.get("payload") if line.get("type") == "session_meta" else line
        if isinstance(meta, dict) and isinstance(meta.get("cwd"), str):
            self.folder = self.folder or whole(meta["cwd"])
        if line.get("type") == "session_meta" and isinstance(meta, dict):
            self.id = string_in(meta, "id") or self.id
        if line.get("type") == "summary" and isinstance(line.get("summary"), str):
            self.title = whole(line["summary"])

    def take(self, source: str) -> list[Conversation]:
        """Return the messages since the last call as a conversation; none if there are none."""
        messages, self.messages, self.size = self.messages, [], 0
        if not messages:
            return []
        self.pieces += 1
        return [
            Conversation(
                id=self.id if self.pieces == 1 else f"{self.id}/{self.pieces}",
                messages=messages,
                title=self.title or self.folder,
                source=source,
                metadata={"folder": self.folder} if self.folder else {},
            )
        ]
