"""Clients that are killed or frozen while they write.

In: a server of its own. Out: attempts for rows of the table. Kills and stops processes that it has
started.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from benchmarks.environment import ROOT
from benchmarks.faults.journal import OPERATIONS, Journal, compare, enter
from benchmarks.faults.machine import Machine

# So long a client is left alone at most before it is killed or stopped, and stopped; seconds.
_LONGEST_S, _LONGEST_STOP_S = 1.0, 3.0
# Limit of each query of a client that is stopped: below the longest stop; seconds.
_LIMIT_S = 1.0
# A client that goes on has written again by then, on a busy machine too; seconds.
_AGAIN_S = 30.0
# A stopped client has nothing more to say after this time; seconds.
_NO_MORE_S = 0.1


async def killed(machine: Machine, rng: random.Random, number: int) -> str | None:
    """Kill a process that writes, and compare with what it said."""
    async with _client(machine, f"client-{number}") as (_, out):
        await _hear(out, machine.journal)  # it is at work
        await asyncio.sleep(rng.random() * _LONGEST_S)
    await asyncio.sleep(0.2)  # the server notices the closed socket, and ends what was under way
    return await compare(machine.noted, machine.journal)


async def frozen(machine: Machine, rng: random.Random, number: int) -> str | None:
    """Stop a process that writes; others write meanwhile, and it goes on afterwards."""
    name = f"frozen-{number}"
    async with _client(machine, name, str(_LIMIT_S)) as (client, out):
        await _hear(out, machine.journal)
        await asyncio.sleep(rng.random() * _LONGEST_S)
        _send(client, signal.SIGSTOP)
        try:
            for operation in OPERATIONS:
                failed = await enter(
                    machine.noted, machine.journal, operation, f"beside-{name}-{operation}"
                )
                if failed is not None:
                    return f"another client could not {operation}: {type(failed).__name__}"
            await asyncio.sleep(rng.random() * _LONGEST_STOP_S)
            await _hear_what_was_said(out, machine.journal)
        finally:
            _send(client, signal.SIGCONT)
        try:
            async with asyncio.timeout(_AGAIN_S):
                goes_on = await _writes_again(out, machine.journal)
        except TimeoutError:
            return f"it has not written again within {_AGAIN_S:g} s"
        if not goes_on:
            return f"it ended with {await client.wait()}"
    await asyncio.sleep(0.2)
    return await compare(machine.noted, machine.journal)


async def _hear_what_was_said(out: asyncio.StreamReader, journal: Journal) -> None:
    """Enter what a client has written, without waiting for more."""
    with suppress(TimeoutError):
        while True:
            async with asyncio.timeout(_NO_MORE_S):
                if not await _hear(out, journal):
                    return


async def _writes_again(out: asyncio.StreamReader, journal: Journal) -> bool:
    """Tell whether a client ends a write that it begins after this call, or ends itself."""
    begun: set[str] = set()
    while line := await _hear(out, journal):
        match line.split():
            case ["begin", _, name]:
                begun.add(name)
            case ["done", name] if name in begun:
                return True
    return False


@asynccontextmanager
async def _client(
    machine: Machine, seed: str, *limit_s: str
) -> AsyncIterator[tuple[Process, asyncio.StreamReader]]:
    """Start a process that writes; at the end kill it, and enter all that it has said."""
    user, password = machine.server.auth
    arguments = (machine.server.uri, user, machine.noted.scope, seed, *limit_s)
    client = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.faults.client", *arguments),
        cwd=ROOT,
        env={**os.environ, "MEMORIA_FAULTS_PASSWORD": password},
        stdout=asyncio.subprocess.PIPE,
    )
    assert client.stdout is not None
    try:
        yield client, client.stdout
    finally:
        _send(client, signal.SIGKILL)
        while await _hear(client.stdout, machine.journal):
            pass
        await client.wait()


def _send(client: Process, number: signal.Signals) -> None:
    """Send a signal; not by the methods of ``client``, which would take its exit code."""
    with suppress(ProcessLookupError):
        os.kill(client.pid, number)


async def _hear(out: asyncio.StreamReader, journal: Journal) -> str:
    """Enter the next line of a client, and return it; "" at its end."""
    line = (await out.readline()).decode()
    match line.split():
        case ["begin", operation, name]:
            journal.begun[name] = next(each for each in OPERATIONS if each == operation)
        case ["done", name]:
            journal.acknowledged.add(name)
    return line
