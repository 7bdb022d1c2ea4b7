"""Callers that go away: cancelled at a random await, or leaving a stream early.

In: a server. Out: rows of the table.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.faults.table import Family, Row, Setting
from benchmarks.faults.world import CALLS, SEEDS, World, settled, shared_world
from memoria import GraphRetriever
from memoria.errors import MemoriaError
from memoria.store.queries import parse

# A call is cancelled after at most so many steps of the event loop.
_MOST_STEPS = 250
_RUNNING = parse(
    """// name: faults.running
// mode: read
// params:
// returns: x
SHOW TRANSACTIONS YIELD metaData WHERE metaData.app = 'memoria' RETURN count(*) AS x
""",
    "faults.running",
)


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[tuple[World, GraphRetriever]]:
    """Open one retriever for all tries: what one leaves behind, the next one meets."""
    here = await shared_world(setting)
    async with here.attacked() as memory:
        await here.recalls_again(memory)
        yield here, memory


async def _cancelled(
    opened: tuple[World, GraphRetriever], rng: random.Random, number: int
) -> str | None:
    """Cancel a call after a random number of steps of the loop."""
    here, memory = opened
    before = asyncio.all_tasks()
    name = list(CALLS)[number % len(CALLS)]
    steps = rng.randrange(_MOST_STEPS)
    task = asyncio.ensure_future(CALLS[name](memory, here))
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        pass
    except MemoriaError as exc:
        return f"{name} after {steps} steps: {type(exc).__name__} instead of the cancellation"
    wrong = await _left_nothing(here, memory, before)
    return wrong and f"{name} after {steps} steps: {wrong}"


async def _left(
    opened: tuple[World, GraphRetriever], rng: random.Random, number: int
) -> str | None:
    """Leave a stream after some of its items: by break, by an error, by closing it, by dropping."""
    here, memory = opened
    before = asyncio.all_tasks()
    items = rng.randrange(4)
    way = number % 3
    paths = memory.stream_paths(SEEDS)
    try:
        async with paths:
            async for _ in paths:
                if (items := items - 1) < 0:
                    if way == 0:
                        break
                    if way == 1:
                        raise LookupError
                    await paths.aclose()
    except LookupError:
        pass
    return await _left_nothing(here, memory, before)


async def _left_nothing(
    here: World, memory: GraphRetriever, before: set[asyncio.Task[object]]
) -> str | None:
    """Say what a call left behind: sessions, tasks, transactions of the server."""
    until = time.monotonic() + here.gone_s
    if (wrong := await settled(memory.store, here.gone_s)) is not None:
        return wrong
    while tasks := asyncio.all_tasks() - before:
        if time.monotonic() > until:
            return f"{len(tasks)} tasks are left"
        await asyncio.sleep(0.02)
    while running := (await here.clean.store.run(_RUNNING, {}))[0]["x"] - 1:
        if time.monotonic() > until:
            return f"{running} transactions are left on the server"
        await asyncio.sleep(0.02)
    return None if await here.recalls_again(memory) else "the next recall is wrong"


FAMILY = Family(
    name="cancelling",
    opened=opened,
    rows=(
        Row(
            key="cancelled",
            fault="a call is cancelled at a random await",
            expected="`CancelledError`; after 1 s, no session, task or transaction is left",
            quick=40,
            full=1_000,
            attempt=_cancelled,
        ),
        Row(
            key="stream-left",
            fault="a stream is left early: by `break`, by an error, or by closing it",
            expected="after 1 s, no session, task or transaction is left",
            quick=10,
            full=300,
            attempt=_left,
        ),
    ),
)
