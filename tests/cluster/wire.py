"""Bolt on a socket: the handshake, and messages in chunks.

In and out: asyncio streams. Messages are bytes; `packstream` reads them.
"""

from __future__ import annotations

import asyncio
import struct
from enum import IntEnum

MAGIC = bytes.fromhex("6060b017")
VERSION = (5, 8)  # the newest one that Neo4j 5.26 and 2026 both speak
MAX_CHUNK = 0xFFFF


class Tag(IntEnum):
    """Second byte of a message: its type."""

    HELLO = 0x01
    GOODBYE = 0x02
    RESET = 0x0F
    RUN = 0x10
    BEGIN = 0x11
    COMMIT = 0x12
    ROLLBACK = 0x13
    DISCARD = 0x2F
    PULL = 0x3F
    ROUTE = 0x66
    SUCCESS = 0x70
    RECORD = 0x71
    IGNORED = 0x7E
    FAILURE = 0x7F


def tag_of(message: bytes) -> int:
    """Return the type of a message."""
    return message[1]


async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Shake hands with a client, for `VERSION`.

    Raises
    ------
    ConnectionError
        The client does not speak Bolt, or not this version.
    """
    offered = await reader.readexactly(20)
    if offered[:4] != MAGIC or not any(_offers(offered[at : at + 4]) for at in range(4, 20, 4)):
        raise ConnectionError(f"the client offers no Bolt {VERSION}: {offered.hex()}")
    writer.write(bytes((0, 0, VERSION[1], VERSION[0])))
    await writer.drain()


def _offers(proposal: bytes) -> bool:
    """Tell whether a proposal, a version and as many before it, holds `VERSION`."""
    _, before, minor, major = proposal
    return major == VERSION[0] and minor - before <= VERSION[1] <= minor


async def dial(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to a server, and shake hands for `VERSION`.

    Raises
    ------
    ConnectionError
        The server does not speak this version.
    """
    reader, writer = await asyncio.open_connection(host, port)
    proposal = bytes((0, 0, VERSION[1], VERSION[0]))
    writer.write(MAGIC + proposal + bytes(12))
    await writer.drain()
    if await reader.readexactly(4) != proposal:
        raise ConnectionError(f"the server does not speak Bolt {VERSION}")
    return reader, writer


async def receive(reader: asyncio.StreamReader) -> bytes:
    """Read one message; empty chunks between messages only keep a connection alive.

    Raises
    ------
    asyncio.IncompleteReadError
        The connection was closed.
    """
    message = b""
    while True:
        (size,) = struct.unpack(">H", await reader.readexactly(2))
        if size:
            message += await reader.readexactly(size)
        elif message:
            return message


def send(writer: asyncio.StreamWriter, message: bytes) -> None:
    """Write one message, without waiting for it to leave."""
    for at in range(0, len(message), MAX_CHUNK):
        chunk = message[at : at + MAX_CHUNK]
        writer.write(struct.pack(">H", len(chunk)) + chunk)
    writer.write(b"\0\0")
