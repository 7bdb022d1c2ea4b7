"""Measure the cost of reading two scopes in one recall, compared with one scope.

    scripts/bench scopes [--rounds 100]

Starts a throw-away Neo4j with the sample memory in two scopes. The same questions are asked of one
scope and of both, in turn, with an embedder that remembers the vectors of questions: a recall
embeds its question once, however many scopes it reads. Prints Markdown: wall time, and the
processor time of this process and of the server, which other programs on the machine change less.
A pair in which a recall was cut short by its deadline is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence

import psutil

import memoria
from memoria.evaluation.sample import QUESTIONS, sample_path
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j

SCOPES = ("alice", "team")
WARM_UP = 60
DEADLINE_S = 60.0
TARGET = 1.3


class Clock:
    """Wall and processor time, of this process and of the server."""

    def __init__(self, server_id: int) -> None:
        self._server = psutil.Process(server_id)

    def read(self) -> tuple[float, float]:
        """Return both in seconds."""
        times = self._server.cpu_times()
        return time.perf_counter(), time.process_time() + times.user + times.system


async def measure(memory: memoria.GraphRetriever, clock: Clock, rounds: int) -> None:
    """Ask one scope and both in turn, and print the times."""
    layered = memory.for_scope(SCOPES[0], also_read=SCOPES[1:])
    taken: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    cut_short = 0
    for number in range(WARM_UP + rounds):
        question = QUESTIONS[number % len(QUESTIONS)].text
        pair: dict[int, tuple[float, float]] = {}
        for count in (1, 2) if number % 2 else (2, 1):
            asked = memory if count == 1 else layered
            before = clock.read()
            recall = await asked.recall(question, deadline_s=DEADLINE_S)
            after = clock.read()
            if not recall.trace.degraded:
                pair[count] = (after[0] - before[0], after[1] - before[1])
        if number >= WARM_UP and len(pair) < len(taken):
            cut_short += 1
        elif number >= WARM_UP:
            for count, times in pair.items():
                taken[count].append(times)
    print("| | one scope, ms | two scopes, ms | ratio |\n|---|---|---|---|")
    one, two = (list(zip(*taken[count], strict=True)) for count in (1, 2))
    wall = [1_000 * statistics.median(times[0]) for times in (one, two)]
    ratio = statistics.median(b / a for a, b in zip(one[0], two[0], strict=True))
    print(f"| wall time, p50 | {wall[0]:.1f} | {wall[1]:.1f} | {ratio:.2f} |")
    # The clock of the server is too coarse for one recall.
    used = [1_000 * statistics.mean(times[1]) for times in (one, two)]
    print(f"| processor, mean | {used[0]:.1f} | {used[1]:.1f} | {used[1] / used[0]:.2f} |")
    print(f"\n{len(one[0])} recalls each ({cut_short} pairs cut short); the target is {TARGET}")


async def run(options: argparse.Namespace) -> None:
    """Fill a server, and measure."""
    embedder = memoria.CachedEmbedder(memoria.OnnxEmbedder())
    store = memoria.StoreConfig(query_timeout_s=DEADLINE_S)
    async with LocalNeo4j.ephemeral() as server:
        where = (server.uri, server.auth)
        async with memoria.connect(
            *where, scope=SCOPES[0], embedder=embedder, store=store
        ) as memory:
            for scope in SCOPES:
                await ingest_files(memory.for_scope(scope).writer(), [sample_path()])
            await measure(memory, Clock(server.pid), options.rounds)


def main(arguments: Sequence[str]) -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(prog="scripts/bench scopes", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    asyncio.run(run(parser.parse_args(arguments)))
