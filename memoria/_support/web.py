"""Limits of both HTTP servers: on connections, times and bodies.

In: an application. Out: settings of uvicorn. Touches nothing by itself.

uvicorn limits requests, but waits without limit for the first request of a connection, and for the
rest of a request that has begun. So each connection has a time limit for its next complete request,
and only some waiting connections are kept, so that idle ones don't use up all descriptors.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from operator import itemgetter
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from memoria._support.throttling import throttled_warning

log = logging.getLogger(__name__)

#: Most bytes of a request body; the MCP SDK has the same limit.
MOST_BODY = 4 * 1024 * 1024
# Number of connections that the loop accepts before it serves the first of them. Together with the
# connections being served, they must stay below 256 descriptors, the limit on some systems.
_ACCEPTED_AT_ONCE = 32
# Connections that wait in the kernel to be accepted; one too many tries again only after a second.
_QUEUED = 1024
# Time in which the requests of a burst of new connections arrive; seconds.
_BURST_S = 0.5
# Time for the last answers when the server shuts down; seconds.
_LAST_ANSWERS_S = 2
# Time to close connections to a database that may not answer any more; seconds.
_CLOSED_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Limits on the clients of a server.

    Attributes
    ----------
    connections
        Number of connections from which on new requests are answered with 503; >= 2.
    waiting
        Most connections that may wait for their next request, for half a second twice as many;
        beyond it, the one that has waited longest is closed. Below ``connections``, so that idle
        clients alone never make a server busy for long.
    request_s
        Time in which a request must arrive, and in which a client must read its answer; seconds,
        > 0.
    """

    connections: int = 100
    waiting: int = 50
    request_s: float = 10.0


def bounded(app: Starlette, bounds: Bounds | None = None, **settings: Any) -> uvicorn.Config:
    """Return the settings of a server; ``settings`` adds others, such as ``port``."""
    bounds = bounds or Bounds()
    app.add_middleware(_WithoutLargeBodies)
    http: Any = partial(_Bounded, bounds)  # typed as a class, called as a function
    return uvicorn.Config(
        app,
        http=http,
        ws="none",
        backlog=_ACCEPTED_AT_ONCE,
        timeout_graceful_shutdown=_LAST_ANSWERS_S,
        log_level="error",  # a flood would log a line per refusal
        access_log=False,
        **settings,
    )


class BoundedServer(uvicorn.Server):
    """A server on open sockets, with a queue that holds a burst of new connections.

    Parameters
    ----------
    opened
        Closed once the last answer is sent. uvicorn then raises the signal that ended it again, and
        SIGTERM leaves the process no time to close anything later.
    """

    def __init__(self, config: uvicorn.Config, opened: AsyncExitStack) -> None:
        super().__init__(config)
        self._opened = opened

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(_QUEUED)  # asyncio has made the queue as short as what it accepts at once

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSED_S):
                await self._opened.aclose()


async def _busy(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer that there are too many connections."""
    detail = "the server has too many connections: send the request again later"
    headers = {"retry-after": "1", "connection": "close"}
    refusal = _refusal(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers, retryable=True)
    await refusal(scope, receive, send)


class _WithoutLargeBodies:
    """Refuse a request whose body is too large, if possible before anything reads it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        too_large = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        length = Headers(scope=scope).get("content-length", "") if scope["type"] == "http" else ""
        size = int(length) if length.isdecimal() else 0
        read, started = 0, False

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > MOST_BODY:
                raise HTTPException(too_large)  # ends the call; its answer is not sent
            return message

        async def sent(message: Message) -> None:
            nonlocal started
            if read <= MOST_BODY:
                started = True
                await send(message)

        if size <= MOST_BODY:
            await self._app(scope, counted, sent)
        if max(size, read) > MOST_BODY and not started:
            detail = f"the body has more than {MOST_BODY // 1024**2} MiB"
            await _refusal(too_large, detail, {}, retryable=False)(scope, receive, send)


def _refusal(
    status: HTTPStatus, detail: str, headers: Mapping[str, str], *, retryable: bool
) -> JSONResponse:
    """Return the refusal of a request that is not read, as a problem (RFC 9457)."""
    problem: dict[str, object] = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        "retryable": retryable,
        "faults": [],
    }
    return JSONResponse(problem, status, headers, media_type="application/problem+json")


class _Bounded(H11Protocol):
    """A connection that is closed if sending a request or reading an answer takes too long."""

    def __init__(self, bounds: Bounds, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._bounds = bounds
        self._served = self.app
        self._was_read = False  # whether what came with the connection was read
        self._whole_by: asyncio.TimerHandle | None = None
        self._taken_by: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # asyncio does this only where the socket that listens names its protocol. Without it, the
        # body of an answer waits 40 ms for the client to confirm the head.
        opened = transport.get_extra_info("socket")
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch()
        # asyncio reads from the connection in its next round: only after that it is idle.
        self.loop.call_soon(self.loop.call_soon, self._settle)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        # Like uvicorn's ``limit_concurrency``, whose answer doesn't say when to come again.
        full = max(len(self.connections), len(self.tasks)) >= self._bounds.connections
        self.app = _busy if full else self._served
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._taken_by = self.loop.call_later(self._bounds.request_s, self._drop)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._taken_by is not None:
            self._taken_by.cancel()
            self._taken_by = None

    def _settle(self) -> None:
        """Count the connection among the idle ones; a burst may take as many places again."""
        self._was_read = True
        self._give_way(2 * self._bounds.waiting)
        self.loop.call_later(_BURST_S, self._give_way, self._bounds.waiting)

    def _give_way(self, most: int) -> None:
        """Close the oldest idle connection if there are more than ``most``."""
        waiting = [
            (each._whole_by.when(), each)
            for each in self.connections
            if isinstance(each, _Bounded) and each._was_read and each._whole_by is not None
        ]
        if len(waiting) > most:
            throttled_warning(
                log, "more than %d idle connections: the oldest is closed", len(waiting) - 1
            )
            min(waiting, key=itemgetter(0))[1]._drop()

    def _watch(self) -> None:
        """Stop the timer while a complete request is answered; run it at all other times."""
        asked = self.cycle
        is_whole = asked is not None and not asked.more_body and not asked.response_complete
        if is_whole and self._whole_by is not None:
            self._whole_by.cancel()
            self._whole_by = None
        elif not is_whole and self._whole_by is None:
            self._whole_by = self.loop.call_later(self._bounds.request_s, self._drop)

    def _drop(self) -> None:
        self._stop()
        self.transport.abort()

    def _stop(self) -> None:
        for timer in (self._whole_by, self._taken_by):
            if timer is not None:
                timer.cancel()
        self._whole_by = self._taken_by = None
