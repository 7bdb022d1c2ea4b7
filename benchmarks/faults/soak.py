"""A long mix of faults: memory, sockets, tasks and threads must not grow.

In: a server behind a `FaultProxy`. Out: a row of the table. Reads the process's own counters.
"""

from __future__ import annotations

import asyncio
import gc
import random
import resource
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.faults.messages import WRONG_MESSAGES, frame
from benchmarks.faults.proxy import KINDS, Fault, FaultProxy
from benchmarks.faults.table import Family, Row, Setting
from benchmarks.faults.world import CALLS, World, settled, shared_world
from memoria import GraphRetriever
from memoria.errors import MemoriaError

# Calls of one try; the first try is not measured, as caches fill.
_CALLS, _QUICK_CALLS = 60, 10
_RECALLS, _QUICK_RECALLS, _AT_ONCE = 1_000, 4, 4
_MB = 1 << 20
_MOST_MB = 24.0
_SAME = f"no more open files, tasks or threads; memory grows by at most {_MOST_MB:g} MB"
_MOST_MESSAGES = 30
_WAIT_S = 0.05
_MOST_THREADS = 32  # of a loop, by its own limit


@dataclass(frozen=True, slots=True)
class Size:
    """What a process has: open files, tasks, threads, and memory in MB."""

    files: int
    tasks: int
    threads: int
    memory_mb: float

    @classmethod
    def now(cls) -> Size:
        """Count."""
        gc.collect()
        files = Path("/proc/self/fd")
        return cls(
            len(list(files.iterdir())) if files.is_dir() else 0,
            len(asyncio.all_tasks()),
            threading.active_count(),
            _memory() / _MB,
        )


def _memory() -> int:
    """Return the resident memory in bytes; its peak where the system tells no more."""
    status = Path("/proc/self/statm")
    if status.is_file():
        return int(status.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1_024


@dataclass(slots=True, kw_only=True)
class Soak:
    """One retriever for the whole time, and the size of the process after the first tries."""

    world: World
    proxy: FaultProxy
    memory: GraphRetriever
    quick: bool
    first: dict[str, Size] = field(default_factory=dict)


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Soak]:
    """Open one retriever behind a proxy."""
    # The loop starts its threads one by one, whenever all are busy: all of them before the count.
    await asyncio.gather(*(asyncio.to_thread(time.sleep, 0.1) for _ in range(_MOST_THREADS)))
    here = await shared_world(setting)
    with FaultProxy(setting.target) as proxy:
        async with here.attacked(proxy.target) as memory:
            await here.recalls_again(memory)
            yield Soak(world=here, proxy=proxy, memory=memory, quick=setting.quick)


async def _soaked(soak: Soak, rng: random.Random, _: int) -> str | None:
    """Make calls while faults come, and compare the size with that after the first try."""
    names = list(CALLS)
    for __ in range(_QUICK_CALLS if soak.quick else _CALLS):
        kind = rng.choice(KINDS)
        content = frame(WRONG_MESSAGES[rng.choice(sorted(WRONG_MESSAGES))])
        soak.proxy.arm(Fault(kind=kind, at=rng.randrange(_MOST_MESSAGES), content=content))
        call = asyncio.ensure_future(CALLS[rng.choice(names)](soak.memory, soak.world))
        if rng.random() < 0.1:
            await asyncio.sleep(rng.random() * 0.02)
            call.cancel()
        with suppress(MemoriaError, asyncio.CancelledError):
            await call
    soak.proxy.arm(None)
    if (wrong := await settled(soak.memory.store, soak.world.gone_s)) is not None:
        return wrong
    return await _is_as_first(soak, "soak")


async def _many_recalls(soak: Soak, rng: random.Random, _: int) -> str | None:
    """Recall, several at a time, and compare the size with that after the first try."""
    memory = soak.world.clean
    ahead = iter(range(_QUICK_RECALLS if soak.quick else _RECALLS))

    async def recall_on() -> str | None:
        for _ in ahead:
            query = f"Which oven burnt the buns of batch {rng.randrange(17)}?"
            recall = await memory.recall(query, deadline_s=60)
            if not recall.ranked:
                return "a recall found nothing"
        return None

    ended = await asyncio.gather(*(recall_on() for _ in range(_AT_ONCE)))
    return next(filter(None, ended), None) or await _is_as_first(soak, "many-recalls")


async def _is_as_first(soak: Soak, key: str) -> str | None:
    """Keep the size of the process after the first try of a row; compare later ones with it."""
    if key not in soak.first:
        soak.first[key] = Size.now()
        return None
    until = time.monotonic() + soak.world.gone_s  # the driver may still be closing a connection
    while True:
        wrong = _grown(soak, soak.first[key])
        if wrong is None or time.monotonic() > until:
            return wrong
        await asyncio.sleep(_WAIT_S)


def _grown(soak: Soak, first: Size) -> str | None:
    size = Size.now()
    pool = soak.memory.store.config.max_sessions
    if size.files > first.files + pool or size.threads > first.threads + 1:
        return f"grown from {first} to {size}"
    if size.tasks > first.tasks:
        works = sorted(getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks())
        return f"grown from {first.tasks} to {size.tasks} tasks: {', '.join(works)}"
    if size.memory_mb > first.memory_mb + _MOST_MB:
        return f"memory grown from {first.memory_mb:.0f} to {size.memory_mb:.0f} MB"
    return None


FAMILY = Family(
    name="soak",
    opened=opened,
    rows=(
        Row(
            key="soak",
            fault=f"{_CALLS} calls with random faults of the wire and cancellations, repeatedly "
            f"({_QUICK_CALLS} calls in a quick run)",
            expected=_SAME,
            quick=2,
            full=200,
            attempt=_soaked,
            least=2,
        ),
        Row(
            key="many-recalls",
            fault=f"{_RECALLS:,} recalls in one process, repeatedly ({_QUICK_RECALLS} in a quick "
            "run: they show files, tasks and threads, but are too few for the memory)",
            expected=_SAME,
            quick=2,
            full=20,
            attempt=_many_recalls,
            least=2,
            try_s=1_200.0,
        ),
    ),
)
