r"""Write the lines of an export as a folder of notes in Markdown, and read them back.

In: lines of an export, or a folder. Out: notes, or the same lines. Writes and reads files.

A memory is a note: its fields are the front matter, its text is the text of the note, and each of
its edges is a line with a wiki link and, in a comment, the line of the export. In the text nothing
is changed, so a note that nobody has edited gives the same memory to the byte.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from memoria._support.foreign_files import MAX_LINE_BYTES, is_own, parse_json
from memoria.errors import InvalidInputError

#: The note that holds what belongs to the whole scope; its text shows what the folder is.
ABOUT = "memoria.md"
ABOUT_TEXT = b"These notes are an export of memoria. `memoria ingest FOLDER` reads them back.\n"
_FRONT = b"---\n"
#: Stands after the text; whatever the text holds, the last one counts.
LINKS = b"\n\n%% memoria: links %%\n"
# No percent sign is in the JSON, see `_hidden`: so a line of many signs is read in one pass.
_LINE = re.compile(rb"^- [^\n]* %%(\{[^\n%]*\})%%\r?$", re.MULTILINE)
# That of a memory with more than a million edges is smaller.
_MAX_NOTE_BYTES = 400_000_000
_ODD = re.compile(r"[^\w .-]+")
_MAX_NAME_CHARS = 60


def is_vault(path: Path) -> bool:
    """Tell whether a path is a folder that `VaultWriter` has written."""
    about = path / ABOUT
    if not path.is_dir() or not is_own(about):
        return False
    with about.open("rb") as stream:
        return stream.read(len(ABOUT_TEXT)) == ABOUT_TEXT


class VaultWriter:
    """Writes the lines of an export into a folder, which must be empty.

    Edges come after the memories that they begin at, as in an export.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: IO[bytes] | None = None
        self._path: Path | None = None
        self._append(folder / ABOUT, ABOUT_TEXT + LINKS)

    def add(self, line: str) -> None:
        """Write one line."""
        fields: dict[str, Any] = json.loads(line)
        if "text" in fields:
            self._append(self._folder / _path_of(fields["id"]), _note_of(fields))
        elif "source" in fields:
            kind = fields.get("relation") or "suppresses" * ("suppresses" in fields) or "with"
            link = Path(_path_of(fields["target"])).stem
            shown = " ".join(_ODD.sub(" ", str(kind)).split())
            text = f"- {shown} [[{link}]] %%{_hidden(line)}%%\n"
            self._append(self._folder / _path_of(fields["source"]), text.encode())
        else:
            self._append(self._folder / ABOUT, f"- scope %%{_hidden(line)}%%\n".encode())

    def close(self) -> None:
        """Close the last note."""
        if self._open is not None:
            self._open.close()

    def _append(self, path: Path, data: bytes) -> None:
        if path != self._path or self._open is None:
            self.close()
            path.parent.mkdir(exist_ok=True)
            self._path, self._open = path, path.open("ab")
        self._open.write(data)


def _note_of(fields: dict[str, Any]) -> bytes:
    front = "".join(
        f"{name}: {json.dumps(value, ensure_ascii=False)}\n"
        for name, value in fields.items()
        if name != "text"
    )
    return _FRONT + front.encode() + _FRONT + str(fields["text"]).encode() + LINKS


def _hidden(line: str) -> str:
    """Return a line of JSON in which no comment ends."""
    return line.replace("%", "\\u0025")


def _path_of(id_: str) -> str:
    """Return the path of the note of a memory, which its id alone tells.

    >>> _path_of("notes/Stone oven.md")
    'notes/Stone oven.md 3d70b517.md'
    """
    folder, mark, name = re.match(r"([^/:]*)([/:]?)(.*)", id_, re.DOTALL).groups()  # type: ignore[union-attr]
    if not mark or not (folder := _ODD.sub("-", folder).strip(" .-")[:_MAX_NAME_CHARS]):
        folder, name = "memories", id_
    short = _ODD.sub("-", name).strip(" .-")[-_MAX_NAME_CHARS:].lstrip(" .-")
    digest = hashlib.sha256(id_.encode()).hexdigest()[:8]
    return f"{folder}/{short} {digest}.md" if short else f"{folder}/{digest}.md"


def vault_lines(folder: Path) -> Iterator[tuple[str, int, bytes]]:
    """Yield the lines of an export from its notes: file, number of the line, and the line.

    Raises
    ------
    InvalidInputError
        A note can't be read, or is not one of an export.
    """
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(where, name)
            if name.endswith(".md") and not name.startswith(".") and is_own(path):
                yield from _lines_of(path)


def _lines_of(path: Path) -> Iterator[tuple[str, int, bytes]]:
    data = _read(path)
    end = data.rfind(LINKS)
    if end < 0:
        raise InvalidInputError(
            f"{path}: not a note of an export: write it with memoria import-notes"
        )
    if data.startswith(_FRONT):
        if end > MAX_LINE_BYTES:
            raise InvalidInputError(f"{path}: no memory has more than {MAX_LINE_BYTES} bytes")
        yield str(path), 1, _memory_line(path, data[:end])
    number = data.count(b"\n", 0, end) + 1
    for found in _LINE.finditer(data, end + len(LINKS)):
        number += data.count(b"\n", end, found.start())
        end = found.start()
        yield str(path), number, found[1]


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(_MAX_NOTE_BYTES + 1)
    except OSError as exc:
        raise InvalidInputError(f"{path}: can't be read: {exc.strerror or exc}") from exc
    if len(data) > _MAX_NOTE_BYTES:
        raise InvalidInputError(f"{path}: no note of an export has {_MAX_NOTE_BYTES} bytes")
    return data


def _memory_line(path: Path, note: bytes) -> bytes:
    """Return the line of the memory that a note is."""
    front, mark, text = note[len(_FRONT) :].partition(b"\n" + _FRONT)
    fields: dict[str, Any] = {}
    try:
        for line in front.decode("utf-8").split("\n"):
            name, _, value = line.partition(":")
            fields[name] = parse_json(value.encode())
        fields["text"] = text.decode("utf-8")
    except (ValueError, InvalidInputError) as exc:
        raise InvalidInputError(f"{path}: the front matter is damaged: {exc}") from exc
    if not mark:
        raise InvalidInputError(f"{path}: the front matter has no end")
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")
