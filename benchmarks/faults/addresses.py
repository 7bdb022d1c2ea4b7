"""Servers that listen on other addresses than 127.0.0.1, with tokens and without.

In: a server of Neo4j. Out: an attempt for a row of the table. Starts `memoria mcp` and `serve`.
"""

from __future__ import annotations

import errno
import itertools
import socket
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import httpx2

from benchmarks.faults.servers import Served, served_api, served_mcp
from memoria.agents.mcp.grants import Grant, add_line, line_of, new_token
from memoria.store import Target

_NO_TOKEN = 401
# Each with whether it is this machine's, and under a name that the server checks.
_HOSTS = {
    "127.0.0.2": (True, False),
    "::1": (True, True),
    "localhost": (True, True),
    "0.0.0.0": (True, False),  # noqa: S104 - it is what is tried
    "192.0.2.1": (False, False),  # of no machine
    "nowhere.invalid": (False, False),
}


class _Serve(Protocol):
    """Starts a server."""

    def __call__(
        self, target: Target, folder: Path, *options: str
    ) -> AbstractAsyncContextManager[Served]: ...


_COMMANDS: dict[str, _Serve] = {"mcp": served_mcp, "serve": served_api}
#: Every way to start a server: command, host, with tokens.
WAYS = tuple(itertools.product(_COMMANDS, _HOSTS, (True, False)))


async def listen(target: Target, folder: Path, scope: str, number: int) -> str | None:
    """Start a server; it listens there and only there, asks for its token, or says why not."""
    command, host, with_tokens = WAYS[number % len(WAYS)]
    exists, needs_none = _HOSTS[host]
    token, file = new_token(), folder / f"tokens-{number}.txt"
    add_line(file, line_of(token, Grant(scope=scope)))
    options = ("--tokens", str(file)) if with_tokens else ("--scope", scope)
    way = f"memoria {command} --host {host} {options[0]}"
    must_listen = exists and _has(host) and (with_tokens or needs_none)
    try:
        async with _COMMANDS[command](target, folder, "--host", host, *options) as served:
            if not must_listen:
                return f"{way}: it listens"
            wrong = await _wrong_of(served, token if with_tokens else None)
            if host == "127.0.0.2" and _is_open("127.0.0.1", served.address[1]):
                wrong = wrong or "it listens on 127.0.0.1 as well"
            return wrong and f"{way}: {wrong}"
    except RuntimeError as exc:  # it ended
        said = (folder / f"{command}.log").read_text("utf-8")
        if must_listen or host not in said or "Traceback" in said:
            return f"{way}: {exc}: {said[-200:]}"
    return None


async def _wrong_of(served: Served, token: str | None) -> str | None:
    near = "127.0.0.1" if served.address[0] == "0.0.0.0" else served.address[0]  # noqa: S104
    served = replace(served, address=(near, served.address[1]))
    if token is None:
        return await served.answers()
    method, path, headers, body = served.asked
    async with httpx2.AsyncClient(timeout=30) as http:
        answer = await http.request(method, served.url(path), headers=dict(headers), json=body)
    if answer.status_code != _NO_TOKEN:
        return f"without a token it answers {answer.status_code}"
    asked = (method, path, {**headers, "authorization": f"Bearer {token}"}, body)
    return await replace(served, asked=asked).answers()


def _has(host: str) -> bool:
    """Tell whether this machine has an address; some have no IPv6."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, 0), family=family):
            return True
    except OSError as exc:
        if exc.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
            raise
        return False


def _is_open(host: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((host, port), timeout=5):
        return True
    return False
