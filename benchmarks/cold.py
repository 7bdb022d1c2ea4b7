"""The first recalls of a server that has just started: its plans warmed before, meanwhile, or not.

    scripts/bench cold --starts 5

Starts a throw-away Neo4j again and again on the same data. Each start is followed by 20 recalls, as
soon as the server answers: by turns at once, while the plans are warmed, and after that.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack

from benchmarks.environment import commit, load
from benchmarks.report.figures import percentile
from memoria import Memory, Relation
from memoria.embed import OnnxEmbedder
from memoria.errors import MemoriaError
from memoria.local import EphemeralNeo4j, LocalNeo4j
from memoria.recall.warming import warm_plans, warming
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver

RECALLS = 20
AT_ONCE, MEANWHILE, AFTER = "at once", "while plans are warmed", "after plans were warmed"
WAYS = (AT_ONCE, MEANWHILE, AFTER)
MOST_STARTS = 50
_SCOPE = "cold"
_MEMORIES = 500
_DEADLINE_S = 10.0


async def fill(memory: GraphRetriever) -> None:
    """Write a chain of memories."""
    memories = [
        Memory(id=f"m{number}", kind="Event", text=f"Batch {number} of the buns came out late.")
        for number in range(_MEMORIES)
    ]
    edges = [
        Relation(source=f"m{number // 2}", target=f"m{number}", relation="before", weight=0.9)
        for number in range(1, _MEMORIES)
    ]
    await memory.writer().write(memories, edges)


async def first_recalls(
    target: Target, embedder: OnnxEmbedder, way: str
) -> tuple[list[float], list[str]]:
    """Return the times of the first recalls, in seconds, and their notes."""
    async with open_driver(target) as driver, AsyncExitStack() as stack:
        memory = GraphRetriever(Store(driver), scope=_SCOPE, embedder=embedder)
        if way == AFTER:
            await warm_plans(memory.store, scope=_SCOPE, config=memory.config)
        elif way == MEANWHILE:
            await stack.enter_async_context(
                warming(memory.store, scope=_SCOPE, config=memory.config)
            )
        times: list[float] = []
        notes: list[str] = []
        for number in range(RECALLS):
            started = time.perf_counter()
            try:
                found = await memory.recall(f"batch {number} late", deadline_s=_DEADLINE_S)
                notes += found.trace.degraded
            except MemoriaError as exc:
                notes.append(str(exc))
            times.append(time.perf_counter() - started)
        return times, notes


async def measure(server: EphemeralNeo4j, embedder: OnnxEmbedder, starts: int) -> None:
    """Restart, recall, and print."""
    target = Target(uri=server.uri, auth=server.auth)
    async with open_driver(target) as driver:
        patient = Store(driver).patient(60)
        await fill(GraphRetriever(patient, scope=_SCOPE, embedder=embedder))
    times: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    notes: dict[str, list[str]] = {way: [] for way in WAYS}
    for number in range(len(WAYS) * starts):
        way = WAYS[number % len(WAYS)]
        await server.restart()
        took, said = await first_recalls(target, embedder, way)
        times[way].append([1_000 * each for each in took])
        notes[way] += said
    print(f"commit {commit()}, load {load()}, {starts} starts each, {RECALLS} recalls after each")
    for way in WAYS:
        ms = [each for run in times[way] for each in run]
        first = percentile([run[0] for run in times[way]], 50)
        print(
            f"{way}: first {first:.0f} ms (median), all p50 {percentile(ms, 50):.0f} ms, "
            f"p99 {percentile(ms, 99):.0f} ms, {len(notes[way])} degraded"
        )
        for note in sorted(set(notes[way]))[:3]:
            print(f"  {note[:160]}")


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(prog="scripts/bench cold", description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=5, help="starts of the server, of each kind")
    options = parser.parse_args(arguments)
    if not 1 <= options.starts <= MOST_STARTS:
        parser.error(f"--starts must be from 1 to {MOST_STARTS}")
    asyncio.run(_run(options.starts))


async def _run(starts: int) -> None:
    embedder = OnnxEmbedder()
    await embedder.load()
    async with LocalNeo4j.ephemeral() as server:
        await measure(server, embedder, starts)
