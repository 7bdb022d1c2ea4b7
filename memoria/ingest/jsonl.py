"""Read memories and relations from JSON Lines: plain, gzip, or standard input.

In: paths. Out: `Line`s, each with a `Memory` or a `Relation` and its place in the file.
Reads files, one line at a time. A bad line is an ``InvalidInputError`` that names file, line and
field.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO, cast

from memoria._support.foreign_files import MAX_LINE_BYTES, parse_json, unpacked
from memoria.errors import InvalidInputError
from memoria.ingest.vault import is_vault, vault_lines
from memoria.types import (
    CoActivation,
    EdgeHistory,
    HistoryItem,
    Memory,
    MemoryHistory,
    Relation,
    ScopeClock,
    Suppression,
)

STDIN = "-"
MEMORY_FIELDS = (
    "id",
    "kind",
    "text",
    "tags",
    "topics",
    "entities",
    "category",
    "priority",
    "when",
    "created_at",
    "valid_until",
    "metadata",
    "embedding",
    "learned",
)
EDGE_FIELDS = ("source", "target", "relation", "weight", "tags", "created_at", "learned")
SUPPRESSION_FIELDS = ("source", "target", "suppresses", "created_at")
CO_ACTIVATION_FIELDS = ("source", "target", "co_activated")
TIME_FIELDS = (
    "created_at",
    "valid_until",
    "linked_at",
    "last_used_at",
    "decayed_at",
    "last_active_at",
    "log_since",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a file.

    Attributes
    ----------
    file, number
        The file, and the number of the line in it, from 1.
    raw
        The bytes of the line, without the line break.
    value
        The memory or the relation that the line holds.
    undated
        Whether it says that the time of its memory is not known: its ``created_at`` is null.
    """

    file: str
    number: int
    raw: bytes
    value: Memory | Relation | HistoryItem
    undated: bool = False

    @property
    def place(self) -> str:
        """File and line, as error messages name them."""
        return f"{self.file}:{self.number}"


def read_lines(
    paths: Iterable[str | PathLike[str]],
    *,
    on_invalid: Callable[[InvalidInputError], None] | None = None,
) -> Iterator[Line]:
    """Read every line of every file, in order; blank lines are skipped.

    Parameters
    ----------
    paths
        Files, gzip or plain (told apart by their first bytes); ``-`` is standard input. A folder is
        an export in Markdown.
    on_invalid
        Called with the error of each bad line, which is then skipped; None raises the first error.

    Raises
    ------
    InvalidInputError
        A file can't be read; or a line is bad and ``on_invalid`` is None.
    """
    for path in paths:
        for file, number, raw in raw_lines(path):
            try:
                fields = _parse_fields(raw)
                if fields is None:
                    continue
                value = _parse_value(fields)
            except InvalidInputError as exc:
                located = at_place(exc, f"{file}:{number}")
                if on_invalid is None:
                    raise located from exc
                on_invalid(located)
            else:
                undated = isinstance(value, Memory) and fields.get("created_at", "") is None
                yield Line(file=file, number=number, raw=raw, value=value, undated=undated)


def raw_lines(path: str | PathLike[str]) -> Iterator[tuple[str, int, bytes]]:
    """Yield the lines of a file as they are: the file's name in messages, the number, the bytes.

    Of a line longer than 16 MB it yields only the beginning; `parse_object` refuses it.
    """
    name = fspath(path)
    if name != STDIN and is_vault(Path(name)):
        yield from vault_lines(Path(name))
        return
    file = "<stdin>" if name == STDIN else name
    with _opened(name, file) as stream:
        for number, raw in _numbered(stream):
            yield file, number, raw


def parse_line(raw: bytes) -> Memory | Relation | HistoryItem | None:
    """Read one line: a memory, or an edge (which has ``source`` or ``target``); None if blank.

    An export writes three forms more: an edge with ``suppresses`` or ``co_activated`` is not a
    relation but a part of the scope's history, and so is a line that holds ``clock`` alone.

    Raises
    ------
    InvalidInputError
        The line is neither a memory nor an edge; the error names the field that is wrong.
    """
    fields = _parse_fields(raw)
    return None if fields is None else _parse_value(fields)


def _parse_fields(raw: bytes) -> dict[str, Any] | None:
    if len(raw) <= MAX_LINE_BYTES and not raw.strip():
        return None
    return parse_object(raw)


def _parse_value(fields: Mapping[str, Any]) -> Memory | Relation | HistoryItem:
    if "clock" in fields:
        _check_names(fields, "a clock", ("clock",), required=())
        return cast(ScopeClock, _parse_part(fields["clock"], "clock", ScopeClock))
    if "source" in fields or "target" in fields:
        return _parse_edge(fields)
    _check_names(fields, "a memory", MEMORY_FIELDS, required=("id", "kind", "text"))
    values = _values(fields)
    if "learned" in values:
        values["learned"] = _parse_part(values["learned"], "learned", MemoryHistory)
    return Memory(**values)


def _parse_edge(fields: Mapping[str, Any]) -> Relation | HistoryItem:
    """Read what joins two memories: an edge, or a part of the scope's history."""
    ends = ("source", "target")
    if "suppresses" in fields:
        names = SUPPRESSION_FIELDS
        _check_names(fields, "a suppression", names, required=(*ends, "suppresses"))
        return Suppression(**_values(fields))
    if "co_activated" in fields:
        _check_names(fields, "a pair", CO_ACTIVATION_FIELDS, required=ends)
        return CoActivation(**fields)
    _check_names(fields, "an edge", EDGE_FIELDS, required=ends)
    values = _values(fields)
    if "learned" in values:
        values["learned"] = _parse_part(values["learned"], "learned", EdgeHistory)
    return Relation(**values)


def _parse_part(
    value: object, field: str, kind: type[MemoryHistory | EdgeHistory | ScopeClock]
) -> MemoryHistory | EdgeHistory | ScopeClock:
    """Read an object inside a line, which holds a part of the scope's history."""
    if not isinstance(value, dict):
        raise InvalidInputError(f"{field} must be a JSON object, with braces", field=field)
    _check_names(value, field, kind.names(), required=())
    return kind(**_values(value))


def at_place(error: InvalidInputError, place: str) -> InvalidInputError:
    """Return the same error with the place in front of its message."""
    return type(error)(f"{place}: {error}", field=error.field, query=error.query)


@contextmanager
def _opened(name: str, file: str) -> Iterator[BinaryIO]:
    """Open one input and unpack it; every error while reading is an ``InvalidInputError``."""
    try:
        if name == STDIN:
            yield _unpacked(_standard_input())
        else:
            with Path(name).open("rb") as stream:
                yield _unpacked(stream)
    except (EOFError, gzip.BadGzipFile, zlib.error) as exc:
        raise InvalidInputError(f"{file}: the gzip data are damaged or cut off") from exc
    except (OSError, ValueError) as exc:  # ValueError: a file can't have this name
        reason = getattr(exc, "strerror", None) or str(exc)
        raise InvalidInputError(f"{file}: can't be read: {reason}") from exc


def _standard_input() -> BinaryIO:
    """Return standard input with a buffer of its own.

    A daemon thread that waits in the buffer of ``sys.stdin`` holds the lock of that buffer; Python
    takes the same lock when it ends, and would abort.
    """
    stream = sys.stdin.buffer
    if isinstance(getattr(stream, "raw", None), io.FileIO):
        return io.BufferedReader(io.FileIO(stream.fileno(), closefd=False))
    return stream


def _unpacked(stream: BinaryIO) -> BinaryIO:
    # Somebody may have put a simpler stream instead of standard input.
    if not isinstance(stream, io.BufferedReader):
        stream = io.BufferedReader(cast(io.RawIOBase, stream))
    return unpacked(stream)


def _numbered(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield lines with their numbers; of a line that is too long, only its beginning."""
    number = 0
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        is_cut = len(raw) > MAX_LINE_BYTES and not raw.endswith(b"\n")
        yield number, (raw.removeprefix(BOM_UTF8) if number == 1 else raw).rstrip(b"\r\n")
        # Skip the rest only now: a caller that refuses the start of a line need not wait for it.
        while is_cut and (rest := stream.readline(MAX_LINE_BYTES + 1)):
            is_cut = not rest.endswith(b"\n")


def parse_object(raw: bytes) -> dict[str, Any]:
    """Parse a line that holds one JSON object; the error says where the line is wrong."""
    if len(raw) > MAX_LINE_BYTES:
        raise InvalidInputError(f"the line is longer than {MAX_LINE_BYTES} bytes")
    fields = parse_json(raw)
    if not isinstance(fields, dict):
        raise InvalidInputError("must be a JSON object, with braces")
    return fields


def _check_names(
    fields: Mapping[str, Any], what: str, allowed: tuple[str, ...], *, required: tuple[str, ...]
) -> None:
    for name in fields:
        if name not in allowed:
            raise InvalidInputError(
                f"unknown field {name[:80]!r}: {what} has {', '.join(allowed)}", field=name[:80]
            )
    for name in required:
        if name not in fields:
            raise InvalidInputError(f"{name} is missing: {what} needs it", field=name)


def _values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are given, times as such: null means that a field is left out."""
    needed = ("id", "kind", "text", "source", "target")
    return {
        name: _parse_time(value, name) if name in TIME_FIELDS else value
        for name, value in fields.items()
        if value is not None or name in needed
    }


def _parse_time(value: object, field: str) -> datetime:
    if not isinstance(value, str):
        raise InvalidInputError(f"{field} must be a string in ISO 8601", field=field)
    try:
        return datetime.fromisoformat(value)
    except ValueError as exc:
        raise InvalidInputError(
            f"{field} must be in ISO 8601, such as 2026-03-01T09:30:00Z, got {value[:80]!r}",
            field=field,
        ) from exc
