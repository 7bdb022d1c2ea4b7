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
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

from benchmarks.environment import ROOT
from benchmarks.faults.journal import OPERATIONS, Journal, compare, enter, prepare
from benchmarks.faults.table import Family, Row, Setting
from benchmarks.faults.wire import LIMIT_S
from benchmarks.faults.world import CALLS, World, settled, world
from memoria import GraphRetriever
from memoria.errors import MemoriaError
from memoria.local import EphemeralNeo4j, LocalNeo4j
from memoria.store import Target

_WRITERS = 4
# So long a writer is left alone at most before the kill; seconds.
_LONGEST_S = 1.0
_EACH_CALL = 3
# Processes that do nothing but use the processor, in every other try with a frozen server.
_BUSY = 4
_HANG_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A server that may be killed, what stands in it, and a scope whose writes are noted."""

    server: EphemeralNeo4j
    world: World
    noted: GraphRetriever
    journal: Journal


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Machine]:
    """Start a server, and write what calls need."""
    rng = random.Random(setting.seed)
    async with LocalNeo4j.ephemeral() as server:
        target = Target(uri=server.uri, auth=server.auth)
        async with world(target, rng) as here:
            noted = here.clean.for_scope(f"noted-{uuid4().hex[:8]}")
            await prepare(noted)
            yield Machine(server=server, world=here, noted=noted, journal=Journal())


async def _server_killed(machine: Machine, rng: random.Random, number: int) -> str | None:
    """Kill the server while several tasks write, start it again, and compare."""
    async with machine.world.attacked() as memory:
        tasks = [
            asyncio.create_task(_write_on(memory, machine, f"{number}-{writer}", rng))
            for writer in range(_WRITERS)
        ]
        await asyncio.sleep(rng.random() * _LONGEST_S)
        os.kill(machine.server.pid, signal.SIGKILL)
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        for each in ended:
            if not isinstance(each, MemoriaError):
                return f"untyped {type(each).__name__}: {each}"
        await machine.server.restart()
        wrong = await settled(memory.store)
    return wrong or await compare(machine.noted, machine.journal)


async def _write_on(
    memory: GraphRetriever, machine: Machine, name: str, rng: random.Random
) -> MemoriaError:
    """Write until a write fails, and return why."""
    noted = memory.for_scope(machine.noted.scope)
    number = 0
    while True:
        number += 1
        operation = rng.choice(OPERATIONS)
        failed = await enter(noted, machine.journal, operation, f"{name}-{number}")
        if failed is not None:
            return failed


async def _client_killed(machine: Machine, rng: random.Random, number: int) -> str | None:
    """Kill a process that writes, and compare with what it said."""
    user, password = machine.server.auth
    arguments = (machine.server.uri, user, machine.noted.scope, f"client-{number}")
    client = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.faults.client", *arguments),
        cwd=ROOT,
        env={**os.environ, "MEMORIA_FAULTS_PASSWORD": password},
        stdout=asyncio.subprocess.PIPE,
    )
    assert client.stdout is not None
    lines = [await client.stdout.readline()]  # it is at work
    await asyncio.sleep(rng.random() * _LONGEST_S)
    client.kill()
    lines += (await client.stdout.read()).splitlines()
    await client.wait()
    for line in lines:
        match line.decode().split():
            case ["begin", operation, name]:
                known = next(each for each in OPERATIONS if each == operation)
                machine.journal.begun[name] = known
            case ["done", name]:
                machine.journal.acknowledged.add(name)
    await asyncio.sleep(0.2)  # the server notices the closed socket, and ends what was under way
    return await compare(machine.noted, machine.journal)


async def _server_frozen(machine: Machine, rng: random.Random, number: int) -> str | None:
    """Stop the server while every call is under way; each must end within its limit."""
    here = machine.world
    burning = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", "while True: pass")
        for _ in range(_BUSY if number % 2 else 0)
    ]
    try:
        async with here.attacked() as memory:
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
                if when - stopped > LIMIT_S:
                    return f"{name} ended {when - stopped:.2f} s after the stop"
            left = await settled(memory.store)
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
            fault="the server is stopped (SIGSTOP) while all calls are under way, each 3 times; "
            "in every other try the machine is busy",
            expected="every call ends within its limit + 0.5 s; the next recall is right",
            quick=4,
            full=100,
            attempt=_server_frozen,
        ),
        Row(
            key="client-killed",
            fault="a client that writes, remembers and learns is killed (kill -9)",
            expected="nothing acknowledged is lost, nothing half written, learning applied once",
            quick=2,
            full=200,
            attempt=_client_killed,
        ),
        Row(
            key="server-killed",
            fault="the server is killed (kill -9) under four writers, and started again",
            expected="nothing acknowledged is lost, nothing half written, learning applied once",
            quick=1,
            full=200,
            attempt=_server_killed,
        ),
    ),
)
