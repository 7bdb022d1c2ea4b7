"""A database with so many memories and edges: by these numbers the server chooses its plans.

For files that import the fixtures. On the server that all tests share, the numbers are those that
other tests have left at that moment: with few memories and very many edges, or the other way round,
a scan looks cheaper than the plan that is wanted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import neo4j
import pytest

from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder
from memoria.local import EphemeralNeo4j
from memoria.store import Store, Target, open_driver
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.integration.alone import wipe

PATIENCE_S = 60.0

_MEMORIES = (
    "UNWIND range(1, $memories) AS i "
    "CREATE (:Memory:Event {scope: 's' + i % $scopes, id: toString(i), text: 'x'})"
)
_EDGES = (
    "MATCH (m:Memory) WITH collect(m) AS them UNWIND range(1, $edges) AS i "
    "WITH them[i % size(them)] AS a, them[(i + i / size(them)) % size(them)] AS b "
    "CREATE (a)-[:RELATES {relation: 'near', weight: 0.5}]->(b)"
)


async def count(driver: neo4j.AsyncDriver, *, memories: int, scopes: int, edges: int) -> None:
    """Leave so many memories and edges, and let the server plan every query anew."""
    for text in (
        "MATCH (n:Memory) DETACH DELETE n",
        _MEMORIES,
        _EDGES,
        "CALL db.prepareForReplanning(60)",
    ):
        await driver.execute_query(
            text,
            memories=memories,
            scopes=scopes,
            edges=edges,
            database_="neo4j",
        )


@pytest.fixture(scope="module")
async def driver(second_server: EphemeralNeo4j) -> AsyncIterator[neo4j.AsyncDriver]:
    """A driver on a database with some scopes, and three edges for each memory."""
    target = Target(uri=second_server.uri, auth=second_server.auth)
    async with open_driver(target) as opened:
        store = Store(opened, database="neo4j").patient(PATIENCE_S)
        await wipe(store)
        await apply_schema(store, embedder=AbsentEmbedder(name=EMBEDDER, dimensions=DIMENSIONS))
        await count(opened, memories=2_000, scopes=20, edges=6_000)
        yield opened


@pytest.fixture(scope="module")
def store(driver: neo4j.AsyncDriver) -> Store:
    """A store that gives the server time to plan a query for the first time."""
    return Store(driver, database="neo4j").patient(PATIENCE_S)
