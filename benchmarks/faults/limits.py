"""Limits that are reached: memory of a transaction, disk, and a clock that jumps.

In: servers of its own. Out: rows of the table. Mounts a small file system in a name space of its
own where the system lets it.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from benchmarks.environment import ROOT
from benchmarks.faults.table import Family, Row, Setting
from benchmarks.faults.world import QUESTION, SEEDS, World, embedder, shared_world
from memoria import GraphRetriever, Memory, Relation
from memoria.errors import BudgetError, MemoriaError
from memoria.local import LocalNeo4j
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig

_LEAVES = 20_000
_TEXT = "x" * 500
_BATCH = 5_000
# How far the clock of the loop jumps; seconds. A machine that slept jumps forward.
_JUMP_S = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrow:
    """A server whose transactions may use little memory, and a hub in it.

    Attributes
    ----------
    world
        A graph on a server without this limit.
    hub
        A retriever on the scope of the hub.
    """

    world: World
    hub: GraphRetriever


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Narrow]:
    """Start a server with little memory for a transaction, and write a hub."""
    here = await shared_world(setting)
    narrow = LocalNeo4j.ephemeral(extra_settings={"db.memory.transaction.max": "12m"})
    async with narrow as server:
        target = Target(uri=server.uri, auth=server.auth)
        config = StoreConfig(query_timeout_s=60)
        async with open_driver(target, config) as driver:
            hub = GraphRetriever(Store(driver, config=config), scope="hub", embedder=embedder())
            await _write_hub(hub)
            yield Narrow(world=here, hub=hub)


async def _write_hub(hub: GraphRetriever) -> None:
    leaves = [f"leaf{number}" for number in range(_LEAVES)]
    writer = hub.writer(batch_size=500)
    memories = [Memory(id=id_, kind="Event", text=f"{id_} {_TEXT}") for id_ in leaves]
    edges = [Relation(source="hub", target=id_, relation="has", weight=1.0) for id_ in leaves]
    await writer.write([Memory(id="hub", kind="Event", text="the hub"), *memories], edges)


async def _memory(narrow: Narrow, _: random.Random, number: int) -> str | None:
    """Ask for more than one transaction may hold, and for what still fits."""
    try:
        if number % 2:
            await narrow.hub.get([f"leaf{each}" for each in range(_LEAVES)])
        else:
            await narrow.hub.writer(batch_size=_BATCH).write(
                [Memory(id=f"new{each}", kind="Event", text=_TEXT * 10) for each in range(_BATCH)]
            )
    except BudgetError:
        pass
    except MemoriaError as exc:
        return f"{type(exc).__name__} instead of BudgetError: {exc}"
    found = await narrow.hub.recall("the hub", deadline_s=20)
    return None if found.ranked else "the next recall finds nothing"


class _JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock can be put forward or back."""

    ahead_s = 0.0

    def time(self) -> float:
        return super().time() + self.ahead_s


async def _clock(narrow: Narrow, rng: random.Random, number: int) -> str | None:
    """Let the clock of the loop jump while a recall is under way, in a thread of its own."""
    jump_s = _JUMP_S if number % 2 else -_JUMP_S
    after_s = rng.random() * 0.1

    async def jumping() -> str | None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, _JumpingLoop)
        async with narrow.world.attacked() as memory, narrow.world.attacked() as clean:
            here = replace(narrow.world, clean=clean)  # a store belongs to one loop
            await here.recalls_again(memory)
            calls = [
                asyncio.create_task(memory.recall(QUESTION, deadline_s=5)),
                asyncio.create_task(_paths(memory)),
            ]
            await asyncio.sleep(after_s)
            loop.ahead_s += jump_s
            for each in await asyncio.gather(*calls, return_exceptions=True):
                if isinstance(each, Exception) and not isinstance(each, MemoriaError):
                    return f"untyped {type(each).__name__}: {each}"
            return None if await here.recalls_again(memory) else "the next recall is wrong"

    def in_a_loop() -> str | None:
        with asyncio.Runner(loop_factory=_JumpingLoop) as runner:
            return runner.run(jumping())

    return await asyncio.to_thread(in_a_loop)


async def _paths(memory: GraphRetriever) -> None:
    async with memory.stream_paths(SEEDS, deadline_s=5) as paths:
        async for _ in paths:
            pass


async def _disk(_: Narrow, __: random.Random, number: int) -> str | None:
    """Fill the disk of a server on a small file system; see `benchmarks.faults.full_disk`."""
    if (unshare := shutil.which("unshare")) is None:
        return "not tried: this machine lacks unshare"
    mount = 'mount -t tmpfs -o size=320m none /mnt && exec env TMPDIR=/mnt "$@"'
    command = (sys.executable, "-m", "benchmarks.faults.full_disk", str(number))
    process = await asyncio.create_subprocess_exec(
        *(unshare, "-rm", "sh", "-c", mount, "sh", *command),
        cwd=ROOT,
        env=os.environ,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _stderr = await process.communicate()
    last = said.decode(errors="replace").strip().splitlines()[-1:] or ["nothing"]
    return None if process.returncode == 0 else last[0]


FAMILY = Family(
    name="limits",
    opened=opened,
    rows=(
        Row(
            key="transaction-memory",
            fault="a query or a write needs more memory than a transaction may use",
            expected="the answer or `BudgetError`; the next recall works",
            quick=0,
            full=10,
            attempt=_memory,
        ),
        Row(
            key="clock",
            fault="the clock jumps by an hour, forward or back, during a recall and a stream",
            expected="the answer or a typed error; the next recall works",
            quick=0,
            full=40,
            attempt=_clock,
        ),
        Row(
            key="disk-full",
            fault="the server's disk is full (320 MB)",
            expected="typed errors; nothing acknowledged is lost; reads work again after a restart",
            quick=0,
            full=2,
            attempt=_disk,
        ),
    ),
)
