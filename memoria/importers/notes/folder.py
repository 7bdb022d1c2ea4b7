"""Read a folder of notes in Markdown, one document a note.

In: a folder, such as a vault of Obsidian, or one note. Out: `Document`s, in the order of their
paths. Reads files, and runs ``git log``. Links of the file system are not followed, so nothing
outside the folder is read.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.util import find_spec
from os import PathLike
from pathlib import Path

from memoria._support.extras import install_command
from memoria._support.foreign_files import is_own
from memoria._support.wording import one_line
from memoria.errors import ConfigError, InvalidInputError
from memoria.importers.notes.dates import dates_of
from memoria.importers.notes.links import Links
from memoria.ingest.jsonl import at_place
from memoria.ingest.vault import is_vault
from memoria.types import Document

log = logging.getLogger(__name__)

SUFFIXES = (".md", ".markdown")
SOURCE = "notes"
#: Nobody writes a larger note.
MAX_NOTE_BYTES = 64_000_000
#: Most marks of a note, and how many a line counts for: the parser takes 800 bytes for a mark.
_MAX_MARKS, _LINE_MARKS = 1_000_000, 2.5
_MARKS = "[<&!*_`|"
#: How much of a note is read to find its titles.
_HEAD_CHARS = 20_000
_HEADING = re.compile(r"\s*# +(.+)")

OnInvalid = Callable[[InvalidInputError], None]
OnLeftOut = Callable[[str], None]


def read_notes(
    folder: str | PathLike[str],
    *,
    source: str = SOURCE,
    sites: Sequence[str] = (),
    exclude: Sequence[str] = (),
    on_invalid: OnInvalid | None = None,
    on_left_out: OnLeftOut | None = None,
) -> Iterator[Document]:
    """Read the notes of a folder and of the folders in it, one at a time.

    Notes are the files that end in ``.md`` or ``.markdown``. Files and folders whose names begin
    with a dot, such as ``.obsidian`` and ``.git``, are left out, and so are links of the file
    system. Front matter that is not YAML is read line by line; a warning in the log names the file
    if a line can't be read.

    Parameters
    ----------
    folder
        The folder; or one note, which is read as if its folder held no other.
    source
        The source of the documents, which is the first part of their ids: two folders whose notes
        have the same paths need two of them.
    sites
        Addresses under which the folder is published: a link that begins with one of them leads to
        a note.
    exclude
        Patterns such as ``README.md``, ``templates`` or ``drafts/*.md``: a note whose path, or the
        name of whose file or folder, matches one of them is left out.
    on_invalid
        Called with the error about each note that can't be read, which is then passed over; None
        raises the first.
    on_left_out
        Called with the reason for all that is left out: ``excluded`` or ``page of contents`` for
        a note; ``comment``,
        ``picture``, ``drawing``, ``file`` or ``front matter that is not YAML`` for a part of one;
        and ``link to`` with a host, or with ``no note``, for a link that becomes no edge.

    Returns
    -------
    Iterator
        Documents whose ids are their paths in the folder. A note says when it was written in its
        front matter or by the date that its name begins with; else it is when git says that it
        was added, and without git it is unknown.

    Raises
    ------
    InvalidInputError
        The folder does not exist, or a note can't be read; the message names the file, and the line
        where it is known.
    ConfigError
        The packages of the extra ``notes`` are not installed.
    """
    root = Path(folder)
    if not root.is_dir() and not root.is_file():
        raise InvalidInputError(f"{root}: this folder does not exist")
    if is_vault(root):
        raise InvalidInputError(f"{root}: an export of memoria: read it with memoria ingest {root}")
    if any(find_spec(package) is None for package in ("markdown_it", "yaml")):
        raise ConfigError(f"reading notes needs more packages: {install_command('notes')}")
    top = root.parent if root.is_file() else root
    reader = _Reader(top, on_invalid or _raise, on_left_out or (lambda _: None))
    found = iter([root.name]) if root.is_file() else reader.find(exclude)
    return reader.notes(found, source, sites)


@lru_cache(maxsize=1_000)
def _warn_once(file: str, message: str) -> None:
    """Warn of a note; a dry run, and a program that imports every hour, say it once."""
    log.warning("%s", one_line(f"{file}: {message}"))


def _raise(error: InvalidInputError) -> None:
    raise error


class _Reader:
    """Reads the notes of a folder."""

    def __init__(self, root: Path, on_invalid: OnInvalid, left_out: OnLeftOut) -> None:
        self._root = root
        self._on_invalid = on_invalid
        self._left_out = left_out

    def find(self, exclude: Sequence[str]) -> Iterator[str]:
        """Yield the paths of the notes, relative to the folder, with slashes; sorted by folder."""

        def refuse(error: OSError) -> None:
            place = f"{error.filename}: can't be read: {error.strerror or error}"
            self._on_invalid(InvalidInputError(place))

        for where, folders, files in os.walk(self._root, onerror=refuse):  # follows no links
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                file = Path(where, name)
                if not name.lower().endswith(SUFFIXES) or name.startswith(".") or not is_own(file):
                    continue
                path = file.relative_to(self._root).as_posix()
                if _matches(path, exclude):
                    self._left_out("excluded")
                else:
                    yield path

    def notes(self, found: Iterator[str], source: str, sites: Sequence[str]) -> Iterator[Document]:
        """Yield the notes at some paths."""
        from memoria.importers.notes.note import Folder, notes_of

        paths = list(found)
        links = Links(paths, sites, lambda: self._names(paths))
        shared = Folder(source=source, links=links, left_out=self._left_out)
        dates = dates_of(self._root, paths)
        for path in paths:
            file = self._root / path

            def warn(message: str, file: Path = file) -> None:
                self._left_out("front matter that is not YAML")
                _warn_once(str(file), message)

            try:
                read = _read(file)
                notes = list(notes_of(read, path, shared, warn=warn, added_at=dates.get(path)))
            except InvalidInputError as exc:
                self._on_invalid(at_place(exc, str(file)))
            else:
                yield from notes

    def _names(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the paths of notes by their titles, aliases and permanent links."""
        from memoria.importers.notes.front_matter import split_front_matter

        named: dict[str, str] = {}
        for path in paths:
            try:
                text = _read(self._root / path)[:_HEAD_CHARS]
            except InvalidInputError:  # it is reported when its turn comes
                continue
            front, body = split_front_matter(text, lambda _: None)
            heading = _HEADING.match(body)
            names = [front.title, heading and heading[1], front.others.get("permalink")]
            for name in (*names, *front.aliases):
                if isinstance(name, str):
                    named.setdefault(name.strip().casefold(), path)
        return named


def _matches(path: str, patterns: Sequence[str]) -> bool:
    """Tell whether a path, one of its folders, or the name of a file or folder in it matches."""
    names = path.split("/")
    places = {path, *names, *("/".join(names[:end]) for end in range(1, len(names)))}
    return any(fnmatchcase(each, pattern.rstrip("/")) for each in places for pattern in patterns)


def _read(path: Path) -> str:
    """Read a file as text; refuse what is none."""
    try:
        size = path.stat().st_size
        if size > MAX_NOTE_BYTES:
            raise InvalidInputError(
                f"the file has {size} bytes; a note may have {MAX_NOTE_BYTES}: split it"
            )
        data = path.read_bytes()
    except OSError as exc:
        raise InvalidInputError(f"can't be read: {exc.strerror or exc}") from exc
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    if b"\0" in data and encoding != "utf-16":
        raise InvalidInputError("the file is not text: it has zero bytes")
    try:
        text = data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as exc:
        if encoding == "utf-16":
            raise InvalidInputError("not UTF-16: save the file as UTF-8") from exc
        line = data.count(b"\n", 0, exc.start) + 1
        raise InvalidInputError(f"line {line}: not UTF-8: save the file as UTF-8") from exc
    if _LINE_MARKS * text.count("\n") + sum(map(text.count, _MARKS)) > _MAX_MARKS:
        raise InvalidInputError("the file has too many lines and marks of Markdown: split it")
    return text
