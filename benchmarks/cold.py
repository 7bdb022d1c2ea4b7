"""The first recalls of a server that has just started: its plans warmed before, meanwhile, or not.

    scripts/bench cold --starts 5
    scripts/bench cold --busy 0 8 20

Starts a throw-away Neo4j again and again on the same data. Each start is followed by 20 recalls, as
soon as the server answers: by turns at once, while the plans are warmed, and after that.

With --busy it does as a new user does, in a folder of its own: `memoria up`, some memories, and 20
recalls with default settings. Then, next to each number of processes that never rest: `memoria
down`, `memoria up`, and 20 recalls, in three minutes at most. Fails if a recall ends in an error,
and if that time is not enough.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import memoria
from benchmarks.environment import commit, load
from benchmarks.report.figures import percentile
from memoria import Memory, Relation
from memoria._support.home import default_home
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
_BUSY_MEMORIES = 60
_BUSY_S = 180.0
_PATIENT = memoria.StoreConfig(query_timeout_s=_BUSY_S)


async def fill(memory: GraphRetriever, count: int = _MEMORIES) -> None:
    """Write a chain of memories."""
    memories = [
        Memory(id=f"m{number}", kind="Event", text=f"Batch {number} of the buns came out late.")
        for number in range(count)
    ]
    edges = [
        Relation(source=f"m{number // 2}", target=f"m{number}", relation="before", weight=0.9)
        for number in range(1, count)
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


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many processes at work."""
    line = [sys.executable, "-c", "while True: pass"]
    working = [subprocess.Popen(line) for _ in range(count)]  # noqa: S603
    try:
        yield
    finally:
        for one in working:
            one.kill()
        for one in working:
            one.wait()


async def local(command: str, home: Path) -> None:
    """Run `memoria up` or `memoria down`."""
    line = [sys.executable, "-m", "memoria", command]
    environment = {**os.environ, "MEMORIA_HOME": str(home)}
    started = await asyncio.create_subprocess_exec(
        *line, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        if await started.wait():
            raise SystemExit(f"memoria {command} failed")
    finally:
        if started.returncode is None:  # the time is over
            started.terminate()
            await started.wait()


async def twenty(server: LocalNeo4j, embedder: OnnxEmbedder, name: str, failed: list[str]) -> None:
    """Recall with default settings, print the times, and add each error to ``failed``."""
    times: list[float] = []
    notes: list[str] = []
    before = len(failed)
    try:
        async with memoria.connect(
            server.uri, server.auth, scope=_SCOPE, embedder=embedder
        ) as memory:
            for number in range(RECALLS):
                started = time.perf_counter()
                try:
                    found = await memory.recall(f"Was batch {number} late?")
                    notes += ["; ".join(found.trace.degraded)] if found.trace.degraded else []
                except MemoriaError as exc:
                    failed.append(str(exc))
                times.append(1_000 * (time.perf_counter() - started))
    except MemoriaError as exc:
        failed.append(str(exc))
    finally:
        if times:
            p50, p95 = percentile(times, 50), percentile(times, 95)
            figures = f"{times[0]:.0f} | {p50:.0f} | {p95:.0f} | {max(times):.0f}"
            print(f"| {name} | {len(times)} | {figures} | {len(notes)} | {len(failed) - before} |")
        for note in sorted({*notes, *failed[before:]})[:3]:
            print(f"  {note[:160]}", flush=True)


async def restarted(
    server: LocalNeo4j, embedder: OnnxEmbedder, count: int, failed: list[str]
) -> None:
    """Start a server next to so many busy processes; add each error to ``failed``."""
    with busy(count):
        try:
            async with asyncio.timeout(_BUSY_S):
                await local("up", server.home)
                await twenty(server, embedder, f"{count} busy, down and up", failed)
        except TimeoutError:
            failed.append(f"not done after {_BUSY_S:g} s")
            print(f"  {count} busy: {failed[-1]}", flush=True)
    await local("down", server.home)


async def first_days(counts: Sequence[int]) -> None:
    """Do as a new user does; then start the server again, next to each number of processes."""
    embedder = OnnxEmbedder()
    await embedder.load()
    print(f"commit {commit()}, load before {load()}")
    print("| | recalls | first, ms | p50, ms | p95, ms | longest, ms | degraded | errors |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    failed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "models").symlink_to(default_home() / "models")
        server = LocalNeo4j(Path(folder))
        try:
            await local("up", server.home)
            async with memoria.connect(
                server.uri, server.auth, scope=_SCOPE, embedder=embedder, store=_PATIENT
            ) as memory:
                await memoria.apply_schema(memory.store, embedder=embedder)
                await fill(memory, _BUSY_MEMORIES)
            await twenty(server, embedder, "first up", failed)
            await local("down", server.home)
            for count in counts:
                await restarted(server, embedder, count, failed)
        finally:
            await server.stop()
    if failed:
        raise SystemExit(f"{len(failed)} recalls or starts failed")


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(prog="scripts/bench cold", description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=5, help="starts of the server, of each kind")
    parser.add_argument("--busy", type=int, nargs="+", help="processes that never rest")
    options = parser.parse_args(arguments)
    if options.busy is not None:
        asyncio.run(first_days(options.busy))
        return
    if not 1 <= options.starts <= MOST_STARTS:
        parser.error(f"--starts must be from 1 to {MOST_STARTS}")
    asyncio.run(_run(options.starts))


async def _run(starts: int) -> None:
    embedder = OnnxEmbedder()
    await embedder.load()
    async with LocalNeo4j.ephemeral() as server:
        await measure(server, embedder, starts)
