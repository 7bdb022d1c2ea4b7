"""Clients that overload the HTTP servers: with connections, time, sessions or bodies.

In: a server. Out: rows of the table. Starts servers of memoria; loopback only, limited in number
and time.
"""

from __future__ import annotations

import asyncio
import random
import resource
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass

import httpx2

from benchmarks.faults.servers import (
    BUSY,
    DONE,
    LOADED_S,
    MCP_HEADERS,
    MOST_GROWTH,
    SETTLED_S,
    Served,
    shared_servers,
)
from benchmarks.faults.table import Family, Row, Setting
from memoria._support.web import MOST_BODY, Bounds

_TOO_LARGE, _NOT_READ = 413, 400
_IDLE, _SLOW, _SESSIONS = 10_000, 300, 2_000
_QUICK_IDLE, _QUICK_SESSIONS = 1_500, 100
_BODY = 200_000_000
# So many requests one after another must leave a server as it was before it is flooded.
_ALIKE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """The servers of MCP, of the HTTP API and of the page, and whether the run is short."""

    servers: tuple[Served, Served, Served]
    quick: bool


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Opened]:
    """Start all servers at once, and wait until everything is loaded."""
    servers = await shared_servers(setting)
    await asyncio.gather(*map(_load, servers))
    yield Opened(servers=servers, quick=setting.quick)


async def _load(served: Served) -> None:
    """Send requests until the server opens nothing more, such as connections to the database."""
    alike = 0
    while alike < _ALIKE:
        before = served.held()[1]
        if wrong := await served.answers(LOADED_S):
            raise RuntimeError(wrong)
        await asyncio.sleep(0.2)
        alike = alike + 1 if served.held()[1] <= before else 0


@contextmanager
def descriptors(number: int) -> Iterator[None]:
    """Temporarily raise this process's limit of descriptors by ``number``, as far as allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(soft, number + 1_000)
    most = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@asynccontextmanager
async def connections(served: Served, number: int) -> AsyncIterator[list[asyncio.StreamWriter]]:
    """Open ``number`` connections; those that the server closes stay open on this side."""
    writers: list[asyncio.StreamWriter] = []
    ahead = iter(range(number))

    async def connect() -> None:
        for _ in ahead:
            with suppress(OSError):
                writers.append((await asyncio.open_connection(*served.address))[1])

    with descriptors(number):
        try:
            await asyncio.gather(*(connect() for _ in range(64)))
            yield writers
        finally:
            for writer in writers:
                writer.transport.abort()
            await asyncio.sleep(0)  # lets them close before the limit is restored


async def idle(served: Served, number: int) -> str | None:
    """Open connections that send nothing; send a request in the meantime and afterwards."""
    before = served.held()
    async with connections(served, number) as writers:
        if len(writers) < number:
            return f"{number - len(writers)} of {number} connections were not accepted"
        wrong = await served.answers()
    return wrong or await served.answers() or await served.is_as(before)


async def slow(served: Served, number: int, limit_s: float) -> str | None:
    """Send requests byte by byte, half of them in the body; all must be cut off in time."""
    before = served.held()
    path, headers = next(iter(served.posted.items()))
    lines = [f"{name}: {value}" for name, value in headers.items()]
    host = "{}:{}".format(*served.address)
    head = "\r\n".join(
        [f"POST {path} HTTP/1.1", f"host: {host}", *lines, "content-length: 999", ""]
    )
    async with connections(served, number) as writers:
        for place, writer in enumerate(writers):
            writer.write(head.encode() + (b"\r\n" if place % 2 else b"x: "))
        until = time.monotonic() + limit_s
        wrong: str | None = None
        while writers and time.monotonic() < until and wrong is None:
            for writer in writers:
                writer.write(b"x")
            wrong = await served.answers()
            await asyncio.sleep(limit_s / 20)
            writers[:] = [each for each in writers if not each.transport.is_closing()]
        left = len(writers)
    if wrong is None and left:
        wrong = f"{left} of {number} slow clients were not cut off within {limit_s:g} s"
    return wrong or await served.answers() or await served.is_as(before)


async def sessions(served: Served, number: int) -> str | None:
    """Send the greetings of ``number`` clients and nothing more."""
    before = served.held()
    greeting = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "flood", "version": "1"},
        },
    }
    ahead = iter(range(number))
    wrong: list[str] = []

    async def greet() -> None:
        async with httpx2.AsyncClient(headers=MCP_HEADERS, timeout=SETTLED_S) as http:
            for _ in ahead:
                answer = await http.post(served.url("/mcp"), json=greeting)
                if answer.status_code not in (DONE, BUSY):
                    wrong.append(f"a greeting was answered {answer.status_code}")

    await asyncio.gather(*(greet() for _ in range(8)))
    return next(iter(wrong), None) or await served.answers() or await served.is_as(before)


async def large(served: Served, path: str, size: int, *, with_length: bool) -> str | None:
    """Send a far too large body; it must be refused, and not kept in memory."""
    before = served.held()
    most = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal most
        piece = b"[" * 1_000_000
        for _ in range(size // len(piece)):
            yield piece
            most = max(most, served.held()[0] - before[0])

    headers = dict(served.posted[path])
    if with_length:
        headers["content-length"] = str(size)
    wrong = None
    async with httpx2.AsyncClient(timeout=SETTLED_S) as http:
        try:
            answer = await http.post(served.url(path), content=body(), headers=headers)
            if answer.status_code not in (_TOO_LARGE, _NOT_READ):
                wrong = f"a body of {size:,} bytes was answered {answer.status_code}"
        except httpx2.HTTPError:
            pass  # the server closed the connection while this side was still sending
    if most > 4 * MOST_BODY + MOST_GROWTH:
        wrong = f"a body of {size:,} bytes took {most / 1e6:.0f} MB"
    return wrong or await served.answers() or await served.is_as(before)


async def _idle(opened: Opened, _: random.Random, number: int) -> str | None:
    return await idle(opened.servers[number % 3], _QUICK_IDLE if opened.quick else _IDLE)


async def _slow(opened: Opened, _: random.Random, number: int) -> str | None:
    return await slow(opened.servers[number % 3], _SLOW, Bounds().request_s + SETTLED_S)


async def _sessions(opened: Opened, _: random.Random, __: int) -> str | None:
    return await sessions(opened.servers[0], _QUICK_SESSIONS if opened.quick else _SESSIONS)


async def _large(opened: Opened, _: random.Random, number: int) -> str | None:
    places = [(each, path) for each in opened.servers for path in each.posted]
    served, path = places[number % len(places)]
    return await large(served, path, _BODY, with_length=number // len(places) % 2 == 0)


FAMILY = Family(
    name="floods",
    opened=opened,
    rows=(
        Row(
            key="idle-connections",
            fault=f"{_IDLE:,} idle connections to the server of MCP, of the HTTP API or of the "
            f"page ({_QUICK_IDLE:,} in a quick run)",
            expected="calls are answered during the flood; afterwards memory and descriptors are "
            "as before",
            quick=3,
            full=6,
            least=3,
            attempt=_idle,
        ),
        Row(
            key="slow-clients",
            fault=f"{_SLOW} clients send a header or a body byte by byte to one of these servers",
            expected="calls are answered; all slow clients are cut off; memory and descriptors "
            "are as before",
            quick=0,
            full=6,
            attempt=_slow,
        ),
        Row(
            key="sessions",
            fault=f"{_SESSIONS:,} MCP clients open a session and leave ({_QUICK_SESSIONS} in a "
            "quick run)",
            expected="calls are answered; memory and descriptors are as before",
            quick=1,
            full=3,
            attempt=_sessions,
        ),
        Row(
            key="large-bodies",
            fault=f"a body of {_BODY // 10**6} MB is sent to each server, with and without its "
            "length",
            expected="refused; the server keeps none of it",
            quick=6,
            full=24,
            attempt=_large,
        ),
    ),
)
