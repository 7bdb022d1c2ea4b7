"""Read untrusted files in bounded memory.

In: files or their bytes. Out: JSON values, streams. Reads files.
"""

from __future__ import annotations

import codecs
import gzip
import io
import json
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from memoria.errors import InvalidInputError

#: Largest document that is read at once. Parsed, it takes up to twenty times as much memory.
MAX_DOCUMENT_BYTES = 32_000_000
#: Longest line of a file that is read line by line.
MAX_LINE_BYTES = 16_000_000
#: Most lists and objects of a JSON text. Python takes about 80 bytes for an empty one, so that
#: 32 MB of them would take a gigabyte; conversations of that size have some 100,000.
MAX_CONTAINERS = 3_000_000
#: JSON of conversations compresses to a fifth or a twentieth of its size. No real conversation
#: reaches this ratio; archives made to fill a disk or memory do.
MAX_PACKED_RATIO = 250
UNSUSPICIOUS_BYTES = 50_000_000
_GZIP = b"\x1f\x8b"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BUFFER_BYTES = 1 << 17


def parse_json(raw: bytes) -> Any:
    """Parse a JSON text; the error says where the text is wrong.

    Raises
    ------
    InvalidInputError
        The text is not UTF-8, not JSON, nested too deep, or has a number with too many digits, or
        too many lists and objects.
    """
    try:
        check_containers(raw)
        return json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as exc:
        raise InvalidInputError(f"not UTF-8: byte {exc.start + 1}") from exc
    except json.JSONDecodeError as exc:
        raise InvalidInputError(f"not JSON: {exc.msg} at character {exc.pos + 1}") from exc
    except RecursionError as exc:
        raise InvalidInputError("nested too deep: flatten it") from exc
    except ValueError as exc:  # a whole number with more digits than Python converts
        raise InvalidInputError("a number has too many digits") from exc


def check_containers(raw: bytes | str) -> None:
    """Refuse a JSON text that may have more lists and objects than fit into memory."""
    if len(raw) <= MAX_CONTAINERS:
        return
    count = (
        raw.count("[") + raw.count("{")
        if isinstance(raw, str)
        else raw.count(b"[") + raw.count(b"{")
    )
    if count > MAX_CONTAINERS:
        raise InvalidInputError(f"more than {MAX_CONTAINERS} lists and objects: split it")


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidInputError(f"{name} is not JSON: give a finite number")


def read_whole(source: str | PathLike[str] | BinaryIO) -> bytes:
    """Return the bytes of a file or a stream.

    Raises
    ------
    InvalidInputError
        The file or stream is too large.
    OSError
        The file can't be read.
    """
    if isinstance(source, str | PathLike):
        with Path(source).open("rb") as stream:
            return read_whole(stream)
    raw = source.read(MAX_DOCUMENT_BYTES + 1)
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise InvalidInputError(f"is larger than {MAX_DOCUMENT_BYTES} bytes")
    return raw


def is_own(path: Path) -> bool:
    """Tell whether a path is a regular file, not a link, pipe or device."""
    return path.is_file() and not path.is_symlink()


def check_ratio(packed: int, unpacked: int) -> None:
    """Refuse an archive that unpacks to implausibly many bytes."""
    if unpacked > max(UNSUSPICIOUS_BYTES, MAX_PACKED_RATIO * packed):
        raise ValueError(f"{packed} bytes unpack to {unpacked}: nothing that was written does")


def unpacked(stream: io.BufferedReader[Any]) -> BinaryIO:
    """Return the stream, decompressed if it starts with the gzip signature, and as UTF-8.

    Reading it raises ``zlib.error``, ``EOFError`` or ``gzip.BadGzipFile`` if it is damaged, and
    ``ValueError`` if it unpacks to too many bytes.
    """
    if stream.peek(2)[:2] == _GZIP:
        stream = io.BufferedReader(_Gunzip(stream), buffer_size=_BUFFER_BYTES)
    return as_utf8(stream)


def as_utf8(stream: io.BufferedReader[Any]) -> BinaryIO:
    """Return the stream, in UTF-8 if it begins with the mark of UTF-16.

    Half characters become the replacement character.
    """
    if stream.peek(2)[:2] not in _UTF16:
        return stream
    return io.BufferedReader(_Recoded(stream), buffer_size=_BUFFER_BYTES)


class _Counted:
    """Reads a stream and counts the bytes."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        found = self.stream.read(size)
        self.count += len(found)
        return found


class _Gunzip(io.RawIOBase):
    """Unpacks a stream, and fails once the output is out of proportion to the input."""

    def __init__(self, stream: BinaryIO) -> None:
        self._packed = _Counted(stream)
        self._file = gzip.GzipFile(fileobj=cast(BinaryIO, self._packed), mode="rb")
        self._unpacked = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        self._unpacked += count
        check_ratio(self._packed.count, self._unpacked)
        return count

    def close(self) -> None:
        if not self.closed:
            self._packed.stream.close()
        super().close()


class _Recoded(io.RawIOBase):
    """Reads a stream of UTF-16 as UTF-8."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self._left = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        raw = b"more"
        while raw and not self._left:
            raw = self._stream.read(_BUFFER_BYTES)
            self._left = self._decoder.decode(raw, final=not raw).encode()
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()
