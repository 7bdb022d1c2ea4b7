"""Explore a graph in the shape of Graphiti's, by mappings and as memoria's own graph.

    scripts/bench mapped-scale
    scripts/bench mapped-scale --edges 100000 1000000 --rounds 40

Starts a throw-away server for each size, or uses yours, and writes each edge twice: between
entities and episodes (`RELATES_TO` with a fact, `MENTIONS`), and between memories. Targets follow a
power law, so there are hubs. Each round takes five seeds by lot, and explores from them in each of
the three ways, in turns; the paths must be the same. Prints Markdown: medians, and ratios to
memoria's own graph.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

import neo4j

from benchmarks.server import add_server, opened
from memoria import GraphMapping, GraphRetriever
from memoria.graph.mapping import NodeMapping
from memoria.graph.schema import apply_schema
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.types import Seed

SEEDS = 5
_BATCH = 20_000
_NODES = """
UNWIND range($from, $to - 1) AS i
CREATE (m:Memory:Event {scope: $scope, id: $scope + i, text: 'memory ' + i})
CREATE (n:Thing {uuid: $scope + i, group_id: $scope, created_at: datetime()})
FOREACH (_ IN CASE WHEN i % 4 = 0 THEN [1] ELSE [] END |
  SET n:Episodic, n.content = 'memory ' + i, n.valid_at = datetime('2026-01-01'))
FOREACH (_ IN CASE WHEN i % 4 = 0 THEN [] ELSE [1] END | SET n:Entity, n.name = 'memory ' + i)
"""
_EDGES = """
UNWIND $edges AS edge
MATCH (a:Memory {scope: $scope, id: edge[0]}) MATCH (b:Memory {scope: $scope, id: edge[1]})
MATCH (x:Thing {uuid: edge[0]}) MATCH (y:Thing {uuid: edge[1]})
CREATE (a)-[:RELATES {weight: edge[2], relation: edge[3]}]->(b)
FOREACH (_ IN CASE WHEN edge[2] < 0.7 THEN [1] ELSE [] END |
  CREATE (x)-[:MENTIONS {uuid: randomUUID(), group_id: $scope}]->(y))
FOREACH (_ IN CASE WHEN edge[2] < 0.7 THEN [] ELSE [1] END |
  CREATE (x)-[:RELATES_TO {uuid: randomUUID(), group_id: $scope, name: 'KNOWS', fact: edge[3],
                           created_at: datetime(), valid_at: datetime('2026-01-01')}]->(y))
"""
_INDEXES = (
    *(
        f"CREATE INDEX IF NOT EXISTS FOR (n:{label}) ON (n.uuid)"
        for label in ("Thing", "Entity", "Episodic")
    ),
    "CREATE INDEX IF NOT EXISTS FOR (n:Community) ON (n.uuid)",
)


def main(arguments: Sequence[str]) -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(prog="scripts/bench mapped-scale", description=__doc__)
    parser.add_argument("--edges", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=40)
    add_server(parser)
    options = parser.parse_args(arguments)
    ways = list(_ways())
    print(f"| relationships | {' | '.join(f'{way}, ms' for way in ways)} | ratios |")
    print("|---" * (len(ways) + 2) + "|")
    for edges in options.edges:
        took = asyncio.run(_measure(options, edges))
        medians = [1_000 * statistics.median(took[way]) for way in ways]
        ratios = ", ".join(f"{each / medians[0]:.2f}" for each in medians[1:])
        print(
            f"| {edges:,} | {' | '.join(f'{each:.1f}' for each in medians)} | {ratios} |",
            flush=True,
        )


def _ways() -> Mapping[str, GraphMapping | None]:
    graphiti = replace(GraphMapping.named("graphiti"), places={})
    facts = [edge for edge in graphiti.edges if edge.type in ("RELATES_TO", "MENTIONS")]
    facts = [replace(edge, fulltext_index=None) for edge in facts]
    nodes = [replace(node, fulltext_index=None) for node in graphiti.nodes]
    thing = NodeMapping(label="Thing", key="uuid", text=("name", "content"), scope="group_id")
    return {
        "memoria's own": None,
        "one label": GraphMapping(nodes=(thing,), edges=tuple(facts)),
        "three labels": GraphMapping(nodes=tuple(nodes), edges=tuple(facts)),
    }


async def _measure(options: argparse.Namespace, edges: int) -> dict[str, list[float]]:
    nodes = edges // 5
    async with opened(options, StoreConfig()) as driver:
        store = Store(driver, database="neo4j", config=StoreConfig(query_timeout_s=120))
        await apply_schema(store, embedder=None)
        await _write(driver, nodes, edges)
        retrievers = {
            way: GraphRetriever(store, scope=_scope(edges), mapping=mapping)
            for way, mapping in _ways().items()
        }
        rng = random.Random(5)  # noqa: S311  # lots, to be drawn again
        took: dict[str, list[float]] = {way: [] for way in retrievers}
        for number in range(options.rounds + 3):
            seeds = [
                Seed(id=f"{_scope(edges)}{i}", score=1.0) for i in rng.sample(range(nodes), SEEDS)
            ]
            found = []
            for way, retriever in retrievers.items():
                started = time.perf_counter()
                explorations = [
                    each async for each in retriever.explore_seeds(seeds, deadline_s=120)
                ]
                if number >= 3:  # the server plans each query once
                    took[way].append(time.perf_counter() - started)
                found.append(sorted((p.ids, p.energy) for e in explorations for p in e.paths))
            if not found[0] == found[1] == found[2]:
                sys.exit(f"round {number}: the paths differ")
        return took


async def _write(driver: neo4j.AsyncDriver, nodes: int, edges: int) -> None:
    for statement in _INDEXES:
        await driver.execute_query(statement, database_="neo4j")
    await driver.execute_query("CALL db.awaitIndexes()", database_="neo4j")
    for start in range(0, nodes, _BATCH):
        rows = {"from": start, "to": min(start + _BATCH, nodes), "scope": _scope(edges)}
        await driver.execute_query(_NODES, rows, database_="neo4j")
    rng = random.Random(6)  # noqa: S311  # lots, to be drawn again
    for start in range(0, edges, _BATCH):
        made = [_edge(rng, nodes, _scope(edges)) for _ in range(min(_BATCH, edges - start))]
        rows = {"edges": made, "scope": _scope(edges)}
        await driver.execute_query(_EDGES, rows, database_="neo4j")
        print(f"\r{start + len(made):,} edges", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _scope(edges: int) -> str:
    return f"edges-{edges}-"


def _edge(rng: random.Random, nodes: int, scope: str) -> list[object]:
    """Draw an edge to an entity, rather a hub: of an episode, or a fact."""
    source = rng.randrange(nodes)
    target = int(nodes * rng.random() ** 3)
    target += target % 4 == 0
    if target >= nodes or target == source:
        target = 1 if source != 1 else 2
    if source % 4 == 0:
        return [f"{scope}{source}", f"{scope}{target}", 0.6, "MENTIONS"]
    fact = f"memory {source} knows memory {target}"
    return [f"{scope}{source}", f"{scope}{target}", 0.8, fact]
