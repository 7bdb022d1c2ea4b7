"""A cluster in front of the server under test, and memories in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import neo4j
import pytest

from memoria.recall.config import RetrieverConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.types import Memory, Relation
from tests.cluster.members import Cluster

#: A chain of causes, so that a recall has levels to go.
CHAIN = ("The oven was cold", "The gas was off", "The bill was lost", "The post was late")
QUESTION = "Why was the oven cold?"
# A server that has just started may take seconds for its first queries.
PATIENT = StoreConfig(query_timeout_s=60.0)
UNHURRIED = RetrieverConfig(deadline_s=60.0)


MEMORIES = [Memory(id=f"m{n}", kind="Event", text=text) for n, text in enumerate(CHAIN)]
CAUSES = [
    Relation(source=one.id, target=other.id, relation="caused_by", weight=0.9)
    for one, other in pairwise(MEMORIES)
]


@pytest.fixture
async def cluster(
    driver: neo4j.AsyncDriver,  # noqa: ARG001 - it sets the server up
    target: Target,
) -> AsyncIterator[Cluster]:
    """Three members, whose server has the schema."""
    async with Cluster(target, databases=("neo4j", "bakers", "millers")) as started:
        yield started


@asynccontextmanager
async def routed(cluster: Cluster, config: StoreConfig = PATIENT) -> AsyncIterator[Store]:
    """Open a driver that routes, with a store on it."""
    target = Target(uri=cluster.uri, auth=cluster.target.auth)
    async with open_driver(target, config) as opened:
        yield Store(opened, config=config)


@pytest.fixture
async def store(cluster: Cluster) -> AsyncIterator[Store]:
    """A store on the cluster."""
    async with routed(cluster) as opened:
        yield opened


@pytest.fixture
async def memory(store: Store, scope: str) -> GraphRetriever:
    """A retriever on the cluster, with the chain in its scope."""
    made = GraphRetriever(store, scope=scope, config=UNHURRIED)
    await made.writer().write(MEMORIES, CAUSES)
    return made
