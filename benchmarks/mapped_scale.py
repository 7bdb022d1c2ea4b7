"""Explore graphs in the shape of Graphiti's, by mappings and as memoria's own graph.

    scripts/bench mapped-scale
    scripts/bench mapped-scale --edges 100000 1000000 --rounds 40

Writes each edge twice: between entities and episodes (`RELATES_TO` with a fact, `MENTIONS`), and
between memories. Targets follow a power law, so there are hubs. Each larger graph is made twice:
once its hubs grow with it, as the law then reaches over all nodes; once they don't, as it consists
of groups of the smallest graph's size, with a tenth of the edges between groups. Starts a
throw-away server for each graph, or uses yours. Each round explores each graph from five seeds by
lot, in each of the three ways, all in turns; the paths of the ways must be the same. Prints
Markdown: medians, ratios to memoria's own graph, and the median of the reads from the store that
the server counts for the levels of an exploration, which no other load changes.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

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
_WARM_UP = 3
#: Share of the edges that lead into a group by lot.
_BETWEEN = 0.1
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
_LARGEST = """
MATCH (m:Memory {scope: $scope}) RETURN max(COUNT { (m)-[:RELATES]-() }) AS largest
"""
_INDEXES = (
    *(
        f"CREATE INDEX IF NOT EXISTS FOR (n:{label}) ON (n.uuid)"
        for label in ("Thing", "Entity", "Episodic")
    ),
    "CREATE INDEX IF NOT EXISTS FOR (n:Community) ON (n.uuid)",
)


@dataclass(frozen=True, kw_only=True)
class _Graph:
    """A graph to be made: its edges, and the nodes over which the law of each hub reaches."""

    edges: int
    group: int

    @property
    def nodes(self) -> int:
        return self.edges // 5

    @property
    def scope(self) -> str:
        return f"{self.edges}-edges-in-groups-of-{self.group}-"


@dataclass(kw_only=True)
class _Measured:
    """The largest degree of a graph; seconds and reads of each way, round by round."""

    largest_degree: int
    took: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    reads: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))


def main(arguments: Sequence[str]) -> None:
    """Measure all graphs in turns."""
    parser = argparse.ArgumentParser(prog="scripts/bench mapped-scale", description=__doc__)
    parser.add_argument("--edges", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=40)
    add_server(parser)
    options = parser.parse_args(arguments)
    ways = list(_ways())
    measured = asyncio.run(_measure(options, _graphs(options.edges)))
    print(
        f"| relationships | largest degree | {' | '.join(f'{way}, ms' for way in ways)} | ratios "
        f"| {' | '.join(f'{way}, reads' for way in ways)} |"
    )
    print("|---" * (2 * len(ways) + 3) + "|")
    for graph, found in measured.items():
        medians = [1_000 * statistics.median(found.took[way]) for way in ways]
        reads = [statistics.median(found.reads[way]) for way in ways]
        ratios = ", ".join(f"{each / medians[0]:.2f}" for each in medians[1:])
        print(
            f"| {graph.edges:,} | {found.largest_degree:,} "
            f"| {' | '.join(f'{each:.1f}' for each in medians)} | {ratios} "
            f"| {' | '.join(f'{each:,.0f}' for each in reads)} |"
        )


def _graphs(sizes: Sequence[int]) -> list[_Graph]:
    smallest = _Graph(edges=min(sizes), group=min(sizes) // 5)
    larger = [edges for edges in sorted(set(sizes)) if edges > smallest.edges]
    return [
        smallest,
        *(
            _Graph(edges=edges, group=group)
            for edges in larger
            for group in (smallest.nodes, edges // 5)
        ),
    ]


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


async def _measure(
    options: argparse.Namespace, graphs: Sequence[_Graph]
) -> dict[_Graph, _Measured]:
    async with AsyncExitStack() as servers:
        stores, measured = {}, {}
        for graph in graphs:
            driver = await servers.enter_async_context(opened(options, StoreConfig()))
            store = Store(driver, database="neo4j", config=StoreConfig(query_timeout_s=120))
            await apply_schema(store, embedder=None)
            await _write(driver, graph)
            stores[graph] = store
            measured[graph] = _Measured(largest_degree=await _largest_degree(driver, graph))
        rng = random.Random(5)  # noqa: S311  # lots, to be drawn again
        for number in range(options.rounds + _WARM_UP):
            for graph, store in stores.items():
                retrievers = {
                    way: GraphRetriever(store, scope=graph.scope, mapping=mapping)
                    for way, mapping in _ways().items()
                }
                await _explore(graph, retrievers, rng, measured[graph])
            if number + 1 == _WARM_UP:  # the server has planned each query once
                for found in measured.values():
                    found.took.clear()
        return measured


async def _explore(
    graph: _Graph, retrievers: Mapping[str, GraphRetriever], rng: random.Random, into: _Measured
) -> None:
    """Explore from the same seeds in each way; the paths must be the same."""
    seeds = [Seed(id=f"{graph.scope}{i}", score=1.0) for i in rng.sample(range(graph.nodes), SEEDS)]
    found = []
    for way, retriever in retrievers.items():
        await retriever.server_facts()  # compares a mapping with the database
        with _sent() as sent:
            started = time.perf_counter()
            explorations = [each async for each in retriever.explore_seeds(seeds, deadline_s=120)]
            into.took[way].append(time.perf_counter() - started)
        into.reads[way].append(await _reads(retriever.store.driver, sent))
        found.append(sorted((p.ids, p.energy) for e in explorations for p in e.paths))
    if not found[0] == found[1] == found[2]:
        sys.exit(f"{graph}: the paths differ")


@contextmanager
def _sent() -> Iterator[list[tuple[str, Any]]]:
    """Note the queries that are sent, with their parameters."""
    sent: list[tuple[str, Any]] = []
    run = neo4j.AsyncSession.run

    async def noted(self: Any, query: Any, **given: Any) -> neo4j.AsyncResult:
        sent.append((query.text, given))
        return await run(self, query, **given)

    neo4j.AsyncSession.run = noted  # type: ignore[method-assign,assignment]
    try:
        yield sent
    finally:
        neo4j.AsyncSession.run = run  # type: ignore[method-assign]


async def _reads(driver: neo4j.AsyncDriver, sent: Iterable[tuple[str, Any]]) -> int:
    """Run queries once more, and return how often they read something of the store."""
    total = 0
    async with driver.session(database="neo4j", notifications_min_severity="OFF") as session:
        for query, given in sent:
            result = await session.run(f"PROFILE {query}", given)
            steps = [(await result.consume()).profile or {}]
            for step in steps:
                total += step.get("dbHits", 0)
                steps += step.get("children", ())
    return total


async def _write(driver: neo4j.AsyncDriver, graph: _Graph) -> None:
    for statement in _INDEXES:
        await driver.execute_query(statement, database_="neo4j")
    await driver.execute_query("CALL db.awaitIndexes()", database_="neo4j")
    for start in range(0, graph.nodes, _BATCH):
        rows = {"from": start, "to": min(start + _BATCH, graph.nodes), "scope": graph.scope}
        await driver.execute_query(_NODES, rows, database_="neo4j")
    rng = random.Random(6)  # noqa: S311  # lots, to be drawn again
    for start in range(0, graph.edges, _BATCH):
        made = [_edge(rng, graph) for _ in range(min(_BATCH, graph.edges - start))]
        await driver.execute_query(_EDGES, {"edges": made, "scope": graph.scope}, database_="neo4j")
        print(f"\r{start + len(made):,} edges", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


async def _largest_degree(driver: neo4j.AsyncDriver, graph: _Graph) -> int:
    found = await driver.execute_query(_LARGEST, {"scope": graph.scope}, database_="neo4j")
    largest: int = found.records[0]["largest"]
    return largest


def _edge(rng: random.Random, graph: _Graph) -> list[object]:
    """Draw an edge to an entity, rather a hub: of an episode, or a fact."""
    source = rng.randrange(graph.nodes)
    group = source // graph.group
    if rng.random() < _BETWEEN:
        group = rng.randrange(graph.nodes // graph.group)
    place = int(graph.group * rng.random() ** 3)
    target = graph.group * group + place
    target += target % 4 == 0
    if target >= graph.nodes or target == source:
        target = 1 if source != 1 else 2
    if source % 4 == 0:
        return [f"{graph.scope}{source}", f"{graph.scope}{target}", 0.6, "MENTIONS"]
    fact = f"memory {source} knows memory {target}"
    return [f"{graph.scope}{source}", f"{graph.scope}{target}", 0.8, fact]
