"""Serve the page on this machine until the user ends it.

In: a `Source`. Out: the page at an address of this machine, which is announced.
Touches a port; opens the browser if it is to.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from starlette.applications import Starlette
from starlette.routing import Mount

from memoria._support.web import BoundedServer, bounded
from memoria.errors import ConfigError
from memoria.retriever import GraphRetriever
from memoria.view.app import build_app
from memoria.view.guard import Ticket, new_token
from memoria.view.source import Source

HOST = "127.0.0.1"


async def serve(
    source: Source, announce: Callable[[str, str], None], *, scope: str, port: int = 0
) -> None:
    """Serve a page until the process is interrupted.

    Parameters
    ----------
    source
        The database and the recalls; closed at the end.
    announce
        Called once the page can be opened, with two addresses: one with the token, and one for a
        browser that is started with it, which opens the page once, and within a minute.
    scope
        Scope that the page begins with.
    port
        Port to listen on; 0 for any that is free.

    Raises
    ------
    ConfigError
        The port can't be listened on.
    """
    async with AsyncExitStack() as opened:
        listening = opened.enter_context(_listening(port))
        opened.push_async_callback(source.close)
        port, ticket = listening.getsockname()[1], Ticket()
        app, address = _built(source, scope, port, ticket)
        announce(address, f"{_place(port)}#ticket={ticket.text}")  # the socket listens already
        await BoundedServer(bounded(app), opened).serve(sockets=[listening])


def page_route(
    opening: Callable[[], Awaitable[GraphRetriever]], scope: str, port: int
) -> tuple[Mount, str]:
    """Return the page as the last route of another server, and its address with the token.

    What ``opening`` returns is closed by the other server.
    """
    app, address = _built(Source(opening), scope, port)
    return Mount("/", app), address


def _built(
    source: Source, scope: str, port: int, ticket: Ticket | None = None
) -> tuple[Starlette, str]:
    token, hosts = new_token(), (f"{HOST}:{port}", f"localhost:{port}")
    app = build_app(source, scope=scope, token=token, ticket=ticket, hosts=hosts)
    return app, f"{_place(port)}#token={token}"


def _place(port: int) -> str:
    return f"http://{HOST}:{port}/"


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as exc:
        raise ConfigError(f"can't listen on port {port}: {exc.strerror}; give another") from exc
