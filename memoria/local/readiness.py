"""Wait until a server answers, and say why if it does not.

In: an address, credentials, a log. Out: nothing, or an error that says what to do.
Touches: the network on this machine, the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import time
from collections.abc import Callable
from pathlib import Path

import neo4j
from neo4j import exceptions as driver_errors

from memoria.errors import LocalServerError
from memoria.local.settings import HOST, Layout

START_TIMEOUT_S = 120.0
PROBE_TIMEOUT_S = 20.0
POLL_S = 0.1
GONE_AFTER_MISSES = 3
PORT_ATTEMPTS = 3
PORT_TRIES = 50
PORTS = range(20_000, 30_000)
PORT_RELEASE_S = 3.0
TAIL_BYTES = 256 << 10


class PortTakenError(LocalServerError):
    """Another program listens on the port."""


def port_is_free(port: int) -> bool:
    """Tell whether a server could listen on this port of the loopback address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


async def port_becomes_free(port: int) -> bool:
    """Tell whether a port is free, or soon will be: a killed server keeps it for a moment."""
    end = time.monotonic() + PORT_RELEASE_S
    while not port_is_free(port):
        if time.monotonic() > end:
            return False
        await asyncio.sleep(POLL_S)
    return True


def port_taken(port: int) -> PortTakenError:
    """Return the error for a port that another program uses."""
    return PortTakenError(
        f"port {port} is taken by another program; choose another port, or give no port to get a "
        "free one"
    )


def free_port() -> int:
    """Find a port that no program uses at the moment.

    Preferably a port that systems don't use for outgoing connections, so that it is still free when
    the server is started again.
    """
    for _ in range(PORT_TRIES):
        port = secrets.choice(PORTS)
        if port_is_free(port):
            return port
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def tail(layout: Layout, lines: int) -> str:
    """Return the last lines of the server's log and of Java's output; empty without any."""
    found = [line for log in (layout.log, layout.console) for line in _end_of(log)]
    return "\n".join(found[-lines:]) if lines > 0 else ""


def _end_of(log: Path) -> list[str]:
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip()]


async def wait_until_ready(
    port: int, auth: tuple[str, str], *, alive: Callable[[], bool], layout: Layout
) -> None:
    """Return as soon as a query succeeds; an open port alone is not enough.

    Raises
    ------
    PortTakenError
        Another program took the port meanwhile.
    LocalServerError
        The server ended, refused the password, or took longer than `START_TIMEOUT_S`.
    """
    end = time.monotonic() + START_TIMEOUT_S
    misses = 0
    while time.monotonic() < end:
        # For a moment, a process that has just begun to run Java has no command line to be known
        # by.
        misses = 0 if alive() else misses + 1
        if misses == GONE_AFTER_MISSES:
            raise startup_error(tail(layout, 200), port)
        if await _port_is_open(port) and await _answers(port, auth):
            return
        await asyncio.sleep(POLL_S)
    raise LocalServerError(
        f"the local server did not answer within {START_TIMEOUT_S:.0f} s; the end of its log "
        f"({layout.log}):\n{tail(layout, 10)}"
    )


async def _port_is_open(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


async def _answers(port: int, auth: tuple[str, str]) -> bool:
    driver = neo4j.AsyncGraphDatabase.driver(
        f"bolt://{HOST}:{port}", auth=auth, connection_timeout=5, user_agent="memoria-local"
    )
    async with driver:
        try:
            async with (
                asyncio.timeout(PROBE_TIMEOUT_S),
                driver.session(database="neo4j") as session,
            ):
                await (await session.run("RETURN 1")).consume()
        except driver_errors.AuthError as exc:
            raise LocalServerError(
                "the local server refuses the password in its file: the file was replaced, or "
                "the password changed inside the database; put the right one into the file"
            ) from exc
        except (driver_errors.Neo4jError, driver_errors.DriverError, OSError):
            return False
    return True


def startup_error(text: str, port: int) -> LocalServerError:
    """Return the error that says why a server ended, judged by its output."""
    if "Address already in use" in text or "BindException" in text:
        return port_taken(port)
    if "Could not reserve enough space" in text or "insufficient memory" in text:
        return LocalServerError(
            "too little memory for Java: end other programs, or lower heap_mb and page_cache_mb"
        )
    if "OutOfMemoryError" in text:
        return LocalServerError("the local server ran out of memory: raise heap_mb")
    if "No space left on device" in text:
        return LocalServerError(
            "the disk is full: make room, or set MEMORIA_HOME to a folder on another disk"
        )
    if "store_lock" in text or "FileLockException" in text:
        return LocalServerError(
            "another server uses the same data; end it first (memoria down, in the account that "
            "started it)"
        )
    last = "\n".join(text.splitlines()[-10:]) or "(nothing: was it killed?)"
    return LocalServerError(f"the local server ended; the end of its log:\n{last}")
