"""Floods against the HTTP servers, which must survive them even without a database."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from pathlib import Path

import httpx2
import psutil
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from benchmarks.faults.floods import idle, large, sessions
from benchmarks.faults.servers import Served, served_api, served_mcp, served_page
from memoria._support import web
from memoria._support.web import BoundedServer, Bounds, bounded
from memoria.agents.mcp.transports import listening
from memoria.store import Target

Serving = Callable[[Target, Path], AbstractAsyncContextManager[Served]]

NOBODY = Target(uri="bolt://127.0.0.1:1", auth=("neo4j", "none"))
SHORT = Bounds(connections=6, waiting=3, request_s=0.5)


def announcements(home: Path) -> list[Path]:
    """The files that say where servers listen."""
    return list(home.glob("serving/*.json"))


async def test_a_database_that_never_closes_does_not_keep_a_server_from_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web, "_CLOSED_S", 0.1)
    async with AsyncExitStack() as opened:
        closed: list[str] = []
        opened.callback(closed.append, "opened first")
        opened.push_async_callback(asyncio.Event().wait)
        server = BoundedServer(bounded(Starlette(), port=0), opened)
        task = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        server.should_exit = True
        async with asyncio.timeout(60):
            await task
        assert closed == ["opened first"]


@pytest.mark.parametrize("server", [served_mcp, served_api, served_page])
async def test_a_server_survives_floods_and_keeps_nothing_of_them(
    server: Serving, tmp_path: Path
) -> None:
    async with server(NOBODY, tmp_path) as served:
        assert await served.answers() is None
        assert await idle(served, 600) is None, "more connections than it has descriptors"
        for path in served.posted:
            for with_length in (True, False):
                assert await large(served, path, 60_000_000, with_length=with_length) is None
        if server is served_mcp:
            assert await sessions(served, 200) is None
            # The server never sends on such a stream.
            async with httpx2.AsyncClient(timeout=60) as http:
                answer = await http.get(served.url("/mcp"), headers={"accept": "text/event-stream"})
            assert answer.status_code == 405
        if server is not served_page:
            assert announcements(tmp_path)
            psutil.Process(served.pid).terminate()
            async with asyncio.timeout(60):
                while psutil.pid_exists(served.pid):  # noqa: ASYNC110 - not of this loop
                    await asyncio.sleep(0.05)
            assert not announcements(tmp_path), "a server that is told to end leaves no file"


# --- the limits, in this process ------------------------------------------------------------------


@asynccontextmanager
async def bounded_server(bounds: Bounds) -> AsyncIterator[tuple[str, int]]:
    """A server that answers ``/slow`` after three seconds, and ``/long`` with many bytes."""

    async def quick(request: Request) -> Response:
        return PlainTextResponse(f"{len(await request.body())}")

    async def slow(_: Request) -> Response:
        await asyncio.sleep(3)
        return PlainTextResponse("done")

    async def long(_: Request) -> Response:
        return Response(bytes(50_000_000))

    routes = [
        Route("/", quick, methods=["GET", "POST"]),
        Route("/slow", slow),
        Route("/long", long),
    ]
    server = uvicorn.Server(bounded(Starlette(routes=routes), bounds, host="127.0.0.1", port=0))
    task = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()
    finally:
        server.should_exit = True
        await task


async def answer_to(address: tuple[str, int], *pieces: bytes, pause_s: float = 0.0) -> bytes:
    """Return the response to these pieces of a request, until the server closes the connection."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        for piece in pieces:
            writer.write(piece)
            await asyncio.sleep(pause_s)
        async with asyncio.timeout(20):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()


HEAD = b"POST / HTTP/1.1\r\nhost: a\r\n"


@pytest.mark.parametrize(
    "pieces",
    [
        (b"",),
        (b"POST / HT", b"TP/1.1\r\n", *[b"x: y\r\n"] * 8),
        (HEAD + b"content-length: 99\r\n\r\n", *[b"x"] * 8),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n"] * 8),
        (HEAD + b"content-length: 2\r\n\r\nok", *[b"P"] * 8),  # after an answer
    ],
    ids=["nothing", "head", "body", "chunks", "second"],
)
async def test_a_request_that_is_never_whole_is_cut_off(pieces: tuple[bytes, ...]) -> None:
    async with bounded_server(SHORT) as address:
        loop = asyncio.get_running_loop()
        began = loop.time()
        answer = await answer_to(address, *pieces, pause_s=0.2)
        assert loop.time() - began < 5
    assert answer[:12] in (b"", b"HTTP/1.1 200")


async def test_an_answer_is_sent_at_once_whoever_made_the_socket() -> None:
    delays: list[bool] = []

    async def delay(_: Request) -> Response:
        delays.extend(
            not each.transport.get_extra_info("socket").getsockopt(
                socket.IPPROTO_TCP, socket.TCP_NODELAY
            )
            for each in server.server_state.connections
        )
        return PlainTextResponse("done")

    server = uvicorn.Server(bounded(Starlette(routes=[Route("/", delay)])))
    (listens,) = listening(port=0)
    task = asyncio.create_task(server.serve([listens]))
    async with httpx2.AsyncClient(timeout=60) as http:
        await http.get("http://127.0.0.1:{1}/".format(*listens.getsockname()))
    server.should_exit = True
    await task
    assert delays == [False]


async def test_a_whole_request_has_as_long_as_its_answer_takes() -> None:
    async with bounded_server(SHORT) as address:
        answer = await answer_to(
            address, b"GET /slow HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
        )
    assert answer.endswith(b"done")


async def test_a_client_that_does_not_read_its_answer_is_cut_off() -> None:
    async with bounded_server(SHORT) as address:
        reader, writer = await asyncio.open_connection(*address, limit=1_000)
        writer.write(b"GET /long HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
        await asyncio.sleep(2)
        received = 0
        with suppress(ConnectionError):
            while piece := await reader.read(1_000_000):
                received += len(piece)
        assert received < 50_000_000
        writer.transport.abort()


async def test_the_oldest_idle_connection_gives_way_and_a_busy_server_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING, logger="memoria"):
        async with bounded_server(Bounds(connections=60, waiting=40, request_s=20)) as address:
            idle_ones = [await asyncio.open_connection(*address) for _ in range(42)]
            assert [await idle_ones[place][0].read() for place in (0, 1)] == [b"", b""]
            url = "http://{}:{}".format(*address)
            async with httpx2.AsyncClient(timeout=60) as http:
                asked = [asyncio.create_task(http.get(f"{url}/slow")) for _ in range(70)]
                codes = [answer.status_code for answer in await asyncio.gather(*asked)]
                assert {*codes} == {200, 503}
                assert (await http.get(url)).status_code == 200
            for _, writer in idle_ones:
                writer.transport.abort()
    assert "the oldest is closed" in caplog.text


async def test_many_clients_that_come_at_once_are_all_answered_even_by_a_busy_loop() -> None:
    app = Starlette(routes=[Route("/", lambda _: PlainTextResponse("done"))])
    server = BoundedServer(bounded(app), AsyncExitStack())
    (listens,) = listening(port=0)
    task = asyncio.create_task(server.serve([listens]))
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    address = listens.getsockname()
    # The loop does nothing meanwhile. A connection for which the queue has no room would be tried
    # again by the kernel after a second.
    clients = [socket.create_connection(address, timeout=0.9) for _ in range(200)]
    for each in clients:
        each.sendall(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
    answers = [asyncio.to_thread(_read_all, each) for each in clients]
    codes = Counter(await asyncio.gather(*answers))
    server.should_exit = True
    await task
    assert {*codes} <= {b"HTTP/1.1 200", b"HTTP/1.1 503"}, codes
    assert codes[b"HTTP/1.1 200"] > 50


def _read_all(client: socket.socket) -> bytes:
    """Return the status line of an answer that is read to its end; b"" of a reset connection."""
    client.settimeout(20)
    with client, suppress(ConnectionError):
        return b"".join(iter(lambda: client.recv(10_000), b""))[:12]
    return b""
