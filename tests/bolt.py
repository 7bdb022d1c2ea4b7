"""A Bolt server of a few lines, whose answers a test may replace.

It knows no query: each returns one record, the number 1 in the column ``x``. It runs in a thread of
its own, so that it answers while the loop of the driver stands still.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from benchmarks.faults.messages import frame
from memoria.store import Target
from memoria.store.queries import parse

#: What the server answers, whatever it is asked.
QUERY = parse(
    "// name: test.one\n// mode: read\n// params:\n// returns: x INTEGER\nRETURN 1 AS x", "test.one"
)

SUCCESS = b"\xb1\x70\xa0"
COLUMNS = b"\xb1\x70\xa1\x86fields\x91\x81x"
RECORD = b"\xb1\x71\x91\x01"
WHO_I_AM = b"\xb1\x70\xa2\x86server\x8cNeo4j/5.26.0\x8dconnection_id\x81a"
# First byte of a request -> the messages that answer it.
ANSWERS: Mapping[int, tuple[bytes, ...]] = {
    0x01: (WHO_I_AM,),  # HELLO
    0x10: (COLUMNS,),  # RUN
    0x3F: (RECORD, SUCCESS),  # PULL
    0x02: (),  # GOODBYE
}
VERSION = b"\x00\x00\x04\x05"


class BoltServer:
    """Answers every connection; the message with the number ``at`` is replaced, once.

    Messages of all connections are counted since `replace`.
    """

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._count = 0
        self._at, self._message = -1, b""
        self.connections = 0

    @property
    def target(self) -> Target:
        return Target(uri=f"bolt://127.0.0.1:{self._listening.getsockname()[1]}", auth=None)

    def replace(self, at: int, message: bytes) -> None:
        self._count, self._at, self._message = 0, at, message

    def serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self.connections += 1
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as reading, suppress(OSError, struct.error):
            reading.read(20)
            connection.sendall(VERSION)
            while True:
                for message in ANSWERS.get(_message(reading)[1], (SUCCESS,)):
                    number, self._count = self._count, self._count + 1
                    connection.sendall(frame(self._message if number == self._at else message))


def _message(reading: object) -> bytes:
    found = b""
    while True:
        (size,) = struct.unpack(">H", reading.read(2))  # type: ignore[attr-defined]
        if size == 0 and found:
            return found
        found += reading.read(size)  # type: ignore[attr-defined]


@contextmanager
def bolt_server() -> Iterator[BoltServer]:
    server = BoltServer()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()
