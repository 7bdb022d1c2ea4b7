"""Messages that a Bolt server must not send: well-formed frames with a wrong content.

In: a generator of random numbers. Out: bytes. Touches nothing.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping

_RECORD, _SUCCESS, _IGNORED, _FAILURE = b"\x71", b"\x70", b"\x7e", b"\x7f"
_NULL, _EMPTY_MAP, _EMPTY_LIST = b"\xc0", b"\xa0", b"\x90"
# One chunk holds at most this many bytes.
_CHUNK = 0xFFFF
_LONGEST_GARBAGE = 64


def _text(value: str) -> bytes:
    encoded = value.encode()
    return b"\xd0" + bytes([len(encoded)]) + encoded


def _map(**entries: bytes) -> bytes:
    parts = b"".join(_text(key) + value for key, value in entries.items())
    return bytes([0xA0 + len(entries)]) + parts


def _message(tag: bytes, *fields: bytes) -> bytes:
    return bytes([0xB0 + len(fields)]) + tag + b"".join(fields)


#: Name -> a message, without its frame, that no server sends as the answer to a query.
WRONG_MESSAGES: Mapping[str, bytes] = {
    "success": _message(_SUCCESS, _EMPTY_MAP),
    "success with a list": _message(_SUCCESS, _EMPTY_LIST),
    "success with null": _message(_SUCCESS, _NULL),
    "success without fields": _message(_SUCCESS),
    "success with a number": _message(_SUCCESS, b"\x05"),
    "success, columns a number": _message(_SUCCESS, _map(fields=b"\x05")),
    "success, other columns": _message(_SUCCESS, _map(fields=b"\x91" + _text("x"))),
    "success, more to come": _message(_SUCCESS, _map(has_more=b"\xc3")),
    "success, bookmark a number": _message(_SUCCESS, _map(bookmark=b"\x05")),
    "ignored": _message(_IGNORED, _EMPTY_MAP),
    "ignored without fields": _message(_IGNORED),
    "failure": _message(_FAILURE, _EMPTY_MAP),
    "failure with a list": _message(_FAILURE, _EMPTY_LIST),
    "failure without fields": _message(_FAILURE),
    "failure, code a number": _message(_FAILURE, _map(code=b"\x05", message=_EMPTY_LIST)),
    "failure, code unknown": _message(_FAILURE, _map(code=_text("Neo.X.Y.Z"), message=_text(""))),
    "failure, out of step": _message(
        _FAILURE, _map(code=_text("Neo.ClientError.Request.Invalid"), message=_text(""))
    ),
    "record without values": _message(_RECORD, _EMPTY_LIST),
    "record of null": _message(_RECORD, _NULL),
    "record without fields": _message(_RECORD),
    "record of a map": _message(_RECORD, _EMPTY_MAP),
    "record of a number": _message(_RECORD, b"\x91\x05"),
    "record of nothing": _message(_RECORD, b"\x91" + _NULL),
    "record of a list with a number": _message(_RECORD, b"\x91\x91\x05"),
    "unknown message": _message(b"\x13", _EMPTY_MAP),
    "number for a message": b"\x05",
    "unknown marker": b"\xc7",
    "text that ends early": _message(_SUCCESS, b"\xd0\x40ab"),
    "map that ends early": _message(_SUCCESS, b"\xda\x00\x00\x10\x00"),
    "text that is not UTF-8": _message(_SUCCESS, b"\xa1\x82\xff\xfe\x05"),
    "structure of an unknown kind": _message(_SUCCESS, b"\xa1\x81x\xb1\x01\x05"),
    "date that does not exist": _message(_SUCCESS, b"\xa1\x81x\xb1\x44\xcb" + b"\x7f" * 8),
    "deep nesting": _message(_SUCCESS, b"\x91" * 5_000 + _NULL),
}


def frame(message: bytes) -> bytes:
    r"""Put a message into chunks.

    >>> frame(b"\x05")
    b'\x00\x01\x05\x00\x00'
    """
    pieces = [message[start : start + _CHUNK] for start in range(0, len(message), _CHUNK)]
    return b"".join(struct.pack(">H", len(piece)) + piece for piece in pieces) + b"\x00\x00"


def garbage(rng: random.Random) -> bytes:
    """Return bytes that are no frame but by accident."""
    return rng.randbytes(rng.randint(1, _LONGEST_GARBAGE))
