"""Clients that overload the HTTP servers: with connections, time, sessions or bodies.

In: a server. Out: rows of the table. Starts `memoria mcp --transport http` and `memoria view`, each
with 256 descriptors, the limit on some systems; loopback only, limited in number and time.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import resource
import sys
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psutil

from benchmarks.environment import ROOT
from benchmarks.faults.table import Family, Row, Setting
from memoria.serve.view.guard import TOKEN_HEADER
from memoria.serve.web import MOST_BODY, Bounds
from memoria.store import Target

_DESCRIPTORS = 256
_BUSY, _TOO_LARGE, _NOT_READ, _DONE = 503, 413, 400, 200
_IDLE, _SLOW, _SESSIONS = 10_000, 300, 2_000
_QUICK_IDLE, _QUICK_SESSIONS = 1_500, 100
_BODY = 200_000_000
# Allowed growth of a server's memory after a flood, because Python keeps some; bytes.
_MOST_GROWTH = 24_000_000
# Time for the server to recover, longer than a slow request may take; seconds.
_SETTLED_S = 15.0
_MCP_HEADERS = {"accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server.

    Attributes
    ----------
    address
        Host and port.
    asked
        A request that it answers with 200: method, path, headers and JSON body.
    posted
        Paths that accept a body -> the required headers.
    pid
        Its process.
    """

    address: tuple[str, int]
    asked: tuple[str, str, Mapping[str, str], Any]
    posted: Mapping[str, Mapping[str, str]]
    pid: int

    def url(self, path: str) -> str:
        """Return the address of a path."""
        return "http://{}:{}".format(*self.address) + path

    async def answers(self) -> str | None:
        """Send a request, retrying while the server is busy; return an error in words, or None."""
        method, path, headers, body = self.asked
        until = time.monotonic() + _SETTLED_S
        async with httpx2.AsyncClient(headers=dict(headers), timeout=_SETTLED_S) as http:
            while True:
                try:
                    answer = await http.request(method, self.url(path), json=body)
                    wrong = None if answer.status_code == _DONE else f"{answer.status_code}"
                    if answer.status_code not in (_DONE, _BUSY):
                        return f"a call was answered {wrong}: {answer.text[:100]}"
                except httpx2.HTTPError as exc:
                    wrong = f"{type(exc).__name__}: {exc}"
                if wrong is None or time.monotonic() > until:
                    return wrong and f"a call was not answered: {wrong}"
                await asyncio.sleep(0.1)

    def held(self) -> tuple[int, int]:
        """Return the server's memory in bytes and its number of descriptors."""
        process = psutil.Process(self.pid)
        return process.memory_info().rss, process.num_fds()

    async def is_as(self, before: tuple[int, int]) -> str | None:
        """Wait until the server uses no more than before; return the excess in words, or None."""
        until = time.monotonic() + _SETTLED_S
        while True:
            memory, descriptors = (
                now - then for now, then in zip(self.held(), before, strict=True)
            )
            if descriptors <= 0 and memory <= _MOST_GROWTH:
                return None
            if time.monotonic() > until:
                return f"{memory / 1e6:.0f} MB and {descriptors} descriptors more than before"
            await asyncio.sleep(0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """Both servers, and whether the run is short."""

    servers: tuple[Served, Served]
    quick: bool


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Opened]:
    """Start both servers, and send each a request, so that everything is loaded."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        mcp = await stack.enter_async_context(served_mcp(setting.target, folder))
        page = await stack.enter_async_context(served_page(setting.target, folder))
        for each in (mcp, page):
            if wrong := await each.answers():
                raise RuntimeError(wrong)
        yield Opened(servers=(mcp, page), quick=setting.quick)


@asynccontextmanager
async def served_mcp(target: Target, folder: Path) -> AsyncIterator[Served]:
    """Start an MCP server over HTTP without tokens, which any program on the machine can reach."""
    words = ("mcp", "--transport", "http", "--port", "0")
    async with _started(target, folder, *words) as (process, line):
        found = re.search(r"listening on (http://\S+)/mcp", line)
        assert found is not None, line
        call = {"name": "memory_status", "arguments": {}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        json_type = {"content-type": "application/json", **_MCP_HEADERS}
        yield Served(
            address=_address(found[1]),
            asked=("POST", "/mcp", _MCP_HEADERS, asked),
            posted={"/mcp": json_type, "/hook": json_type},
            pid=process.pid,
        )


@asynccontextmanager
async def served_page(target: Target, folder: Path) -> AsyncIterator[Served]:
    """Start the server of the page."""
    async with _started(target, folder, "view", "--no-browser") as (process, line):
        found = re.search(r"(http://\S+)/#token=(\S+)", line)
        assert found is not None, line
        headers = {TOKEN_HEADER: found[2]}
        yield Served(
            address=_address(found[1]),
            asked=("GET", "/api/about", headers, None),
            posted={"/api/recall": headers, "/api/replay/nothing": headers},
            pid=process.pid,
        )


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return str(parts.hostname), int(parts.port or 0)


@asynccontextmanager
async def _started(target: Target, folder: Path, *words: str) -> AsyncIterator[tuple[Process, str]]:
    """Start a command with few descriptors; yield its process and first line of output."""
    assert isinstance(target.auth, tuple)
    user, password = target.auth
    environment = {
        "MEMORIA_HOME": str(folder),
        "NEO4J_URI": target.uri,
        "NEO4J_USERNAME": user,
        "NEO4J_PASSWORD": password,
    }
    with (folder / f"{words[0]}.log").open("w+", encoding="utf-8") as log:
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", f'ulimit -Sn {_DESCRIPTORS}; exec "$@"', "sh"),
            *(sys.executable, "-m", "memoria", *words, "--embedder", "none"),
            cwd=ROOT,
            env=os.environ | environment,
            stdout=log,
            stderr=log,
        )
        try:
            while not (line := _first_line(Path(log.name))):
                if process.returncode is not None:
                    raise RuntimeError(f"memoria {words[0]} ended with {process.returncode}")
                await asyncio.sleep(0.05)
            yield process, line
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _first_line(file: Path) -> str:
    first, end, _ = file.read_text("utf-8").partition("\n")
    return first if end else ""


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
        async with httpx2.AsyncClient(headers=_MCP_HEADERS, timeout=_SETTLED_S) as http:
            for _ in ahead:
                answer = await http.post(served.url("/mcp"), json=greeting)
                if answer.status_code not in (_DONE, _BUSY):
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
    async with httpx2.AsyncClient(timeout=_SETTLED_S) as http:
        try:
            answer = await http.post(served.url(path), content=body(), headers=headers)
            if answer.status_code not in (_TOO_LARGE, _NOT_READ):
                wrong = f"a body of {size:,} bytes was answered {answer.status_code}"
        except httpx2.HTTPError:
            pass  # the server closed the connection while this side was still sending
    if most > 4 * MOST_BODY + _MOST_GROWTH:
        wrong = f"a body of {size:,} bytes took {most / 1e6:.0f} MB"
    return wrong or await served.answers() or await served.is_as(before)


async def _idle(opened: Opened, _: random.Random, number: int) -> str | None:
    return await idle(opened.servers[number % 2], _QUICK_IDLE if opened.quick else _IDLE)


async def _slow(opened: Opened, _: random.Random, number: int) -> str | None:
    return await slow(opened.servers[number % 2], _SLOW, Bounds().request_s + _SETTLED_S)


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
            fault=f"{_IDLE:,} connections to the MCP server or the page that send nothing "
            f"({_QUICK_IDLE:,} in a quick run)",
            expected="calls are answered meanwhile; then memory and descriptors are as before",
            quick=2,
            full=6,
            least=2,
            attempt=_idle,
        ),
        Row(
            key="slow-clients",
            fault=f"{_SLOW} clients send a header or a body byte by byte",
            expected="calls are answered meanwhile; all are cut off; all is as before",
            quick=0,
            full=6,
            attempt=_slow,
        ),
        Row(
            key="sessions",
            fault=f"{_SESSIONS:,} MCP clients greet the server and go ({_QUICK_SESSIONS} in a "
            "quick run)",
            expected="calls are answered; memory and descriptors are as before",
            quick=1,
            full=3,
            attempt=_sessions,
        ),
        Row(
            key="large-bodies",
            fault=f"a body of {_BODY // 10**6} MB, with its length and without",
            expected="refused; the server keeps none of it",
            quick=4,
            full=16,
            attempt=_large,
        ),
    ),
)
