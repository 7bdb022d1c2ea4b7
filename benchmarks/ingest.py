"""Measure how fast memories and edges are written, indexes online.

    scripts/bench ingest
    scripts/bench ingest --uri bolt://localhost:7687 --user neo4j --password-file FILE

Starts a throw-away Neo4j unless one is named. Writes into a scope of its own and forgets it at the
end. Applies the schema when it is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections.abc import Awaitable, Sequence
from uuid import uuid4

from benchmarks.server import add_server, opened
from memoria.graph.schema import apply_schema
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.types import Memory, Relation
from memoria.writer import GraphWriter

WORDS = [f"word{number}" for number in range(5_000)]


def make_memories(count: int, dimensions: int, rng: random.Random) -> list[Memory]:
    """Memories of about 20 words, three tags each; with vectors unless dimensions is 0."""
    return [
        Memory(
            id=f"m{number:07}",
            kind=rng.choice(DEFAULT_KINDS),
            text=" ".join(rng.choices(WORDS, k=20)),
            tags=rng.choices(WORDS[:200], k=3),
            embedding=[rng.gauss(0, 1) for _ in range(dimensions)] or None,
        )
        for number in range(count)
    ]


async def measure(name: str, count: int, work: Awaitable[object]) -> None:
    """Print the rate of one piece of work."""
    started = time.perf_counter()
    await work
    seconds = time.perf_counter() - started
    print(f"{name:<34}{count:>8} in {seconds:6.2f} s = {count / seconds:>8.0f} /s")


async def run(options: argparse.Namespace) -> None:
    """Run all measurements."""
    rng = random.Random(7)  # noqa: S311  # test data
    plain = make_memories(options.memories, 0, rng)
    with_vectors = make_memories(options.vectors, 384, rng)
    edges = [
        Relation(source=a.id, target=b.id, weight=rng.uniform(0.25, 1), tags=a.tags)
        for a, b in (rng.sample(plain, 2) for _ in range(options.edges))
    ]
    config = StoreConfig(query_timeout_s=120.0)
    async with opened(options, config) as driver:
        store = Store(driver, database=options.database, config=config)
        await apply_schema(store)
        scopes = [f"bench-{uuid4().hex}" for _ in range(2)]
        size = options.batch_size
        writers = [GraphWriter(store, scope=scope, batch_size=size) for scope in scopes]
        for name in ("first time", "again"):
            await measure(f"memories, no vectors, {name}", len(plain), writers[0].write(plain))
            await measure(
                f"memories, 384-d vectors, {name}",
                len(with_vectors),
                writers[1].write(with_vectors),
            )
            await measure(f"edges, {name}", len(edges), writers[0].write([], edges))
        await measure("forget", len(plain), writers[0].forget(m.id for m in plain))
        await writers[1].forget(m.id for m in with_vectors)


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(prog="scripts/bench ingest", description=__doc__)
    add_server(parser)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--vectors", type=int, default=5_000)
    parser.add_argument("--edges", type=int, default=60_000)
    parser.add_argument("--batch-size", type=int, default=1_000)
    asyncio.run(run(parser.parse_args(arguments)))
