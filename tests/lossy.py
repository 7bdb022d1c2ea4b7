"""A proxy for Bolt on the loopback address that loses one answer of the server.

In: the address of a server, and which message loses its answer. Out: an address to connect to.
Touches: sockets. The server has carried out the message by then: the proxy waits for its answer,
keeps it back, and cuts the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

RUN, BEGIN, COMMIT = 0x10, 0x11, 0x12
SUMMARIES = (0x70, 0x7E, 0x7F)  # success, ignored, failure
MANIFEST = b"\x00\x00\x01\xff"  # the client may choose from a list of versions

#: Tells whether a message of the client, from its tag on, is the one whose answer is lost.
Chosen = Callable[[bytes], bool]


def answer_to(query: str) -> Chosen:
    """Choose a query by its name, or else the commit of the transaction that begins with it."""
    begun = False

    def chosen(message: bytes) -> bool:
        nonlocal begun
        if message[0] == BEGIN:
            begun = query.encode() in message
        return (message[0] == RUN and query.encode() in message) or (message[0] == COMMIT and begun)

    return chosen


class LossyProxy:
    """Hands on what both sides say, but for the answers that are to be lost.

    Attributes
    ----------
    lost
        How many answers were lost.
    """

    def __init__(self, target: str) -> None:
        parts = urlsplit(target)
        self._host, self._port = parts.hostname or "", parts.port or 0
        self._scheme = parts.scheme
        self._chosen: Chosen | None = None
        self.lost = 0
        self.uri = ""

    def lose(self, chosen: Chosen) -> None:
        """Lose the answer to the next message that is chosen, once."""
        self._chosen = chosen

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[LossyProxy]:
        """Listen while the context is open."""
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.uri = f"{self._scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server:
            yield self

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers = [writer]
        try:
            there, back = await asyncio.open_connection(self._host, self._port)
            writers.append(back)
            await _shake_hands(reader, writer, there, back)
            await _Line(self, reader, writer, there, back).run()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # one of the two has gone
        finally:
            for each in writers:
                each.transport.abort()

    def takes(self, message: bytes) -> bool:
        """Tell whether the answer to this message is to be lost; of two such, the first."""
        if self._chosen is None or not message or not self._chosen(message):
            return False
        self._chosen = None
        return True


class _Line:
    """One connection after the handshake: messages are counted, so that each finds its answer."""

    def __init__(
        self,
        proxy: LossyProxy,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        there: asyncio.StreamReader,
        back: asyncio.StreamWriter,
    ) -> None:
        self._proxy = proxy
        self._client, self._server = (reader, writer), (there, back)
        self._sent = self._answered = 0
        self._first_lost: int | None = None
        self._last_lost = 0

    async def run(self) -> None:
        """Hand messages on until one side goes, or an answer is lost."""
        tasks = [asyncio.create_task(self._requests()), asyncio.create_task(self._answers())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _requests(self) -> None:
        while True:
            raw, message = await _message(self._client[0])
            if message:
                # Of a query on its own the server commits when it has sent the last record, so
                # the answer to the message after it is waited for, too.
                if self._proxy.takes(message):
                    self._first_lost = self._sent
                    self._last_lost = self._sent + (message[0] == RUN)
                self._sent += 1
            self._server[1].write(raw)
            await self._server[1].drain()

    async def _answers(self) -> None:
        while True:
            raw, message = await _message(self._server[0])
            if self._first_lost is None or self._answered < self._first_lost:
                self._client[1].write(raw)
                await self._client[1].drain()
            if message and message[0] in SUMMARIES:
                self._answered += 1
                if self._first_lost is not None and self._answered > self._last_lost:
                    self._proxy.lost += 1
                    return


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Read a message: as it came, and from its tag on; empty for a sign of life."""
    raw = body = b""
    while True:
        head = await reader.readexactly(2)
        raw += head
        size = int.from_bytes(head)
        if size == 0:
            return raw, body[1:]
        chunk = await reader.readexactly(size)
        raw, body = raw + chunk, body + chunk


async def _shake_hands(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    there: asyncio.StreamReader,
    back: asyncio.StreamWriter,
) -> None:
    """Hand on what comes before the first message."""
    back.write(await reader.readexactly(20))
    answer = await there.readexactly(4)
    writer.write(answer)
    if answer != MANIFEST:
        return
    count = await _number(there)
    writer.write(count[0] + await there.readexactly(4 * count[1]))
    writer.write((await _number(there))[0])
    back.write(await reader.readexactly(4))
    back.write((await _number(reader))[0])


async def _number(reader: asyncio.StreamReader) -> tuple[bytes, int]:
    """Read a number of variable length: as it came, and its value."""
    raw, value = b"", 0
    while not raw or raw[-1] & 0x80:
        raw += await reader.readexactly(1)
        value |= (raw[-1] & 0x7F) << (7 * (len(raw) - 1))
    return raw, value
