"""Graphs that several integration tests explore."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from uuid import uuid4

import neo4j
import pytest

from memoria.graph.server_facts import server_facts
from memoria.graph.vocabulary import scope_key
from memoria.local import EphemeralNeo4j, LocalNeo4j
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.store.queries import load
from memoria.types import Seed
from tests.conftest import server_under_test
from tests.dialects import DIALECTS, Dialect, dialects_of
from tests.integration.alone import wipe
from tests.servers import is_local

WEB_SCOPE = f"web-{uuid4().hex}"  # a database that tests were run on before holds others
WEB_NODES = 2_000
WEB_EDGES = 6_000


@pytest.fixture(scope="session")
async def second_server(server_version: str) -> AsyncIterator[EphemeralNeo4j]:
    """A server that one worker has to itself, as long as it runs; wipe it first.

    For tests that take the schema away, or measure what all scopes share.
    """
    async with LocalNeo4j.ephemeral(version=server_version) as started:
        yield started


@pytest.fixture(scope="module")
async def emptied(second_server: EphemeralNeo4j) -> AsyncIterator[Store]:
    """The same database for all tests of a module: a new schema has all queries planned again."""
    target = Target(uri=second_server.uri, auth=second_server.auth, database="neo4j")
    async with open_driver(target, StoreConfig()) as driver:
        store = Store(driver, database="neo4j")
        await wipe(store)
        yield store


@pytest.fixture
async def empty(emptied: Store) -> Store:
    """A database that memoria never set up."""
    await wipe(emptied)
    return Store(emptied.driver, database="neo4j")  # nothing is known about the server


@pytest.fixture(params=DIALECTS)
async def dialect(request: pytest.FixtureRequest, store: Store) -> Dialect:
    """Each way to search an index of vectors that the server under test knows."""
    asked: Dialect = request.param
    if asked not in await dialects_of(store):
        pytest.skip("2026-11-23: Neo4j 5 can't search for vectors within a scope")
    return asked


@pytest.fixture
async def all_at_once(store: Store) -> None:
    """A server that can be asked for all levels at once."""
    if not (await server_facts(store)).can_run(load("strategies.levels")):
        pytest.skip("2026-11-23: Neo4j 5 refuses all levels at once")


@pytest.fixture(scope="session")
def lone_target(request: pytest.FixtureRequest) -> Target:
    """The server under test without the other worker; see ``tests.integration.alone``."""
    if not is_local(request.config.getoption("--neo4j")):
        return server_under_test(request.config)  # these files have another `target`
    server: EphemeralNeo4j = request.getfixturevalue("second_server")
    return Target(uri=server.uri, auth=server.auth, database="neo4j")


@pytest.fixture(scope="session")
async def web(driver: neo4j.AsyncDriver) -> tuple[Seed, ...]:
    """A sparse random graph, explored to depth 5 and hundreds of memories; its seeds."""
    rng = random.Random(7)
    nodes = [{"id": f"n{i}", "text": f"memory number {i} of the web"} for i in range(WEB_NODES)]
    edges = [
        [f"n{rng.randrange(WEB_NODES)}", f"n{rng.randrange(WEB_NODES)}", rng.uniform(0.6, 1.0)]
        for _ in range(WEB_EDGES)
    ]
    async with driver.session(database="neo4j") as session:
        result = await session.run(
            "UNWIND $nodes AS n CREATE (:Memory:Event {scope: $scope, scope_key: $key, "
            "id: n.id, text: n.text})",
            nodes=nodes,
            scope=WEB_SCOPE,
            key=scope_key(WEB_SCOPE),
        )
        await result.consume()
        result = await session.run(
            "UNWIND $edges AS e MATCH (a:Memory {scope: $scope, id: e[0]}) "
            "MATCH (b:Memory {scope: $scope, id: e[1]}) "
            "CREATE (a)-[:RELATES {weight: e[2], tags: ['x'], relation: 'near'}]->(b)",
            edges=edges,
            scope=WEB_SCOPE,
        )
        await result.consume()
    return tuple(Seed(id=f"n{i}", score=1.0 - i / 10) for i in range(5))
