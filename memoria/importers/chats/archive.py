"""Open what somebody has exported: a zip, a folder, or a single file.

In: a path. Out: streams of bytes under the names that a reader asks for; UTF-16 comes as UTF-8.
Reads files. Nothing is unpacked to disk, and a name in a zip never becomes a path, so it can't lead
out of a folder.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any

from memoria._support.foreign_files import as_utf8, check_ratio, is_own, unpacked
from memoria.errors import InvalidInputError

#: An export, perhaps in a folder of its own, with a folder for each channel in it.
MAX_FOLDERS = 2
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_UTF8_NAME = 0x800
_UNREADABLE = (OSError, EOFError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile)


class Export:
    """The files of an export, under names such as ``general/2026-03-01.json``."""

    def __init__(
        self,
        path: Path,
        names: Sequence[str],
        opener: Callable[[str], IO[bytes]],
        *,
        single: bool = False,
    ) -> None:
        self.path = path
        self.names = sorted(name for name in names if not _is_litter(name))
        self.single = single
        self._opener = opener

    def place(self, name: str) -> str:
        """Return the name of a file as error messages have it."""
        return str(self.path) if self.single else f"{self.path}/{name}"

    def find(self, pattern: str) -> list[str]:
        """Return the names that match, of the folders nearest to the top; a single file matches."""
        if self.single:
            return self.names
        found = [name for name in self.names if re.fullmatch(pattern, name.rpartition("/")[2])]
        depth = min((name.count("/") for name in found), default=0)
        return [name for name in found if name.count("/") == depth]

    def needed(self, pattern: str, what: str, *, anywhere: bool = False) -> list[str]:
        """Return the names that match, as `find` does; with ``anywhere`` as `matching` does.

        A single file matches any pattern.
        """
        found = self.matching(pattern) if anywhere and not self.single else self.find(pattern)
        if not found:
            raise InvalidInputError(f"{self.path}: no {what} in it")
        return found

    def matching(self, pattern: str) -> list[str]:
        """Return the names that match as a whole, folders included."""
        return [name for name in self.names if re.fullmatch(pattern, name)]

    @contextmanager
    def opened(self, name: str) -> Iterator[Callable[[int], bytes]]:
        """Give a function that reads the next bytes of a file; b"" is the end.

        Raises
        ------
        InvalidInputError
            The file can't be read, or is damaged; the message names it.
        """
        place = self.place(name)
        with _naming(place):
            stream = self._opener(name)

        def read(size: int) -> bytes:
            with _naming(place):
                return stream.read(size)

        with stream:
            yield read


@contextmanager
def open_export(path: str | PathLike[str], *, folders: int = MAX_FOLDERS) -> Iterator[Export]:
    """Open a zip, a folder or a single file, plain or gzip.

    Parameters
    ----------
    folders
        How many folders lead to a file, at most.

    Raises
    ------
    InvalidInputError
        It can't be read; the message says why.
    """
    where = Path(path)
    with _naming(str(where)):
        if where.is_dir():
            archive, names = None, list(_files_below(where, folders))
        else:
            if where.exists() and not where.is_file():  # reading a pipe could block
                raise ValueError("it is neither a file nor a folder")
            with where.open("rb") as file:
                start = file.read(4)
            archive = zipfile.ZipFile(where) if start in _ZIP else None
            names = [where.name]
    if archive is not None:
        with archive:
            members = {_member_name(info): info for info in archive.infolist()}
            with _naming(str(where)):  # members can overlap, so check their sum, too
                check_ratio(where.stat().st_size, sum(each.file_size for each in members.values()))
            yield Export(where, list(members), lambda name: _member(archive, members[name]))
    elif where.is_dir():
        yield Export(where, names, lambda name: as_utf8((where / name).open("rb")))
    else:
        yield Export(where, names, lambda _: unpacked(where.open("rb")), single=True)


def _files_below(folder: Path, depth: int) -> Iterator[str]:
    """Yield the paths of the files, without links, which could lead out of the folder."""
    for at, within, files in os.walk(folder):
        below = Path(at).relative_to(folder)
        if len(below.parts) >= depth:
            within.clear()
        yield from ((below / file).as_posix() for file in files if is_own(Path(at, file)))


def _member_name(info: zipfile.ZipInfo) -> str:
    """Return the name of a member; many programs write UTF-8 without saying so."""
    if info.flag_bits & _UTF8_NAME:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    check_ratio(info.compress_size, info.file_size)
    return as_utf8(io.BufferedReader(archive.open(info)))


def _is_litter(name: str) -> bool:
    """Tell whether a file is one of those that macOS adds to zips and folders."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith("._")


@contextmanager
def _naming(place: str) -> Iterator[Any]:
    try:
        yield
    except _UNREADABLE as exc:  # RuntimeError: a zip with a password, or packed in another way
        reason = getattr(exc, "strerror", None) or str(exc) or "it ends too early"
        raise InvalidInputError(f"{place}: can't be read: {reason}") from exc
