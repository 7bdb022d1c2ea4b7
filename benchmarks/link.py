"""Measure how fast memories link themselves through the vector index, and how good that is.

    scripts/bench link
    scripts/bench link --uri bolt://localhost:7687 --user neo4j --password-file FILE

Starts a throw-away Neo4j unless one is named. Fills a scope of its own with clustered vectors,
links a sample of it by each linker in turn, and forgets it at the end. Applies the schema when it
is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from benchmarks.server import add_server, opened
from memoria.formulas.edge_score import MIN_COSINE, category_match, composite_score, jaccard
from memoria.graph.schema import apply_schema
from memoria.learn.link import CompositeLinkConfig, LinkConfig, Linker, SimilarityLinkConfig
from memoria.learn.link.nearest import NearestRequest, find_nearest
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.types import Memory
from memoria.writer import GraphWriter

DIMENSIONS = 384
CLUSTER_SIZE = 50
CANDIDATES = 50
SAMPLE = 100
STEP = 1_000
CONFIGS: dict[str, LinkConfig] = {
    "composite": CompositeLinkConfig(),
    "similarity": SimilarityLinkConfig(),
}

Vectors = NDArray[np.float64]


def make_vectors(count: int, rng: np.random.Generator) -> Vectors:
    """Clusters of about 50, in a few broad directions: cosines from about 0.2 to 0.7."""
    broad = rng.normal(size=(8, DIMENSIONS))
    centres = rng.normal(size=(max(1, count // CLUSTER_SIZE), DIMENSIONS))
    centres += broad[rng.integers(len(broad), size=len(centres))] * 0.8
    return centres[rng.integers(len(centres), size=count)] + rng.normal(
        size=(count, DIMENSIONS), scale=0.9
    )


def make_memories(vectors: Vectors, rng: np.random.Generator) -> list[Memory]:
    """Memories with three tags of 200, a category of four, a topic of 500."""
    return [
        Memory(
            id=f"m{number:07}",
            kind="Event",
            text=f"memory number {number}",
            tags=[f"tag{tag}" for tag in rng.integers(200, size=3)],
            category=f"category{rng.integers(4)}",
            topics=[f"topic{rng.integers(500)}"],
            embedding=vector.tolist(),
        )
        for number, vector in enumerate(vectors)
    ]


async def compare(store: Store, scope: str, vectors: Vectors, memories: list[Memory]) -> None:
    """Print what the index misses of the nearest 50, and what they miss of the best edges."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    request = NearestRequest(scope=scope, candidates=CANDIDATES, dialect="search")
    found = await find_nearest(store, [memory.id for memory in memories[:SAMPLE]], request)
    near, kept, best = 0, 0, 0
    for number in range(SAMPLE):
        cosines = unit @ unit[number]
        hits = {id_ for id_, _ in found[memories[number].id]}
        nearest = np.argsort(-cosines)[1 : CANDIDATES + 1]
        near += sum(memories[i].id in hits for i in nearest)
        one = memories[number]
        scores = {
            memories[i].id: composite_score(
                cosines[i],
                tags=jaccard(one.tags, memories[i].tags),
                category=category_match(one.category, memories[i].category),
                temporal=1.0,
            )
            for i in np.flatnonzero(cosines >= MIN_COSINE)
            if i != number
        }
        top = sorted((id_ for id_ in scores if scores[id_] >= 0.40), key=lambda id_: -scores[id_])
        kept += len(hits.intersection(top[:5]))
        best += len(top[:5])
    print(f"of the nearest {CANDIDATES} the index finds {near / (CANDIDATES * SAMPLE):.1%}; among")
    print(f"them are {kept / max(1, best):.1%} of the five best by composite score", flush=True)


async def measure(name: str, linker: Linker, ids: Sequence[str]) -> None:
    """Print the rate of linking some memories, by the thousand: the server compiles meanwhile."""
    for start in range(0, len(ids), STEP):
        started = time.perf_counter()
        report = await linker.link(ids[start : start + STEP])
        seconds = time.perf_counter() - started
        print(
            f"{name:<20}{report.memories:>7} in {seconds:6.2f} s = "
            f"{report.memories / seconds:>6.0f} /s; "
            f"{report.edges / max(1, report.memories):.2f} edges each, {report.edges_created} new",
            flush=True,
        )


async def run(options: argparse.Namespace) -> None:
    """Fill, link, compare with the truth, forget."""
    rng = np.random.default_rng(7)
    vectors = make_vectors(options.memories, rng)
    memories = make_memories(vectors, rng)
    chosen = rng.permutation(options.memories)
    parts = [chosen[start : start + options.sample] for start in (0, options.sample)]
    config = StoreConfig(query_timeout_s=120.0)
    async with opened(options, config) as driver:
        store = Store(driver, database=options.database, config=config)
        await apply_schema(store, dimensions=DIMENSIONS)
        scope = f"bench-{uuid4().hex}"
        writer = GraphWriter(store, scope=scope)
        started = time.perf_counter()
        await writer.write(memories)
        print(f"written: {options.memories} in {time.perf_counter() - started:.1f} s", flush=True)
        try:
            await compare(store, scope, vectors, memories)
            for (name, config_of), part in zip(CONFIGS.items(), parts, strict=True):
                linker = Linker(store, scope=scope, config=config_of)
                ids = [f"m{number:07}" for number in part]
                await measure(name, linker, ids)
                await measure(f"{name}, again", linker, ids)
                one = ids[:20]
                started = time.perf_counter()
                for id_ in one:
                    await linker.link([id_])
                print(f"{name}, one by one: {(time.perf_counter() - started) / 20 * 1000:.0f} ms")
        finally:
            await writer.forget(memory.id for memory in memories)


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(prog="scripts/bench link", description=__doc__)
    add_server(parser)
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--sample", type=int, default=2_000)
    asyncio.run(run(parser.parse_args(arguments)))
