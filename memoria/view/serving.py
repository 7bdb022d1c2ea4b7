"""Serve the page on this machine until the user ends it.

In: a `Source`. Out: the page at an address of this machine, which is announced with its token.
Touches a port; opens the browser if it is to.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

import uvicorn

from memoria._support.web import bounded
from memoria.errors import ConfigError
from memoria.view.app import build_app
from memoria.view.guard import new_token
from memoria.view.source import Source

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What is served.

    Attributes
    ----------
    source
        The database and the recalls; closed at the end.
    scope
        Scope that the page begins with.
    port
        Port to listen on; 0 for any that is free.
    """

    source: Source
    scope: str
    port: int = 0


async def serve(page: Page, announce: Callable[[str], None]) -> None:
    """Serve a page until the process is interrupted.

    Parameters
    ----------
    announce
        Called with the address, token included, once the page can be opened.

    Raises
    ------
    ConfigError
        The port can't be listened on.
    """
    with closing(_listening(page.port)) as listening:
        port = listening.getsockname()[1]
        token = new_token()
        hosts = (f"{HOST}:{port}", f"localhost:{port}")
        app = build_app(page.source, scope=page.scope, token=token, hosts=hosts)
        announce(f"http://{HOST}:{port}/#token={token}")  # the socket listens already
        try:
            await uvicorn.Server(bounded(app)).serve(sockets=[listening])
        finally:
            await page.source.close()


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except OSError as exc:
        raise ConfigError(f"can't listen on port {port}: {exc.strerror}; give another") from exc
