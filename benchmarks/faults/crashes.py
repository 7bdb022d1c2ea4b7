"""Faults of processes: the server is killed or frozen, and so is the client.

In: a server whose data stay. Out: rows of the table. Kills and stops processes that it
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
from benchmarks.faults.world import CALLS, QUERY_S, QUESTION, SEEDS, World, settled
from memoria import GraphRetriever
from memoria.errors import MemoriaError
from memoria.store.config import StoreConfig

_WRITERS, _READERS = 4, 2
# So long a writer is left alone at most before the kill; seconds.
_LONGEST_S = 1.0
_EACH_CALL, _QUICK_EACH_CALL = 3, 1
# Processes that do nothing but use the processor, in every other try with a frozen server.
_BUSY = 4
_HANG_S = 30.0
# Every call has a session at once: a call's own limit counts from its turn.
_WITHOUT_LINE = StoreConfig(
    query_timeout_s=QUERY_S,
    long_query_timeout_s=QUERY_S,
    connect_timeout_s=QUERY_S,
    max_sessions=500,
)
# Calls around one restart, the share of them that write, and limits that a restart exceeds.
_MANY_CALLS, _QUICK_CALLS = 2_000, 60
_WRITING = 0.6
_PATIENT = StoreConfig(query_timeout_s=5.0, long_query_timeout_s=5.0, connect_timeout_s=5.0)
_KEPT = "nothing acknowledged is lost, nothing is half written, learning is applied once"


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


async def _server_restarted(machine: Machine, rng: random.Random, number: int) -> str | None:
    """Restart the server amid calls that are made again and again, and compare."""
    calls = _QUICK_CALLS if machine.world.quick else _MANY_CALLS
    ahead = iter(range(calls))
    half = asyncio.Event()
    untyped: list[str] = []
    async with machine.world.attacked(config=_PATIENT) as memory:
        noted = memory.for_scope(machine.noted.scope)

        async def call_on() -> None:
            for place in ahead:
                if place == calls // 2:
                    half.set()
                failed = await _one_call(noted, machine, rng, f"restarted-{number}-{place}")
                if failed is not None and not isinstance(failed, MemoriaError):
                    untyped.append(f"untyped {type(failed).__name__}: {failed}")

        tasks = [asyncio.create_task(call_on()) for _ in range(2 * _WRITERS)]
        await half.wait()
        await machine.server.restart()
        await asyncio.gather(*tasks)
        wrong = await settled(memory.store, machine.world.gone_s)
    if untyped:
        return untyped[0]
    return wrong or await machine.world.is_well() or await compare(machine.noted, machine.journal)


async def _one_call(
    memory: GraphRetriever, machine: Machine, rng: random.Random, name: str
) -> Exception | None:
    """Write or read; return the error, if any."""
    if rng.random() < _WRITING:
        return await enter(memory, machine.journal, rng.choice(OPERATIONS), name)
    try:
        await memory.recall(QUESTION)
    except Exception as exc:  # noqa: BLE001 - an error that is not memoria's is a failure
        return exc
    return None


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
            times = _QUICK_EACH_CALL if here.quick else _EACH_CALL
            each_call = [name for name in CALLS for _ in range(times)]
            if not burning:  # every call has a connection, else most end while they open one
                await asyncio.gather(*(_timed(name, memory, here) for name in each_call))
            tasks = [
                asyncio.create_task(_timed(name, memory, here), name=name) for name in each_call
            ]
            await asyncio.sleep(rng.random() * 0.2)
            os.kill(machine.server.pid, signal.SIGSTOP)
            stopped = time.monotonic()
            _, waiting = await asyncio.wait(tasks, timeout=_HANG_S)
            os.kill(machine.server.pid, signal.SIGCONT)
            ended = await asyncio.gather(*tasks)
            if waiting:
                names = ", ".join(sorted(task.get_name() for task in waiting))
                return f"{len(waiting)} calls still wait after {_HANG_S:g} s: {names}"
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
            fault=f"the server is frozen (SIGSTOP) while every call runs {_EACH_CALL} times (once "
            "in a quick run), each with a session of its own; in every other try the machine is "
            "busy",
            expected="every call ends at most 0.5 s after its limit; the next recall is correct",
            quick=4,
            full=200,
            attempt=_server_frozen,
            least=2,
        ),
        Row(
            key="client-killed",
            fault="a client is killed (kill -9) while it writes, remembers and learns",
            expected=_KEPT,
            quick=2,
            full=200,
            attempt=clients.killed,
        ),
        Row(
            key="client-frozen",
            fault="a client is frozen (SIGSTOP) for up to 3 s while it writes, remembers and "
            "learns",
            expected=f"other clients can write, and it continues afterwards; {_KEPT}",
            quick=2,
            full=200,
            attempt=clients.frozen,
        ),
        Row(
            key="server-killed",
            fault="the server is killed (kill -9) while four writers and two streams use it, then "
            "restarted",
            expected=f"the paths delivered before are correct; {_KEPT}",
            quick=1,
            full=200,
            attempt=_server_killed,
        ),
        Row(
            key="server-restarted",
            fault=f"the server is restarted during {_MANY_CALLS:,} writes and recalls of eight "
            f"tasks ({_QUICK_CALLS} in a quick run)",
            expected=f"typed errors; the next recall is correct; {_KEPT}",
            quick=0,  # it takes a minute; server-killed is like it
            full=10,
            attempt=_server_restarted,
            try_s=600.0,
        ),
    ),
)
