"""Read a folder of notes in Markdown, one document a note.

In: a folder, such as a vault of Obsidian. Out: `Document`s, in the order of their paths. Reads
files. Links of the file system are not followed, so nothing outside the folder is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.util import find_spec
from os import PathLike
from pathlib import Path

from memoria._support.checks import MAX_TEXT_BYTES
from memoria._support.extras import install_command
from memoria._support.foreign_files import is_own
from memoria.errors import ConfigError, InvalidInputError
from memoria.importers.notes.links import Links
from memoria.ingest.jsonl import at_place
from memoria.types import Document

SUFFIXES = (".md", ".markdown")
SOURCE = "notes"

OnInvalid = Callable[[InvalidInputError], None]


def read_notes(
    folder: str | PathLike[str], *, source: str = SOURCE, on_invalid: OnInvalid | None = None
) -> Iterator[Document]:
    """Read the notes of a folder and of the folders in it, one at a time.

    Notes are the files that end in ``.md`` or ``.markdown``. Files and folders whose names begin
    with a dot, such as ``.obsidian`` and ``.git``, are left out, and so are links of the file
    system.

    Parameters
    ----------
    source
        The source of the documents, which is the first part of their ids: two folders whose notes
        have the same paths need two of them.
    on_invalid
        Called with the error about each note that can't be read, which is then passed over; None
        raises the first.

    Returns
    -------
    Iterator
        Documents whose ids are their paths in the folder. A note says when it was written in its
        front matter or by the date that its name begins with; else it is when the file was last
        changed.

    Raises
    ------
    InvalidInputError
        The folder does not exist, or a note can't be read; the message names the file, and the line
        where it is known.
    ConfigError
        The packages of the extra ``notes`` are not installed.
    """
    root = Path(folder)
    if not root.is_dir():
        raise InvalidInputError(f"{root}: this folder does not exist")
    if any(find_spec(package) is None for package in ("markdown_it", "yaml")):
        raise ConfigError(f"reading notes needs more packages: {install_command('notes')}")
    return _notes(root, source, on_invalid or _raise)


def _notes(root: Path, source: str, on_invalid: OnInvalid) -> Iterator[Document]:
    from memoria.importers.notes.note import note_of

    paths = list(find_notes(root, on_invalid))
    links = Links(paths)
    for path in paths:
        file = root / path
        try:
            text = _read(file)
            changed_at = datetime.fromtimestamp(file.stat().st_mtime, UTC)
            note = note_of(text, path, source=source, links=links, changed_at=changed_at)
        except InvalidInputError as exc:
            on_invalid(at_place(exc, str(file)))
        else:
            yield note


def _raise(error: InvalidInputError) -> None:
    raise error


def find_notes(root: Path, on_invalid: OnInvalid) -> Iterator[str]:
    """Yield the paths of the notes, relative to the folder, with slashes; sorted by folder."""

    def refuse(error: OSError) -> None:
        on_invalid(InvalidInputError(f"{error.filename}: can't be read: {error.strerror or error}"))

    for where, folders, files in os.walk(root, onerror=refuse):  # follows no links
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(where, name)
            if name.lower().endswith(SUFFIXES) and not name.startswith(".") and is_own(path):
                yield path.relative_to(root).as_posix()


def _read(path: Path) -> str:
    """Read a file as text; refuse what is none."""
    try:
        size = path.stat().st_size
        if size > MAX_TEXT_BYTES:
            raise InvalidInputError(
                f"the file has {size} bytes; a note may have {MAX_TEXT_BYTES}: split it"
            )
        data = path.read_bytes()
    except OSError as exc:
        raise InvalidInputError(f"can't be read: {exc.strerror or exc}") from exc
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidInputError("the file is UTF-16: save it as UTF-8")
    if b"\0" in data:
        raise InvalidInputError("the file is not text: it has zero bytes")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as exc:
        line = data.count(b"\n", 0, exc.start) + 1
        raise InvalidInputError(f"line {line}: not UTF-8: save the file as UTF-8") from exc
