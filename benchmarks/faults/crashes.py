"""Faults of processes: the server is killed or frozen, and so is the client.

In: a server of its own, whose data stay. Out: rows of the table. Kills and stops processes that it
has started.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import time
from dataclasses import replace

from benchmarks.faults import clients
from benchmarks.faults.journal import OPERATIONS, compare, enter
from benchmarks.faults.machine import Machine, opened
from benchmarks.faults.table import Family, Row
from benchmarks.faults.world import CALLS, QUERY_S, SEEDS, World, settled
from memoria import GraphRetriever
from memoria.errors import MemoriaError
from memoria.store.config import StoreConfig

_WRITERS, _READERS = 4, 2
# So long a writer is left alone at most before the kill; seconds.
_LONGEST_S = 1.0
_EACH_CALL = 3
# Processes that do nothing but use the processor, in every other try with a frozen server.
_BUSY = 4
_HANG_S = 30.0
# Every call has a session at once: a call's own limit counts from its turn.
_WITHOUT_LINE = StoreConfig(query_timeout_s=QUERY_S, connect_timeout_s=QUERY_S, max_sessions=500)
_KEPT = "nothing acknowledged is lost, nothing half written, learning applied once"


async def _server_killed(machine: Machine, rng: random.Random, number: int) -> str | None:
    """Kill the server while several tasks write and read, start it again, and compare."""
    async with machine.world.attacked() as memory:
        tasks = [
            asyncio.create_task(_write_on(memory, machine, f"{number}-{writer}", rng))
            for writer in range(_WRITERS)
        ]
        tasks += [asyncio.create_task(_read_on(memory, machine)) for _ in range(_READERS)]
        await asyncio.sleep(rng.random() * _LONGEST_S)
        os.kill(machine.server.pid, signal.SIGKILL)
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        await machine.server.restart()
        for each in ended:
            if isinstance(each, str):
                return each
            if not isinstance(each, MemoriaError):
                return f"untyped {type(each).__name__}: {each}"
        wrong = await settled(memory.store, machine.world.gone_s)
    return wrong or await compare(machine.noted, machine.journal)


async def _write_on(
    memory: GraphRetriever, machine: Machine, name: str, rng: random.Random
) -> MemoriaError | str:
    """Write until a write fails, and return why."""
    noted = memory.for_scope(machine.noted.scope)
    number = 0
    while True:
        number += 1
        operation = rng.choice(OPERATIONS)
        failed = await enter(noted, machine.journal, operation, f"{name}-{number}")
        if failed is not None:
            return failed


async def _read_on(memory: GraphRetriever, machine: Machine) -> MemoriaError | str:
    """Stream paths until a stream fails, and return why; each that came is right, or is marked."""
    while True:
        try:
            async with memory.stream_paths(SEEDS) as paths:
                async for path in paths:
                    known = machine.paths.get(path.ids)
                    if path.end_reason != "truncated" and (
                        known is None or path not in (known, replace(known, memories=()))
                    ):
                        return "a stream delivered a path that is neither right nor marked"
        except MemoriaError as exc:
            return exc


async def _server_frozen(machine: Machine, rng: random.Random, number: int) -> str | None:
    """Stop the server while every call is under way; each must end within its limit."""
    here = machine.world
    burning = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", "while True: pass")
        for _ in range(_BUSY if number % 2 else 0)
    ]
    try:
        async with here.attacked(config=_WITHOUT_LINE) as memory:
            await here.recalls_again(memory)
            tasks = [
                asyncio.create_task(_timed(name, memory, here))
                for name in CALLS
                for _ in range(_EACH_CALL)
            ]
            await asyncio.sleep(rng.random() * 0.2)
            os.kill(machine.server.pid, signal.SIGSTOP)
            stopped = time.monotonic()
            _, waiting = await asyncio.wait(tasks, timeout=_HANG_S)
            os.kill(machine.server.pid, signal.SIGCONT)
            ended = await asyncio.gather(*tasks)
            if waiting:
                return f"{len(waiting)} calls still wait after {_HANG_S:g} s"
            for name, when, wrong in ended:
                if wrong:
                    return f"{name}: {wrong}"
                if when - stopped > here.limit_s:
                    return f"{name} ended {when - stopped:.2f} s after the stop"
            left = await settled(memory.store, here.gone_s)
    finally:
        for each in burning:
            each.kill()
            await each.wait()
    return left or await here.is_well()


async def _timed(name: str, memory: GraphRetriever, here: World) -> tuple[str, float, str]:
    """Make a call; return when it ended, and what was wrong with its error."""
    wrong = ""
    try:
        await CALLS[name](memory, here)
    except MemoriaError:
        pass
    except Exception as exc:  # noqa: BLE001 - an error that is not memoria's is a failure
        wrong = f"untyped {type(exc).__name__}: {exc}"
    return name, time.monotonic(), wrong


FAMILY = Family(
    name="crashes",
    opened=opened,
    rows=(
        Row(
            key="server-frozen",
            fault="the server is stopped (SIGSTOP) while all calls are under way, each 3 times, "
            "none of which waits for a session; in every other try the machine is busy",
            expected="every call ends within its limit + 0.5 s; the next recall is right",
            quick=4,
            full=200,
            attempt=_server_frozen,
            least=2,
        ),
        Row(
            key="client-killed",
            fault="a client that writes, remembers and learns is killed (kill -9)",
            expected=_KEPT,
            quick=2,
            full=200,
            attempt=clients.killed,
        ),
        Row(
            key="client-frozen",
            fault="a client that writes, remembers and learns is stopped (SIGSTOP) for up to 3 s",
            expected=f"others write meanwhile, and it goes on; {_KEPT}",
            quick=2,
            full=200,
            attempt=clients.frozen,
        ),
        Row(
            key="server-killed",
            fault="the server is killed (kill -9) under four writers and two streams, and started "
            "again",
            expected=f"paths that came are right; {_KEPT}",
            quick=1,
            full=200,
            attempt=_server_killed,
        ),
    ),
)
