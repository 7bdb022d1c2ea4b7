"""A proxy on the loopback that reads Bolt, and breaks a connection at the message it is told to.

In: the address of a server, and a `Fault`. Out: another address. Runs in a thread of its own, so
that it goes on while the loop of the client is blocked.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, Self
from urllib.parse import urlsplit

from memoria.store import Target

Kind = Literal[
    "reset", "half_close", "black_hole", "cut", "garbage_bytes", "wrong_message", "lost_request"
]
KINDS: tuple[Kind, ...] = (
    *("reset", "half_close", "black_hole", "cut"),
    *("garbage_bytes", "wrong_message", "lost_request"),
)

_MANIFEST = b"\x00\x00\x01\xff"  # the server offers a list of versions, and the client chooses
_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is done to a connection.

    Attributes
    ----------
    kind
        ``reset``: both ends are reset. ``half_close``: the client reads an end of file, and may
        still write. ``black_hole``: nothing is passed on any more, in either direction. ``cut``:
        half of the message, then an end of file. ``garbage_bytes``, ``wrong_message``: ``content``
        in place of the message. ``lost_request``: the server never gets the message of the client,
        whose connection is reset.
    at
        Number of the message, over all connections since the proxy was armed; >= 0. Messages of the
        server count, except for ``lost_request``, which counts those of the client.
    content
        Bytes in place of the message; of a wrong message, with its frame.
    again
        Whether every later message is broken in the same way.
    """

    kind: Kind
    at: int
    content: bytes = b""
    again: bool = False


class FaultProxy:
    """Passes on what two sides say to each other, and breaks it when it is told to.

    Attributes
    ----------
    answers, requests
        Messages of the server and of the client since `arm`.
    fired
        How often the fault has been done since `arm`.
    delay_s
        Time for which each message is held back, in each direction; seconds.
    slice_bytes
        Greatest size of a piece that is written at once; 0 for no limit.
    slow_s
        Part of a client's message, such as the name of a query -> time for which such a message is
        held back, together with everything that its connection sends after it; seconds.
    """

    def __init__(self, target: Target) -> None:
        self.answers = 0
        self.requests = 0
        self.fired = 0
        self.delay_s = 0.0
        self.slice_bytes = 0
        self.slow_s: dict[str, float] = {}
        self._behind = target
        self._fault: Fault | None = None
        self._connections: set[_Connection] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="fault proxy", daemon=True)
        self._listening = socket.create_server(("127.0.0.1", 0))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._listening.close()

    @property
    def target(self) -> Target:
        """The server behind the proxy, at the address of the proxy."""
        port = self._listening.getsockname()[1]
        return replace(self._behind, uri=f"bolt://127.0.0.1:{port}")

    @property
    def open_connections(self) -> int:
        """How many connections of clients are open."""
        return len(self._connections)

    def arm(self, fault: Fault | None) -> None:
        """Count from 0 again, and do the fault when its message comes; None only counts."""
        self._fault = None
        self.answers = self.requests = self.fired = 0
        self._fault = fault

    def due(self, side: Literal["answer", "request"]) -> Fault | None:
        """Count a message; return the fault if it is the one to break."""
        if side == "answer":
            number, self.answers = self.answers, self.answers + 1
        else:
            number, self.requests = self.requests, self.requests + 1
        fault = self._fault
        if fault is None or (fault.kind == "lost_request") != (side == "request"):
            return None
        if number != fault.at and not (fault.again and number > fault.at):
            return None
        self.fired += 1
        return fault

    def held_s(self, message: bytes) -> float:
        """Return the time for which a client's message is held back; seconds."""
        return sum(s for part, s in self.slow_s.items() if part.encode() in message)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._accept, sock=self._listening, limit=_LIMIT)
        )
        try:
            self._loop.run_forever()
        finally:
            server.close()
            # A task that is cancelled before it has begun would leave its connection open.
            self._loop.run_until_complete(asyncio.sleep(0))
            for task in (tasks := asyncio.all_tasks(self._loop)):
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.run_until_complete(asyncio.sleep(self.delay_s))  # until writers are closed
            self._loop.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(self, reader, writer)
        self._connections.add(connection)
        try:
            with suppress(asyncio.CancelledError):  # the proxy ends, and with it this task
                await connection.run(urlsplit(self._behind.uri))
        finally:
            self._connections.discard(connection)


class _Connection:
    """One connection of a client, and the one to the server behind it."""

    def __init__(
        self, proxy: FaultProxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._proxy = proxy
        self._client = reader
        self._to_client = writer
        self._swallow = False

    async def run(self, behind: object) -> None:
        """Pass on in both directions until one of them ends."""
        host, port = behind.hostname, behind.port  # type: ignore[attr-defined]
        writers, pumps = [self._to_client], []
        try:
            server, to_server = await asyncio.open_connection(host, port, limit=_LIMIT)
            writers.append(to_server)
            pumps.append(asyncio.create_task(self._requests(to_server)))
            pumps.append(asyncio.create_task(self._answers(server, to_server)))
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        except OSError:
            _abort(self._to_client)
        finally:
            # First, as this task may be cancelled while it waits for the others.
            for writer in writers:
                asyncio.get_running_loop().call_later(self._proxy.delay_s, writer.close)
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _requests(self, to_server: asyncio.StreamWriter) -> None:
        """Pass on what the client sends; its handshake counts as one message."""
        with suppress(asyncio.IncompleteReadError, OSError):
            await self._write(to_server, await self._client.readexactly(20))
            first = await self._client.readexactly(2)
            if first[0] == 0 and first[1] == 0:  # it chooses a version of the manifest
                first += await self._client.readexactly(2)
                first += await _varint(self._client)
                await self._write(to_server, first)
                first = b""
            while True:
                message = first + await _message(self._client, first)
                first = b""
                if self._proxy.due("request") is not None:
                    _abort(self._to_client)
                    _abort(to_server)
                    return
                await asyncio.sleep(self._proxy.held_s(message))
                await self._write(to_server, message)

    async def _answers(self, server: asyncio.StreamReader, to_server: asyncio.StreamWriter) -> None:
        """Pass on what the server sends; its handshake is not counted."""
        with suppress(asyncio.IncompleteReadError, OSError):
            version = await server.readexactly(4)
            if version == _MANIFEST:
                count = await _varint(server)
                version += count + await server.readexactly(4 * count[0]) + await _varint(server)
            await self._write(self._to_client, version)
            while True:
                message = await _message(server, b"")
                fault = self._proxy.due("answer")
                if fault is None:
                    await self._write(self._to_client, message)
                elif not await self._break(fault, message, to_server):
                    return

    async def _break(self, fault: Fault, message: bytes, to_server: asyncio.StreamWriter) -> bool:
        """Do a fault in place of a message; return whether the connection goes on."""
        match fault.kind:
            case "reset":
                _abort(self._to_client)
                _abort(to_server)
                return False
            case "half_close":
                self._to_client.write_eof()
                self._swallow = True
            case "black_hole":
                self._swallow = True
            case "cut":
                self._to_client.write(message[: len(message) // 2])
                await self._to_client.drain()
                self._to_client.write_eof()
                self._swallow = True
            case _:
                await self._write(self._to_client, fault.content)
        return True

    async def _write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        if self._swallow:
            return
        if delay_s := self._proxy.delay_s:  # several pieces may be on their way
            asyncio.get_running_loop().call_later(delay_s, writer.write, data)
            return
        size = self._proxy.slice_bytes or len(data)
        for start in range(0, len(data), size):
            writer.write(data[start : start + size])
            await writer.drain()


async def _message(reader: asyncio.StreamReader, begun: bytes) -> bytes:
    """Read one framed message, with the empty chunks before it that keep a connection alive.

    ``begun`` is what has been read of its first size; it is not returned again.
    """
    found = b""
    inside = False
    size_bytes = begun
    while True:
        rest = await reader.readexactly(2 - len(size_bytes))
        found += rest
        (size,) = struct.unpack(">H", size_bytes + rest)
        size_bytes = b""
        if size == 0 and inside:
            return found
        inside = inside or size > 0
        found += await reader.readexactly(size)


async def _varint(reader: asyncio.StreamReader) -> bytes:
    """Read a number whose bytes have their highest bit set, but for the last one."""
    found = await reader.readexactly(1)
    while found[-1] & 0x80:
        found += await reader.readexactly(1)
    return found


def _abort(writer: asyncio.StreamWriter) -> None:
    """Reset a connection: nothing that is still to be sent is sent."""
    raw = writer.get_extra_info("socket")
    if raw is not None:
        with suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
