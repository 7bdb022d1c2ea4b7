"""Read and write the values of Bolt messages, by the specification of PackStream 1.

In: bytes. Out: plain values, and `Structure` for messages and for types such as times.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

_SIZES = {1: ">B", 2: ">H", 4: ">I"}
_INTEGERS = {0xC8: (1, ">b"), 0xC9: (2, ">h"), 0xCA: (4, ">i"), 0xCB: (8, ">q")}
# Marker -> bytes of the size that follows it; and the marker of the small form of the same type.
_STRINGS = {0xD0: 1, 0xD1: 2, 0xD2: 4}
_LISTS = {0xD4: 1, 0xD5: 2, 0xD6: 4}
_MAPS = {0xD8: 1, 0xD9: 2, 0xDA: 4}
_BYTES = {0xCC: 1, 0xCD: 2, 0xCE: 4}


@dataclass(frozen=True, slots=True)
class Structure:
    """A message, or a value that has a tag."""

    tag: int
    fields: tuple[Any, ...]


class Reader:
    """Reads one value after the other from bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def value(self) -> Any:
        """Read the next value.

        Raises
        ------
        ValueError
            The bytes are not PackStream.
        """
        marker = self._take(1)[0]
        if marker < 0x80 or marker >= 0xF0:
            return marker if marker < 0x80 else marker - 0x100
        match marker:
            case 0xC0:
                return None
            case 0xC1:
                return struct.unpack(">d", self._take(8))[0]
            case 0xC2 | 0xC3:
                return marker == 0xC3
        if marker in _INTEGERS:
            size, form = _INTEGERS[marker]
            return struct.unpack(form, self._take(size))[0]
        return self._sized(marker)

    def _sized(self, marker: int) -> Any:
        high, low = marker & 0xF0, marker & 0x0F
        if marker in _BYTES:
            return self._take(self._size(_BYTES[marker]))
        if high == 0x80 or marker in _STRINGS:
            return self._take(low if high == 0x80 else self._size(_STRINGS[marker])).decode()
        if high == 0x90 or marker in _LISTS:
            count = low if high == 0x90 else self._size(_LISTS[marker])
            return [self.value() for _ in range(count)]
        if high == 0xA0 or marker in _MAPS:
            count = low if high == 0xA0 else self._size(_MAPS[marker])
            return {self.value(): self.value() for _ in range(count)}
        if high == 0xB0:
            tag = self._take(1)[0]
            return Structure(tag, tuple(self.value() for _ in range(low)))
        raise ValueError(f"not PackStream: a value begins with {marker:#x}")

    def _size(self, width: int) -> int:
        size: int = struct.unpack(_SIZES[width], self._take(width))[0]
        return size

    def _take(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) != count:
            raise ValueError("not PackStream: the bytes end within a value")
        self._at += count
        return taken


def unpacked(data: bytes) -> Any:
    """Read the one value that the bytes hold."""
    return Reader(data).value()


def packed(value: Any) -> bytes:
    """Write a value.

    Raises
    ------
    TypeError
        The type of the value is none of those that messages of this package need.
    """
    match value:
        case None:
            return b"\xc0"
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            small = -16 <= value < 128
            return struct.pack(">b", value) if small else struct.pack(">Bq", 0xCB, value)
        case float():
            return struct.pack(">Bd", 0xC1, value)
        case bytes():
            return struct.pack(">BI", 0xCE, len(value)) + value
        case str():
            text = value.encode()
            return _header(0x80, 0xD2, len(text)) + text
        case list() | tuple():
            return _header(0x90, 0xD6, len(value)) + b"".join(map(packed, value))
        case dict():
            pairs = (packed(key) + packed(each) for key, each in value.items())
            return _header(0xA0, 0xDA, len(value)) + b"".join(pairs)
        case Structure():
            head = bytes((0xB0 + len(value.fields), value.tag))
            return head + b"".join(map(packed, value.fields))
    raise TypeError(f"no PackStream for {type(value).__name__}")


def _header(small: int, large: int, size: int) -> bytes:
    return bytes((small + size,)) if size < 16 else struct.pack(">BI", large, size)
