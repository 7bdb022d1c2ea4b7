"""Run an MCP server on standard streams or over HTTP, until its client or the user ends it.

In: memories and rights. Out: the protocol, and nothing else, on standard output; messages go to
standard error. Touches a port, if it is to.
"""

from __future__ import annotations

import errno
import logging
import socket
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.routing import BaseRoute, Route

from memoria._support.web import MOST_BODY, BoundedServer, bounded
from memoria._support.wording import printable
from memoria.agents.mcp.by_scope import Memories
from memoria.agents.mcp.chatgpt import Compat, add_search_and_fetch
from memoria.agents.mcp.hooks import add_hooks
from memoria.agents.mcp.mcp_server import MemoryServer, build_server
from memoria.agents.mcp.places import Place, announced, new_secret
from memoria.agents.mcp.rights import Rights, is_loopback
from memoria.errors import ConfigError

PATH = "/mcp"
#: Errors where the machine does not have an address, such as one of IPv6 where that is off.
_LACKING = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)


def _no_routes(_: int) -> Sequence[BaseRoute]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a server over HTTP offers.

    Attributes
    ----------
    command
        The command that the user called.
    routes
        Port -> what it serves besides MCP and hooks.
    """

    command: str = "mcp"
    compat: Compat | None = None
    routes: Callable[[int], Sequence[BaseRoute]] = _no_routes


async def serve_stdio(memories: Memories, rights: Rights, compat: Compat | None = None) -> None:
    """Serve the client at the standard streams until it closes them."""
    async with memories:
        await _built(memories, rights, compat).run_stdio_async()


async def serve_http(
    memories: Memories, rights: Rights, offer: Offer, *, host: str, port: int
) -> None:
    """Serve clients over HTTP, and MCP over streamable HTTP, until the process is interrupted.

    Raises
    ------
    ConfigError
        The address can't be listened on.
    """
    server, secret = _built(memories, rights, offer.compat, offer.command), new_secret()
    add_hooks(server, memories, rights, secret)
    # Stateless: recalls are kept by scope, so sessions would be empty and might pile up.
    app = server.streamable_http_app(
        streamable_http_path=PATH, host=host, stateless_http=True, max_request_body_size=MOST_BODY
    )
    for route in app.routes:
        if isinstance(route, Route) and route.path == PATH:
            route.methods = {"POST"}  # GET would open a stream that this server never uses
    async with AsyncExitStack() as opened:
        sockets = [opened.enter_context(each) for each in listening(host, port)]
        app.router.routes.extend(offer.routes(sockets[0].getsockname()[1]))
        await opened.enter_async_context(memories)
        await _Announcing(bounded(app), opened, secret, offer.command).serve(sockets)


def listening(host: str = "127.0.0.1", port: int = 8765) -> list[socket.socket]:
    """Listen on an address; a name may have several.

    Parameters
    ----------
    host, port
        Name or IP address of the interface; port, 0 for any that is free.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        # Two lines of /etc/hosts may give a name the same address.
        return _opened(dict.fromkeys((family, place) for family, *_, place in found))
    except (OSError, UnicodeError) as exc:
        reason = "not a valid name" if isinstance(exc, UnicodeError) else exc.strerror or str(exc)
        raise ConfigError(
            f"can't listen on {host}, port {port}: {reason}; give another host or port"
        ) from exc


def _opened(places: Iterable[tuple[socket.AddressFamily, Any]]) -> list[socket.socket]:
    """Listen on these addresses, except those that the machine lacks if it has another."""
    opened: list[socket.socket] = []
    lacking: OSError | None = None
    with ExitStack() as opening:
        for family, place in places:
            try:
                each = socket.create_server(place, family=family)
            except OSError as exc:
                if exc.errno not in _LACKING:
                    raise
                lacking = exc
            else:
                opened.append(opening.enter_context(each))
        if lacking is not None and not opened:
            raise lacking
        opening.pop_all()
    return opened


def _built(
    memories: Memories, rights: Rights, compat: Compat | None, command: str = "mcp"
) -> MemoryServer:
    # Otherwise the SDK installs a handler that imports modules while it writes. If all descriptors
    # are in use, that fails and ends the loop.
    handler = logging.StreamHandler()
    handler.setFormatter(_Printable(f"memoria {command}: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    server = build_server(memories, rights)
    if compat == "chatgpt":
        add_search_and_fetch(server, memories, rights)
    return server


class _Printable(logging.Formatter):
    """Escapes control characters, because log lines contain request headers and ids."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


class _Announcing(BoundedServer):
    """Says where it listens once it does, to the user and to hooks."""

    def __init__(
        self, config: uvicorn.Config, opened: AsyncExitStack, secret: str, command: str
    ) -> None:
        super().__init__(config, opened)
        self._secret = secret
        self._path = PATH if command == "mcp" else ""
        self._command = command

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for server in self.servers:
            for each in server.sockets:
                host, port = each.getsockname()[:2]
                shown = f"[{host}]" if ":" in host else host
                line = f"listening on http://{shown}:{port}{self._path}"
                sys.stderr.write(f"memoria {self._command}: {line}\n")
                near = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
                if is_loopback(near):
                    place = Place(near, port, self._secret)
                    self._opened.enter_context(announced(place))
        sys.stderr.flush()
