"""The first recalls of a server that has just started: with its plans warmed, and without.

    scripts/bench cold --starts 5

Starts a throw-away Neo4j again and again on the same data. Each start is followed by 20 recalls, as
soon as the server answers: by turns after `warm_plans`, and at once.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence

from benchmarks.environment import commit, load
from benchmarks.report.figures import percentile
from memoria import Memory, Relation
from memoria.embed import OnnxEmbedder
from memoria.errors import MemoriaError
from memoria.local import EphemeralNeo4j, LocalNeo4j
from memoria.recall.warming import warm_plans
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver

RECALLS = 20
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
    target: Target, embedder: OnnxEmbedder, *, warm: bool
) -> tuple[list[float], list[str], float]:
    """Return the times of the first recalls, their notes, and the time for warming; seconds."""
    async with open_driver(target) as driver:
        memory = GraphRetriever(Store(driver), scope=_SCOPE, embedder=embedder)
        began = time.perf_counter()
        if warm:
            await warm_plans(memory.store, scope=_SCOPE, config=memory.config)
        warming_s = time.perf_counter() - began
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
        return times, notes, warming_s


async def measure(server: EphemeralNeo4j, embedder: OnnxEmbedder, starts: int) -> None:
    """Restart, recall, and print."""
    target = Target(uri=server.uri, auth=server.auth)
    async with open_driver(target) as driver:
        patient = Store(driver).patient(60)
        await fill(GraphRetriever(patient, scope=_SCOPE, embedder=embedder))
    times: dict[bool, list[float]] = {False: [], True: []}
    notes: dict[bool, list[str]] = {False: [], True: []}
    warming: list[float] = []
    for number in range(2 * starts):
        warm = number % 2 == 1
        await server.restart()
        took, said, warming_s = await first_recalls(target, embedder, warm=warm)
        times[warm] += took
        notes[warm] += said
        if warm:
            warming.append(warming_s)
    print(f"commit {commit()}, load {load()}, {starts} starts each, {RECALLS} recalls after each")
    for warm, name in ((False, "at once"), (True, "plans warmed")):
        ms = [1_000 * each for each in times[warm]]
        print(
            f"{name}: p50 {percentile(ms, 50):.0f} ms, p99 {percentile(ms, 99):.0f} ms, "
            f"largest {max(ms):.0f} ms, {len(notes[warm])} degraded"
        )
        for note in sorted(set(notes[warm]))[:3]:
            print(f"  {note[:160]}")
    print(f"warming took {percentile(warming, 50):.1f} s (median)")


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
