"""Many callers at once: explorations, tenants, loops, writers of one edge.

In: a server. Out: rows of the table.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from uuid import uuid4

from benchmarks.faults import changing
from benchmarks.faults.journal import ENDS, RELATION, prepare
from benchmarks.faults.table import Family, Row, Setting
from benchmarks.faults.world import QUESTION, SEEDS, World, embedder, settled, shared_world
from memoria import GraphRetriever, Memory
from memoria.errors import ClosedError, DeadlineError, MemoriaError, OverloadedError
from memoria.store import Store, open_driver
from memoria.store.config import StoreConfig

_EXPLORATIONS, _TENANTS, _CALLERS = 1_000, 300, 200
_USES, _QUICK_USES, _LOOPS_RECALLS, _QUICK_LOOPS_RECALLS = 100, 20, 10, 3
_DEADLINE_S = 10.0
# For what is not attacked: a busy machine may take long.
_PATIENT_S = 40.0
_GAIN = 0.0001


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[World]:
    """Take the graph that all share."""
    yield await shared_world(setting)


async def _explorations(here: World, _: random.Random, __: int) -> str | None:
    """Explore many times at once; each is complete and right, or refused."""
    stream = here.clean.explore_seeds(SEEDS, deadline_s=20)
    right = {each.seed.id: each.paths async for each in stream}

    async with here.attacked(config=StoreConfig(query_timeout_s=_DEADLINE_S)) as memory:

        async def one(number: int) -> str | None:
            seed = SEEDS[number % len(SEEDS)]
            try:
                found = memory.explore_seeds([seed], deadline_s=_DEADLINE_S)
                async with found as explorations:
                    async for each in explorations:
                        if each.status == "complete" and each.paths != right[seed.id]:
                            return "an exploration is called complete, and is not"
            except OverloadedError:
                return None
            except MemoriaError as exc:
                return f"{type(exc).__name__}: {exc}"
            return None

        return await _all_hold(one, _EXPLORATIONS, memory.store, here)


async def _tenants(here: World, rng: random.Random, _: int) -> str | None:
    """Let many tenants ask at once; each gets its own memory, or is refused."""
    name = uuid4().hex[:8]
    config = StoreConfig(query_timeout_s=_DEADLINE_S)
    async with here.attacked(config=config) as memory:
        scopes = [f"{name}-{number}" for number in range(_TENANTS)]
        free = asyncio.Semaphore(8)

        async def fill(scope: str) -> None:
            async with free:
                text = f"The oven of {scope} burnt the buns."
                await (
                    memory.for_scope(scope)
                    .writer()
                    .write([Memory(id="oven", kind="Event", text=text)])
                )

        await asyncio.gather(*(fill(scope) for scope in scopes))
        rng.shuffle(scopes)

        async def ask(number: int) -> str | None:
            scope = scopes[number]
            try:
                found = await memory.for_scope(scope).recall(QUESTION, deadline_s=_DEADLINE_S)
            except OverloadedError:
                return None
            texts = [entry.memory.text for entry in found.ranked]
            if texts != [f"The oven of {scope} burnt the buns."]:
                return f"a tenant found {len(texts)} memories instead of its own"
            return None

        return await _all_hold(ask, _TENANTS, memory.store, here)


async def _pool_spent(here: World, _: random.Random, __: int) -> str | None:
    """Let many callers share two sessions."""
    config = StoreConfig(max_sessions=2, query_timeout_s=_DEADLINE_S)
    async with here.attacked(config=config) as memory:

        async def ask(_: int) -> str | None:
            try:
                found = await memory.recall(QUESTION, deadline_s=3.0)
            except (OverloadedError, DeadlineError):  # its turn came late, or too late
                return None
            if found.trace.degraded or await here.is_right(found):
                return None
            return "a recall without a note found something else"

        return await _all_hold(ask, _CALLERS, memory.store, here)


async def _all_hold(
    one: Callable[[int], Coroutine[object, object, str | None]],
    count: int,
    store: Store,
    here: World,
) -> str | None:
    """Run many at once; return the first that did not hold, or what is left behind."""
    began = time.monotonic()
    ended = await asyncio.gather(*map(one, range(count)), return_exceptions=True)
    took_s = time.monotonic() - began
    for each in ended:
        if isinstance(each, BaseException):
            return f"untyped {type(each).__name__}: {each}"
        if each is not None:
            return each
    if took_s > _DEADLINE_S + here.grace_s:
        return f"the last one ended after {took_s:.1f} s"
    return await settled(store, here.gone_s)


async def _one_edge(here: World, rng: random.Random, number: int) -> str | None:
    """Strengthen one edge many times at once: no use may be lost, and none counted twice.

    An event whose answer did not come in time is sent again, by its id.
    """
    async with here.attacked(config=StoreConfig(query_timeout_s=30)) as memory:
        scope = f"{here.written}-{number}-{rng.randrange(10**9)}"
        learned = memory.for_scope(scope)
        await prepare(learned)
        learner = learned.learner()

        async def use(event: int) -> int | None:
            try:
                await learner.strengthen_edge(
                    *ENDS, relation=RELATION, increment=_GAIN, event_id=f"use-{event}"
                )
            except MemoriaError:
                return event
            return None

        uses = _QUICK_USES if here.quick else _USES
        open_events = await asyncio.gather(*map(use, range(uses)))
        for event in open_events:
            if event is not None and await use(event) is not None:
                return f"event {event} could not be sent again"
        around = await learned.neighbours(ENDS[0])
        weight = around.neighbours[0].weight
    wanted = 0.1 + uses * _GAIN
    if abs(weight - wanted) > 1e-9:
        return f"the weight is {weight}, and should be {wanted}"
    return None


async def _two_loops(here: World, _: random.Random, __: int) -> str | None:
    """Use a store from another loop, which is refused, and there a store of its own."""

    async def refused() -> str | None:
        try:
            await here.clean.recall(QUESTION)
        except ClosedError:
            return None
        return "a store was used from two loops"

    async def alone() -> str | None:
        config = StoreConfig(query_timeout_s=_PATIENT_S)
        async with open_driver(here.target, config) as driver:
            store = Store(driver, config=config)
            memory = GraphRetriever(store, scope=here.scope, embedder=embedder())
            for _ in range(_QUICK_LOOPS_RECALLS if here.quick else _LOOPS_RECALLS):
                found = await memory.recall(QUESTION, deadline_s=_PATIENT_S)
                if not found.ranked:
                    return "a recall in a second thread found nothing"
        return None

    wrong = await asyncio.to_thread(asyncio.run, refused())
    second = asyncio.to_thread(asyncio.run, alone())
    both = await asyncio.gather(second, here.clean.recall(QUESTION, deadline_s=_PATIENT_S))
    return wrong or both[0] or await here.is_well()


FAMILY = Family(
    name="crowds",
    opened=opened,
    rows=(
        Row(
            key="explorations",
            fault=f"{_EXPLORATIONS:,} explorations at the same time",
            expected="each is complete and correct, truncated and marked, or refused; all end "
            "within 10.5 s",
            quick=1,
            full=20,
            attempt=_explorations,
        ),
        Row(
            key="tenants-at-once",
            fault=f"{_TENANTS} tenants ask at the same time",
            expected="each gets its own memory or is refused; all end within 10.5 s",
            quick=0,
            full=10,
            attempt=_tenants,
        ),
        Row(
            key="pool-spent",
            fault=f"{_CALLERS} simultaneous recalls share two sessions",
            expected="each is correct, marked as degraded, over its deadline, or refused; no "
            "session stays in use",
            quick=1,
            full=20,
            attempt=_pool_spent,
        ),
        Row(
            key="one-edge",
            fault=f"one edge is strengthened by {_USES} simultaneous calls ({_QUICK_USES} in a "
            "quick run)",
            expected="no call is lost: the weight is exact",
            quick=1,
            full=100,
            attempt=_one_edge,
        ),
        *changing.ROWS,
        Row(
            key="two-loops",
            fault="a store is used from a second event loop; two loops run in two threads",
            expected="`ClosedError`; with a store of its own, each loop works",
            quick=1,
            full=50,
            attempt=_two_loops,
        ),
    ),
)
