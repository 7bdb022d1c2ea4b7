"""What filters of memories cost a search: queries without one, and one that keeps a hundredth.

    scripts/bench filters
    scripts/bench filters --memories 100000

Starts a throw-away Neo4j unless one is named, and writes memories with made-up vectors. The same
questions are asked, in turns, of the queries as they are, of the queries without the conditions of
a filter, and with a filter. Without a filter the seeds must be the same.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any
from uuid import uuid4

import numpy as np

from benchmarks.conversations import texts, vocabulary
from benchmarks.server import add_server, opened, parser_of
from memoria import GraphRetriever, Memory, MemoryFilter
from memoria.embed import CallableEmbedder
from memoria.graph.schema import apply_schema
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.store.queries import load
from memoria.types import Seeds

DIMENSIONS = 384
CLUSTERS = 200
SEEDS = 5
WARM_UP = 20
#: The searches, whose hits a filter judges.
SEARCHES = ("seeds.vector_search", "seeds.text")
_CONDITIONS = re.compile(r"\s+AND \(\$p\.where\.plain OR coalesce\(.*?, false\)\)", re.DOTALL)


@contextmanager
def without_conditions() -> Iterator[None]:
    """Leave the conditions of a filter out of the searches."""
    queries = [load(name) for name in SEARCHES]
    before = [query.text for query in queries]
    try:
        for query, text in zip(queries, before, strict=True):
            shorter, count = _CONDITIONS.subn("", text)
            if count != 1:
                raise SystemExit(f"{query.name} has {count} conditions of a filter, not one")
            object.__setattr__(query, "text", shorter)
        yield
    finally:
        for query, text in zip(queries, before, strict=True):
            object.__setattr__(query, "text", text)


def made_up() -> Callable[[Sequence[str]], list[list[float]]]:
    """Return an embedder's function: vectors in clusters, made of the text alone."""
    centres = np.random.default_rng(7).normal(size=(CLUSTERS, DIMENSIONS))

    def embed(said: Sequence[str]) -> list[list[float]]:
        found = []
        for text in said:
            rng = np.random.default_rng(list(text.encode()))
            vector = centres[rng.integers(CLUSTERS)] + rng.normal(size=DIMENSIONS)
            found.append((vector / np.linalg.norm(vector)).tolist())
        return found

    return embed


async def asked(
    retriever: GraphRetriever, question: str, where: MemoryFilter | None
) -> tuple[float, Seeds]:
    """Return how long a search took, in ms, and what it found."""
    started = time.perf_counter()
    seeds = await retriever.find_seeds(question, where=where)
    return 1_000 * (time.perf_counter() - started), seeds


async def measure(retriever: GraphRetriever, questions: Sequence[str]) -> None:
    """Ask the questions in each way, in turns, and print the times."""
    kept = MemoryFilter(metadata={"hundredth": 0})
    ways: dict[str, tuple[Callable[[], Any], MemoryFilter | None]] = {
        "no conditions in the query": (without_conditions, None),
        "no filter": (nullcontext, None),
        "a filter that keeps 1 %": (nullcontext, kept),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    few = 0
    for number, question in enumerate(questions):
        found = {}
        names = [*ways][number % 3 :] + [*ways][: number % 3]
        for name in names:
            context, where = ways[name]
            with context():
                took_ms, found[name] = await asked(retriever, question, where)
            if number >= WARM_UP:
                times[name].append(took_ms)
        first, second, filtered = (found[name].seeds for name in ways)
        if first != second:
            raise SystemExit(f"other seeds without the conditions: {question}")
        few += len(filtered) < SEEDS
    report(times, few)


def report(times: dict[str, list[float]], few: int) -> None:
    """Print the times of each way, and their ratio to the first, question by question."""
    first, *_ = times.values()
    rng = np.random.default_rng(1)
    count = len(first)
    print(f"{count} questions, in turns; seeds without a filter equal; fewer than 5: {few}")
    print("| way | p50 ms | p95 ms | ratio of means (95 %) |\n|---|---|---|---|")
    for name, values in times.items():
        drawn = rng.integers(count, size=(1_000, count))
        ratios = np.array(values)[drawn].mean(axis=1) / np.array(first)[drawn].mean(axis=1)
        low, high = np.percentile(ratios, [2.5, 97.5])
        p50, p95 = np.percentile(values, [50, 95])
        ratio = np.mean(values) / np.mean(first)
        print(f"| {name} | {p50:.1f} | {p95:.1f} | {ratio:.2f} ({low:.2f} to {high:.2f}) |")


async def run(options: argparse.Namespace) -> None:
    """Write the memories, and measure."""
    rng = random.Random(7)  # noqa: S311  # test data
    words = vocabulary(rng)
    said = texts(rng, words, options.memories)
    questions = texts(rng, words, options.questions + WARM_UP)
    embedder = CallableEmbedder(made_up(), dimensions=DIMENSIONS, name="made-up")
    config = StoreConfig(query_timeout_s=120.0)
    async with opened(options, config) as driver:
        store = Store(driver, database=options.database, config=config)
        await apply_schema(store, embedder=embedder)
        retriever = GraphRetriever(store, scope=f"bench-{uuid4().hex}", embedder=embedder)
        await retriever.writer().write(
            Memory(id=f"m{n}", kind="Event", text=text, metadata={"hundredth": n % 100})
            for n, text in enumerate(said)
        )
        await measure(retriever, questions)


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = parser_of("filters", __doc__)
    add_server(parser)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=300)
    asyncio.run(run(parser.parse_args(arguments)))
