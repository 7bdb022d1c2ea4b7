"""Servers of memoria that listen over HTTP: started, asked, measured.

In: a server of Neo4j. Out: a `Served`. Starts `memoria mcp --transport http`, `memoria serve` and
`memoria view`, each with 256 descriptors, the limit on some systems.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psutil

from benchmarks.environment import ROOT
from benchmarks.faults.table import Setting
from memoria.store import Target
from memoria.view.guard import TOKEN_HEADER

BUSY, DONE = 503, 200
# Time for the server to recover, longer than a slow request may take; seconds.
SETTLED_S = 15.0
# Time for a server that has just started to answer, on a busy machine too; seconds.
LOADED_S = 120.0
# Allowed growth of a server's memory after a flood, because Python keeps some; bytes.
MOST_GROWTH = 24_000_000
SHARED_SCOPE = "served"
MCP_HEADERS = {"accept": "application/json, text/event-stream"}
_DESCRIPTORS = 256
# Answered with 200, an error in words, even without a database.
_STATUS = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "memory_status", "arguments": {}},
}


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
        host, port = self.address
        return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"

    async def answers(self, within_s: float = SETTLED_S) -> str | None:
        """Send a request, retrying while the server is busy; return an error in words, or None."""
        method, path, headers, body = self.asked
        until = time.monotonic() + within_s
        async with httpx2.AsyncClient(headers=dict(headers), timeout=within_s) as http:
            while True:
                try:
                    answer = await http.request(method, self.url(path), json=body)
                    wrong = None if answer.status_code == DONE else f"{answer.status_code}"
                    if answer.status_code not in (DONE, BUSY):
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
        until = time.monotonic() + SETTLED_S
        while True:
            memory, descriptors = (
                now - then for now, then in zip(self.held(), before, strict=True)
            )
            if descriptors <= 0 and memory <= MOST_GROWTH:
                return None
            if time.monotonic() > until:
                return f"{memory / 1e6:.0f} MB and {descriptors} descriptors more than before"
            await asyncio.sleep(0.1)


async def shared_servers(setting: Setting) -> tuple[Served, Served, Served]:
    """Return the servers of MCP, of the HTTP API and of the page that families share.

    The first two have `SHARED_SCOPE`, and the page begins with it.
    """
    if "servers" not in setting.shared:
        folder = Path(setting.stack.enter_context(tempfile.TemporaryDirectory()))
        starting = (
            serve(setting.target, folder, "--scope", SHARED_SCOPE)
            for serve in (served_mcp, served_api, served_page)
        )
        started = await asyncio.gather(*map(setting.stack.enter_async_context, starting))
        setting.shared["servers"] = tuple(started)
    found: tuple[Served, Served, Served] = setting.shared["servers"]
    return found


@asynccontextmanager
async def served_mcp(
    target: Target, folder: Path, *options: str, home: Path | None = None
) -> AsyncIterator[Served]:
    """Start an MCP server over HTTP without tokens, which any program on the machine can reach.

    ``folder`` has its log, and is its home unless ``home`` is one that it may not write to.
    """
    words = ("mcp", "--transport", "http", "--port", "0", *options)
    async with _started(target, folder, *words, home=home) as (process, line):
        found = re.search(r"listening on (http://\S+)/mcp", line)
        assert found is not None, line
        json_type = {"content-type": "application/json", **MCP_HEADERS}
        yield Served(
            address=_address(found[1]),
            asked=("POST", "/mcp", MCP_HEADERS, _STATUS),
            posted={"/mcp": json_type, "/hook": json_type},
            pid=process.pid,
        )


@asynccontextmanager
async def served_api(
    target: Target, folder: Path, *options: str, home: Path | None = None
) -> AsyncIterator[Served]:
    """Start the server of the HTTP API without tokens; arguments as for `served_mcp`."""
    async with _started(target, folder, "serve", "--port", "0", *options, home=home) as (
        process,
        line,
    ):
        found = re.search(r"listening on (http://\S+)", line)
        assert found is not None, line
        json_type = {"content-type": "application/json"}
        yield Served(
            address=_address(found[1]),
            asked=("POST", "/mcp", MCP_HEADERS, _STATUS),
            posted={"/v1/recall": json_type, "/v1/append": json_type},
            pid=process.pid,
        )


@asynccontextmanager
async def served_page(
    target: Target, folder: Path, *options: str, home: Path | None = None
) -> AsyncIterator[Served]:
    """Start the server of the page; ``folder`` and ``home`` are as for `served_mcp`."""
    words = ("view", "--no-browser", *options)
    async with _started(target, folder, *words, home=home) as (process, line):
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
async def _started(
    target: Target, folder: Path, *words: str, home: Path | None
) -> AsyncIterator[tuple[Process, str]]:
    """Start a command with few descriptors; yield its process and the line with its address."""
    assert isinstance(target.auth, tuple)
    user, password = target.auth
    environment = {
        "MEMORIA_HOME": str(home or folder),
        "NEO4J_URI": target.uri,
        "NEO4J_USERNAME": user,
        "NEO4J_PASSWORD": password,
    }
    with (folder / f"{words[0]}.log").open("w+", encoding="utf-8") as log:
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", f'ulimit -Sn {_DESCRIPTORS}; exec "$@"', "sh"),
            *(as_ordinary_user() if home else ()),
            *(sys.executable, "-m", "memoria", *words, "--embedder", "none"),
            cwd=ROOT,
            env=os.environ | environment,
            stdout=log,
            stderr=log,
        )
        try:
            while not (line := _line_with_address(Path(log.name))):
                if process.returncode is not None:
                    raise RuntimeError(f"memoria {words[0]} ended with {process.returncode}")
                await asyncio.sleep(0.05)
            yield process, line
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def as_ordinary_user() -> tuple[str, ...]:
    """Return what makes a command obey the rights of files, even if root runs it."""
    return () if os.geteuid() else ("setpriv", "--bounding-set=-all", "--inh-caps=-all")


def _line_with_address(file: Path) -> str:
    """Return the first whole line that names an address; an error does not."""
    lines = file.read_text("utf-8").splitlines(keepends=True)
    return next((each for each in lines if "http://" in each and each.endswith("\n")), "")
