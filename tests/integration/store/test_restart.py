"""The server goes away and comes back; callers notice as little as can be."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from memoria.errors import UnavailableError
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder
from memoria.graph.vocabulary import scope_key
from memoria.local import EphemeralNeo4j
from memoria.recall.config import RetrieverConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.types import Path, Seed
from tests.integration.doctor.test_doctor import wipe

SCOPE = "restart"
MEMORIES = 60
SEEDS = [Seed(id=f"m{i}", score=1.0) for i in range(30)]


@pytest.fixture(scope="module")
def server(second_server: EphemeralNeo4j) -> EphemeralNeo4j:
    """A server to kill."""
    return second_server


@pytest.fixture(scope="module")
async def retriever(server: EphemeralNeo4j) -> AsyncIterator[GraphRetriever]:
    """A retriever on a binary tree of memories, whose paths end at many levels."""
    target = Target(uri=server.uri, auth=server.auth, database="neo4j")
    async with open_driver(target, StoreConfig()) as driver:
        await wipe(Store(driver))
        await apply_schema(Store(driver), embedder=AbsentEmbedder(name="test", dimensions=384))
        async with driver.session(database="neo4j") as session:
            result = await session.run(
                "UNWIND range(0, $last) AS i "
                "CREATE (:Memory:Event {scope: $scope, scope_key: $key, id: 'm' + i, "
                "text: 'link ' + i}) "
                "WITH count(*) AS _ UNWIND range(1, $last) AS i "
                "MATCH (a:Memory {scope: $scope, id: 'm' + toString((i - 1) / 2)}) "
                "MATCH (b:Memory {scope: $scope, id: 'm' + i}) "
                "CREATE (a)-[:RELATES {weight: 1.0, relation: 'next'}]->(b)",
                last=MEMORIES,
                scope=SCOPE,
                key=scope_key(SCOPE),
            )
            await result.consume()
        yield GraphRetriever(driver, scope=SCOPE, config=RetrieverConfig(deadline_s=60.0))


async def test_recall_after_a_restart_works_by_itself(
    server: EphemeralNeo4j, retriever: GraphRetriever
) -> None:
    before = await retriever.recall("link 7")
    await asyncio.gather(*(retriever.recall("link 7") for _ in range(8)))  # fills the pool
    os.kill(server.pid, signal.SIGKILL)
    await server.restart()
    after = await retriever.recall("link 7")
    assert after.explorations[0].paths == before.explorations[0].paths
    assert [entry.memory.id for entry in after.ranked] == [
        entry.memory.id for entry in before.ranked
    ]


async def test_server_killed_during_a_recall_is_a_typed_error_and_delivered_paths_stay_valid(
    server: EphemeralNeo4j, retriever: GraphRetriever
) -> None:
    whole = {path.ids: path async for path in retriever.stream_paths(SEEDS)}
    received: list[Path] = []
    with pytest.raises(UnavailableError):
        await _read_until_killed(server, retriever, received)
    assert any(path.memories for path in received)
    for path in received:
        if path.end_reason != "truncated":
            known = whole[path.ids]
            assert path in (known, replace(known, memories=())), "at most the texts are missing"
    with pytest.raises(UnavailableError):
        await retriever.recall("link 7")
    await server.restart()
    assert (await retriever.recall("link 7")).ranked


async def _read_until_killed(
    server: EphemeralNeo4j, retriever: GraphRetriever, received: list[Path]
) -> None:
    async with retriever.stream_paths(SEEDS) as stream:
        async for path in stream:
            if not received:
                os.kill(server.pid, signal.SIGKILL)
            received.append(path)
