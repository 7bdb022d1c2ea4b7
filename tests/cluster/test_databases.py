"""A database for each group of tenants, all on one driver."""

from __future__ import annotations

import pytest

import memoria.sync
from memoria.errors import ConfigError, InvalidInputError
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, store_of
from tests.cluster.conftest import MEMORIES, QUESTION, UNHURRIED
from tests.cluster.members import Cluster


async def test_every_query_of_a_tenant_names_the_database_of_the_tenant(
    cluster: Cluster, store: Store, scope: str
) -> None:
    memory = GraphRetriever(store, scope=scope, config=UNHURRIED)
    await memory.server_facts()
    before = len(cluster.journal)
    baker = memory.for_scope(f"{scope}-baker", database="bakers")
    await baker.writer().write(MEMORIES)
    recall = await baker.recall(QUESTION)
    await baker.learner().reinforce(recall.trace, ["m0"])
    await baker.linker().link(["m0"])
    assert {each.database for each in cluster.journal[before:]} == {"bakers"}
    await memory.get(["m0"])
    assert cluster.journal[-1].database == "neo4j"


async def test_a_database_is_asked_once_what_it_is(
    cluster: Cluster, store: Store, scope: str
) -> None:
    memory = GraphRetriever(store, scope=scope, config=UNHURRIED)
    for tenant in ("a", "b"):
        for database in ("bakers", "millers", "bakers", None):
            other = memory.for_scope(f"{scope}-{tenant}", database=database)
            await other.find_seeds("anything")
            await other.for_scope(f"{scope}-third").find_seeds("anything")
    asked = [each.database for each in cluster.asked("graph.components")]
    assert sorted(asked) == ["bakers", "millers", "neo4j"]


async def test_a_tenant_of_a_tenant_stays_in_its_database(store: Store) -> None:
    memory = GraphRetriever(store, scope="a")
    baker = memory.for_scope("b", database="bakers")
    assert baker.store.database == "bakers"
    assert baker.for_scope("c").store is baker.store
    assert baker.for_scope("c", database="neo4j").store is store
    assert memory.for_scope("d", database="bakers").store is baker.store
    assert memory.store is store


async def test_databases_of_a_store_share_its_limits_and_not_its_bookmarks(
    cluster: Cluster, store: Store, scope: str
) -> None:
    memory = GraphRetriever(store, scope=scope, config=UNHURRIED)
    await memory.writer().write(MEMORIES)
    baker = memory.for_scope(scope, database="bakers")
    assert baker.store.bookmarks == ()
    assert baker.store.line is store.line
    assert baker.store.recalls is store.recalls
    async with baker.store.session():
        assert store.sessions_in_use == 1
    await baker.get(["m0"])
    assert cluster.journal[-1].bookmarks == ()
    await memory.get(["m0"])
    assert cluster.journal[-1].bookmarks == memory.store.bookmarks


async def test_a_database_that_is_not_there_is_a_config_error(store: Store) -> None:
    nobody = GraphRetriever(store, scope="a").for_scope("b", database="nobody")
    with pytest.raises(ConfigError, match="database"):
        await nobody.get(["m0"])
    with pytest.raises(InvalidInputError):
        nobody.for_scope("b", database="")


async def test_a_store_is_not_taken_for_that_of_another_database(store: Store) -> None:
    baker = store.for_database("bakers")
    assert store_of(baker, "bakers") is baker
    with pytest.raises(ConfigError):
        store_of(baker, "millers")
    with pytest.raises(InvalidInputError):
        store.follow("one")
    with pytest.raises(InvalidInputError):
        store.follow([7])  # type: ignore[list-item]


def test_without_async_the_same(target: Target) -> None:
    with memoria.sync.connect(target.uri, target.auth, scope="a") as memory:
        assert memory.for_scope("b", database="bakers").store.for_database("neo4j").bookmarks == (
            memory.store.bookmarks
        )
        memory.store.follow(memory.store.bookmarks)
