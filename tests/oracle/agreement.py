"""Put oracle graphs into a database, ask the engine the same question, compare the answers.

Writes as a foreign writer would: plain Cypher through the driver, hence weights of any type. The
memories have no text, which makes writing thousands of them fast.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import neo4j

from memoria.recall.config import RetrieverConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.types import Exploration, Seed
from tests.oracle.transfer import Edge, Graph, Node, ReferenceExploration

DATABASE = "neo4j"
ROWS_PER_BATCH = 5_000
WRITE_NODES = """
UNWIND $rows AS row
CREATE (m:Memory {scope: row[0], id: row[1]})
SET m += row[2], m:$(row[3])
"""
WRITE_EDGES = """
UNWIND $rows AS row
MATCH (source:Memory {scope: row.source[0], id: row.source[1]})
MATCH (target:Memory {scope: row.target[0], id: row.target[1]})
CREATE (source)-[edge:RELATES]->(target)
SET edge = row.properties
"""
REMOVE = """
MATCH (memory:Memory) WHERE memory.scope STARTS WITH $prefix
CALL (memory) { DETACH DELETE memory } IN TRANSACTIONS OF 5000 ROWS
"""


async def write(driver: neo4j.AsyncDriver, graphs: Mapping[str, Graph]) -> None:
    """Write each graph with its key put before the names of its scopes."""
    nodes = [
        [
            *_row(prefix, node),
            graph.spans[node].properties() if node in graph.spans else {},
            "Topic" if node in graph.connectors else "Event",
        ]
        for prefix, graph in graphs.items()
        for node in graph.nodes
    ]
    edges = [
        {
            "source": _row(prefix, edge.source),
            "target": _row(prefix, edge.target),
            "properties": _properties(edge),
        }
        for prefix, graph in graphs.items()
        for edge in graph.edges
    ]
    async with driver.session(database=DATABASE) as session:
        for query, rows in ((WRITE_NODES, nodes), (WRITE_EDGES, edges)):
            for start in range(0, len(rows), ROWS_PER_BATCH):
                result = await session.run(query, rows=rows[start : start + ROWS_PER_BATCH])
                await result.consume()


async def remove(driver: neo4j.AsyncDriver, prefix: str) -> None:
    """Remove every memory whose scope starts with ``prefix``."""
    async with driver.session(database=DATABASE) as session:
        await (await session.run(REMOVE, prefix=prefix)).consume()


async def explore_with_engine(
    source: Store | neo4j.AsyncDriver,
    scope: str,
    seeds: Iterable[tuple[str, float]],
    query_tags: Sequence[str],
    config: RetrieverConfig,
) -> dict[str, Exploration]:
    """Explorations of the engine by the id of their seed."""
    retriever = GraphRetriever(source, scope=scope, database=DATABASE)
    explorations = retriever.explore_seeds(
        [Seed(id=seed_id, score=score) for seed_id, score in seeds],
        query_tags=query_tags,
        config=config,
        deadline_s=120.0,
    )
    return {exploration.seed.id: exploration async for exploration in explorations}


def assert_agreement(found: Exploration, expected: ReferenceExploration) -> None:
    """Compare everything, floats to the last bit."""
    assert found.error is None
    assert found.status == expected.status
    facts = [(path.hops, path.end_reason, path.energy) for path in found.paths]
    assert facts == expected.paths
    for path in found.paths:
        assert path.seed_id == found.seed.id
        assert tuple(memory.id for memory in path.memories) == path.ids
    if expected.status == "complete":
        assert found.stats.nodes == len({name for path in found.paths for name in path.ids})


async def gather_limited(limit: int, coroutines: Iterable[Any]) -> list[Any]:
    """Results in order, at most ``limit`` at once."""
    slots = asyncio.Semaphore(limit)

    async def run(coroutine: Any) -> Any:
        async with slots:
            return await coroutine

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(coroutine)) for coroutine in coroutines]
    return [task.result() for task in tasks]


def _row(prefix: str, node: Node) -> list[str]:
    return [prefix + node.scope, node.id]


def _properties(edge: Edge) -> dict[str, Any]:
    tags = None if edge.tags is None else list(edge.tags)
    properties = {
        "relation": edge.relation,
        "weight": edge.weight,
        "tags": tags,
        "lif_weight": edge.lif_weight,
    }
    return {name: value for name, value in properties.items() if value is not None}
