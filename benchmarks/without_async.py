"""Measure what `memoria.sync` costs: recalls through it and through the async calls, in turn.

    scripts/bench sync [--recalls 300] [--bursts 10]

Starts a throw-away Neo4j with the sample memory. Both ways run in this process, on the same server,
with a connection of their own, and their results must be equal. Prints Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import memoria
import memoria.sync
from memoria.evaluation.sample import QUESTIONS, sample_path
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j
from memoria.types import Recall

SCOPE = "sample"
AT_ONCE = 50
WARM_UP = 30
FIRST = 3  # rounds that are not counted
EMPTY_CALLS = 5_000
DEADLINE_S = 60.0

# Two ways to the same answers.
Ways = tuple[Callable[[], Awaitable[list[Recall]]], Callable[[], list[Recall]]]


class Asked:
    """The same questions, asked with async and without."""

    def __init__(self, tasks: memoria.GraphRetriever, threads: memoria.sync.GraphRetriever) -> None:
        self.tasks = tasks
        self.threads = threads

    def one(self, number: int) -> Ways:
        """One recall."""
        question = QUESTIONS[number % len(QUESTIONS)].text

        async def recall() -> list[Recall]:
            return [await self.tasks.recall(question, deadline_s=DEADLINE_S)]

        return recall, lambda: [self.threads.recall(question, deadline_s=DEADLINE_S)]

    def streamed(self, number: int) -> Ways:
        """One recall whose paths are taken one by one."""
        question = QUESTIONS[number % len(QUESTIONS)].text

        async def recall() -> list[Recall]:
            stream = self.tasks.recall_stream(question, deadline_s=DEADLINE_S)
            async for _ in stream:
                pass
            return [stream.result]

        def recall_without() -> list[Recall]:
            stream = self.threads.recall_stream(question, deadline_s=DEADLINE_S)
            for _ in stream:
                pass
            return [stream.result]

        return recall, recall_without

    def many(self, _: int) -> Ways:
        """As many recalls at once, of tasks and of threads."""
        questions = [QUESTIONS[each % len(QUESTIONS)].text for each in range(AT_ONCE)]

        async def recall() -> list[Recall]:
            calls = (self.tasks.recall(each, deadline_s=DEADLINE_S) for each in questions)
            return await asyncio.gather(*calls)

        def recall_without() -> list[Recall]:
            together = threading.Barrier(AT_ONCE)

            def ask(question: str) -> Recall:
                together.wait()
                return self.threads.recall(question, deadline_s=DEADLINE_S)

            with ThreadPoolExecutor(AT_ONCE) as pool:
                return list(pool.map(ask, questions))

        return recall, recall_without


async def compare(name: str, ways_of: Callable[[int], Ways], rounds: int) -> None:
    """Time both ways in turn, compare their results, and print a row."""
    with_s: list[float] = []
    without_s: list[float] = []
    for number in range(FIRST + rounds):
        tasks, threads = ways_of(number)
        for turn in (number % 2, 1 - number % 2):
            started = time.perf_counter()
            if turn:
                got = threads()
            else:
                expected = await tasks()
            (without_s if turn else with_s).append(time.perf_counter() - started)
        if [(each.ranked, each.context) for each in got] != [
            (each.ranked, each.context) for each in expected
        ]:
            raise SystemExit(f"results differ: {name}")
    pairs = list(zip(with_s, without_s, strict=True))[FIRST:]
    ratio = statistics.median(b / a for a, b in pairs)
    cells = [1_000 * statistics.median(column) for column in zip(*pairs, strict=True)]
    print(f"| {name} | {rounds} | {cells[0]:.1f} | {cells[1]:.1f} | {ratio:.2f} |", flush=True)


def print_hop(threads: memoria.sync.GraphRetriever) -> None:
    """Time the way into the other thread and back: calls that do nothing there."""

    async def nothing(_: memoria.Store) -> None:
        return None

    call, store = memoria.sync.blocking(nothing), threads.store
    times_s: list[float] = []
    for _ in range(EMPTY_CALLS):
        started = time.perf_counter()
        call(store)
        times_s.append(time.perf_counter() - started)
    print(f"\nan empty call: p50 {1e6 * statistics.median(times_s):.0f} µs")


async def run(options: argparse.Namespace) -> None:
    """Fill a server, and compare one by one, streamed, and many at once."""
    one, other = (memoria.CachedEmbedder(memoria.OnnxEmbedder()) for _ in range(2))
    async with LocalNeo4j.ephemeral() as server:
        where = (server.uri, server.auth)
        store = memoria.StoreConfig(query_timeout_s=DEADLINE_S)
        async with memoria.connect(*where, scope=SCOPE, embedder=one, store=store) as tasks:
            await ingest_files(tasks.writer(), [sample_path()])
            with memoria.sync.connect(*where, scope=SCOPE, embedder=other, store=store) as threads:
                asked = Asked(tasks, threads)
                for number in range(WARM_UP):  # the server plans and compiles its queries
                    await asked.one(number)[0]()
                    asked.one(number)[1]()
                print("| | rounds | async, ms | without async, ms | ratio, median of pairs |")
                print("|---|---|---|---|---|")
                await compare("one recall", asked.one, options.recalls)
                await compare("one recall, streamed", asked.streamed, options.recalls)
                await compare(f"{AT_ONCE} recalls at once", asked.many, options.bursts)
                print_hop(threads)


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(prog="scripts/bench sync", description=__doc__)
    parser.add_argument("--recalls", type=int, default=300)
    parser.add_argument("--bursts", type=int, default=10)
    asyncio.run(run(parser.parse_args(arguments)))
