"""Servers for agents: killed while they remember, several on one store, without a place to write.

In: a server. Out: rows of the table. Starts and kills `memoria mcp`, `memoria view` and commands.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2

from benchmarks.environment import ROOT
from benchmarks.faults import addresses
from benchmarks.faults.journal import kept
from benchmarks.faults.served import ASKED
from benchmarks.faults.servers import (
    BUSY,
    DONE,
    LOADED_S,
    MCP_HEADERS,
    SHARED_SCOPE,
    Served,
    as_ordinary_user,
    served_mcp,
    served_page,
    shared_servers,
)
from benchmarks.faults.table import Family, Row, Setting
from benchmarks.faults.world import World, shared_world
from memoria import GraphRetriever
from memoria.store import Target

_CLIENTS = 8
# So long the clients of a server remember at most before it is killed; seconds.
_LONGEST_S = 1.0
_CALL_S = 60.0
# Time in which several programs work on one store; seconds.
_TOGETHER_S, _QUICK_TOGETHER_S = 30.0, 2.0
# A server keeps the last 256 recalls of a scope: 161, 191, then 194 MB. It is measured after more.
_FILLED = 300
_IMPORTED = 50
# Exit codes of commands that report an error in one line.
_GOOD_CODES = (0, 1, 3, 4, 5)


@dataclass(slots=True, kw_only=True)
class Agents:
    """A world, a folder for the files of servers, and several programs once they were started."""

    world: World
    folder: Path
    setting: Setting
    stack: AsyncExitStack
    crowd: Crowd | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Two MCP servers and a page on one scope.

    ``recalls`` counts those of each by its process, and ``before`` is what each had once it had
    answered enough of them to have filled its caches.
    """

    memory: GraphRetriever
    servers: tuple[Served, Served]
    page: Served
    recalls: Counter[int] = field(default_factory=Counter)
    before: list[tuple[int, int]] = field(default_factory=list)


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Agents]:
    """Each row starts its own servers."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        here = await shared_world(setting)
        yield Agents(world=here, folder=folder, setting=setting, stack=stack)


class Writing:
    """Texts that clients asked servers to remember, and those that were acknowledged."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.begun: list[str] = []
        self.done: set[str] = set()
        self.first = asyncio.Event()  # something was acknowledged, or went wrong

    async def remember(self, http: httpx2.AsyncClient, served: Served) -> str | None:
        """Remember a new text; return the fault of the answer in words, if there is one."""
        text = f"Order {self._rng.getrandbits(64):x} was paid."
        self.begun.append(text)
        wrong, refused = await called(http, served, "memory_remember", text=text)
        if not refused:
            self.done.update(() if wrong else (text,))
            self.first.set()
        return wrong

    async def answered(self, clients: Sequence[asyncio.Task[None]]) -> None:
        """Wait until something was acknowledged, or went wrong, or no client is left."""
        first = asyncio.create_task(self.first.wait())
        gone = asyncio.gather(*clients, return_exceptions=True)
        either: list[asyncio.Future[Any]] = [first, gone]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        first.cancel()

    async def compare(self, memory: GraphRetriever) -> str | None:
        """Name the texts that the database lacks or has twice; also after all are sent again."""
        if not self.done:
            return "nothing was acknowledged"
        found = Counter((await kept(memory))["texts"])
        if lost := [text for text in self.done if not found[text]]:
            return f"{len(lost)} of {len(self.done)} acknowledged texts are lost"
        for text in self.begun:
            if text not in self.done:
                await memory.writer().remember(text)
        found = Counter((await kept(memory))["texts"])
        wrong = [text for text in self.begun if found[text] != 1]
        return f"{wrong[0]!r} is there {found[wrong[0]]} times" if wrong else None


async def called(
    http: httpx2.AsyncClient, served: Served, tool: str, **arguments: Any
) -> tuple[str | None, bool]:
    """Call a tool; return the fault of the answer in words, and whether the tool refused.

    A busy server may refuse, and so may a tool whose time is up; then nothing is acknowledged.
    """
    call = {"name": tool, "arguments": arguments}
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    answer = await http.post(served.url("/mcp"), json=request)
    if answer.status_code == BUSY:
        return None, True
    text = answer.text
    if not text.startswith("{"):  # one event of a stream
        text = next((line[6:] for line in text.splitlines() if line.startswith("data: ")), "{}")
    result = json.loads(text).get("result")
    if answer.status_code != DONE or result is None:
        return f"{tool} was answered {answer.status_code}: {text[:200]}", False
    return None, bool(result.get("isError"))


async def _mcp_killed(agents: Agents, rng: random.Random, number: int) -> str | None:
    """Kill a server while clients remember, and compare the texts with the acknowledged ones."""
    memory = agents.world.clean.for_scope(f"killed-{number}-{uuid4().hex[:8]}")
    writing = Writing(rng)
    wrong: list[str] = []

    async def remember_on() -> None:
        async with httpx2.AsyncClient(headers=MCP_HEADERS, timeout=_CALL_S) as http:
            while not wrong:
                try:
                    said = await writing.remember(http, served)
                except httpx2.HTTPError:
                    return  # it was killed
                wrong.extend([said] if said else [])

    async with served_mcp(agents.world.target, agents.folder, "--scope", memory.scope) as served:
        tasks = [asyncio.create_task(remember_on()) for _ in range(_CLIENTS)]
        await writing.answered(tasks)
        await asyncio.sleep(rng.random() * _LONGEST_S)
        os.kill(served.pid, signal.SIGKILL)
        await asyncio.gather(*tasks)
    await asyncio.sleep(0.2)  # the server notices the closed sockets, and ends its pending work
    return next(iter(wrong), None) or await writing.compare(memory)


async def _together(agents: Agents, rng: random.Random, number: int) -> str | None:
    """Let two servers, a page and an importer work on one scope; compare, and measure them."""
    if agents.crowd is None:
        agents.crowd = await _crowd(agents)
    crowd = agents.crowd
    until = time.monotonic() + (_QUICK_TOGETHER_S if agents.setting.quick else _TOGETHER_S)
    writing = Writing(rng)
    wrong: list[str] = []

    async def work_on(served: Served) -> None:
        async with httpx2.AsyncClient(headers=MCP_HEADERS, timeout=_CALL_S) as http:
            while time.monotonic() < until and not wrong:
                said = await writing.remember(http, served)
                recalled, _ = await called(http, served, "memory_recall", query="Which order?")
                wrong.extend(each for each in (said, recalled) if each)
                crowd.recalls[served.pid] += 1

    async def ask_on() -> None:
        _, __, headers, ___ = crowd.page.asked
        body = {**ASKED, "query": "Which order?", "scope": crowd.memory.scope}
        url = crowd.page.url("/api/recall")
        async with httpx2.AsyncClient(headers=dict(headers), timeout=_CALL_S) as http:
            while time.monotonic() < until and not wrong:
                answer = await http.post(url, json=body)
                if answer.status_code != DONE:
                    wrong.append(f"the page answered {answer.status_code}: {answer.text[:200]}")
                crowd.recalls[crowd.page.pid] += 1

    imported: list[str] = []
    await asyncio.gather(
        *(work_on(served) for served in crowd.servers for _ in range(2)),
        ask_on(),
        _import_on(agents, crowd, number, until, imported, wrong),
    )
    if wrong:
        return wrong[0]
    ids = Counter((await kept(crowd.memory))["ids"])
    if any(ids[id_] != 1 for id_ in imported):
        return "an imported memory is not there, or more than once"
    if (said := await writing.compare(crowd.memory)) is not None:
        return said
    every = (*crowd.servers, crowd.page)
    if not crowd.before:
        if min(crowd.recalls[served.pid] for served in every) >= _FILLED:
            crowd.before.extend(served.held() for served in every)
        return None
    for served, before in zip(every, crowd.before, strict=True):
        if (said := await served.is_as((before[0], before[1] + _CLIENTS))) is not None:
            return said
    return None


async def _crowd(agents: Agents) -> Crowd:
    """Start the servers, each with a folder of its own; a quick run has servers that listen."""
    if agents.setting.quick:
        mcp, api, page = await shared_servers(agents.setting)
        for served in (mcp, api):
            await _first_answer(served)
        memory = agents.world.clean.for_scope(SHARED_SCOPE)
        return Crowd(memory=memory, servers=(mcp, api), page=page)
    memory = agents.world.clean.for_scope(f"together-{uuid4().hex[:8]}")
    scoped = ("--scope", memory.scope)
    folders = [agents.folder / name for name in ("one", "two", "page")]
    for folder in folders:
        folder.mkdir()
    enter, target = agents.stack.enter_async_context, agents.world.target
    one = await enter(served_mcp(target, folders[0], *scoped))
    two = await enter(served_mcp(target, folders[1], *scoped))
    page = await enter(served_page(target, folders[2], *scoped))
    for served in (one, two):
        await _first_answer(served)
    return Crowd(memory=memory, servers=(one, two), page=page)


async def _first_answer(served: Served) -> None:
    """Remember until the server has planned its queries: on a busy machine it refuses till then."""
    async with (
        asyncio.timeout(LOADED_S),
        httpx2.AsyncClient(headers=MCP_HEADERS, timeout=None) as http,
    ):
        while (await called(http, served, "memory_remember", text="The first order."))[1]:
            pass


async def _import_on(
    agents: Agents, crowd: Crowd, number: int, until: float, ids: list[str], wrong: list[str]
) -> None:
    """Ingest files, one after the other, by the command."""
    file = agents.folder / "lines.jsonl"
    for turn in itertools.count():
        if time.monotonic() > until or wrong:
            return
        new = [f"imported-{number}-{turn}-{each}" for each in range(_IMPORTED)]
        lines = [{"id": id_, "kind": "Event", "text": f"The import {id_}."} for id_ in new]
        lines += [{"source": one, "target": two} for one, two in itertools.pairwise(new)]
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        words = ("ingest", str(file), "--scope", crowd.memory.scope, "--embedder", "none")
        code, said = await _run(agents.world.target, agents.folder, words)
        if code != 0:
            wrong.append(f"memoria ingest ended with {code}: {said[-200:]}")
        ids += new


async def _read_only(agents: Agents, _: random.Random, number: int) -> str | None:
    """Run a command whose home and folder can't be written to; servers must answer all the same."""
    with _locked(agents.folder / "locked") as locked:
        target, scope = agents.world.target, ("--scope", agents.world.written)
        commands: Sequence[tuple[str, ...]] = (
            ("recall", "oven", "--embedder", "none", *scope),
            ("remember", f"The oven {number} is new.", "--embedder", "none", *scope),
            ("export", "--output", str(locked / "out.jsonl"), *scope),
            ("recall", "oven", "--embedder", "none", "--html", str(locked / "a.html"), *scope),
            ("status",),
            ("logs",),
            ("down",),
            ("up",),
            ("import", "--offline", str(locked / "none.jsonl"), "--embedder", "none"),
            ("mcp-token", "ada", "--tokens", str(locked / "tokens.txt")),
        )
        servers = (served_mcp, served_page)
        place = number % (len(commands) + len(servers))
        if place >= len(commands):
            start = servers[place - len(commands)]
            async with start(target, agents.folder, *scope, home=locked) as served:
                return await served.answers()
        words = commands[place]
        code, said = await _run(target, locked, words, ordinary=True)
        if code not in _GOOD_CODES or "Traceback" in said or "Errno" in said:
            return f"memoria {' '.join(words)} ended with {code}: {said[-200:]}"
        must_work = place < 2
        if must_work and code != 0:
            return f"memoria {words[0]} ended with {code}: {said[-200:]}"
    return None


async def _other_address(agents: Agents, _: random.Random, number: int) -> str | None:
    return await addresses.listen(agents.world.target, agents.folder, agents.world.written, number)


@contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """Make a folder that its owner can't write to."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o500)
    try:
        yield folder
    finally:
        folder.chmod(0o700)


async def _run(
    target: Target, home: Path, words: Sequence[str], *, ordinary: bool = False
) -> tuple[int, str]:
    """Run a command; return its exit code, and all that it printed."""
    assert isinstance(target.auth, tuple)
    user, password = target.auth
    environment = {
        "MEMORIA_HOME": str(home),
        "NEO4J_URI": target.uri,
        "NEO4J_USERNAME": user,
        "NEO4J_PASSWORD": password,
    }
    process = await asyncio.create_subprocess_exec(
        *(as_ordinary_user() if ordinary else ()),
        *(sys.executable, "-m", "memoria", *words),
        cwd=ROOT,
        env=os.environ | environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode(errors="replace")


FAMILY = Family(
    name="agents",
    opened=opened,
    rows=(
        Row(
            key="mcp-killed",
            fault=f"an MCP server over HTTP is killed (kill -9) while {_CLIENTS} clients remember",
            expected="nothing acknowledged is lost; texts that are sent again are stored once",
            quick=1,
            full=50,
            attempt=_mcp_killed,
        ),
        Row(
            key="together",
            fault=f"two MCP servers, a page and an importer work on one scope for "
            f"{_TOGETHER_S:g} s ({_QUICK_TOGETHER_S:g} s in a quick run)",
            expected="every call is answered or refused; nothing is lost or stored twice; memory "
            f"and descriptors of each server stay as they were after its first {_FILLED} recalls",
            quick=1,
            full=60,
            attempt=_together,
            try_s=4 * LOADED_S,  # the first one starts the servers
        ),
        Row(
            key="read-only-folder",
            fault="commands and servers of an ordinary user without write access to their folders",
            expected="they read and write the database, or one line says what to do",
            quick=2,
            full=12,
            attempt=_read_only,
        ),
        Row(
            key="other-address",
            fault="an MCP server or the HTTP API listens on another address: of this machine, of "
            "all its networks, of no machine; with and without tokens",
            expected="it listens only there and requires the token, or one line says why it can't",
            quick=1,
            full=len(addresses.WAYS),
            attempt=_other_address,
        ),
    ),
)
