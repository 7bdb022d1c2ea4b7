"""One store and one handle for reading and writing: what they share, and what they make."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import neo4j
import pytest

import memoria
from memoria.embed import CallableEmbedder
from memoria.errors import (
    ClosedError,
    ConfigError,
    DimensionError,
    IndexNotReadyError,
    InvalidInputError,
    ScopeError,
)
from memoria.graph.server_facts import server_facts
from memoria.graph.stats import scope_stats
from memoria.ingest import ingest_files
from memoria.learn import Learner
from memoria.learn.link import Linker
from memoria.local import EphemeralNeo4j
from memoria.recall.replay import replay
from memoria.retriever import GraphRetriever
from memoria.store import Session, Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.store.queries import load
from memoria.types import Memory, Relation
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.integration.alone import wipe
from tests.schema import check_schema

MEMORIES = [
    Memory(id="e1", kind="Event", text="The last bun was sold at 10:40."),
    Memory(id="e2", kind="Event", text="The butter delivery did not come."),
]
EDGES = [Relation(source="e1", target="e2", relation="caused_by", weight=0.9)]


async def embed(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), *[1.0] * (DIMENSIONS - 1)] for text in texts]


embedder = CallableEmbedder(embed, dimensions=DIMENSIONS, name=EMBEDDER)


class Watched:
    """A driver that notes what sessions are opened with."""

    def __init__(self, driver: neo4j.AsyncDriver) -> None:
        self.driver = driver
        self.opened: list[dict[str, Any]] = []

    def session(self, **settings: Any) -> neo4j.AsyncSession:
        self.opened.append(settings)
        return self.driver.session(**settings)


class Counting(Store):
    """A store that counts its sessions."""

    sessions = 0

    @asynccontextmanager
    async def session(  # type: ignore[override]  # callers only enter it
        self, mode: Literal["read", "write"] = "read", *, until: float | None = None
    ) -> AsyncIterator[Session]:
        self.sessions += 1
        async with super().session(mode, until=until) as session:
            yield session


class ReadOnly(Store):
    """A store whose user may only read."""

    @asynccontextmanager
    async def session(  # type: ignore[override]  # callers only enter it
        self, mode: Literal["read", "write"] = "read", *, until: float | None = None
    ) -> AsyncIterator[Session]:
        del mode  # as of a user whom the server allows nothing else
        async with super().session("read", until=until) as session:
            yield session


@pytest.fixture
async def bare(second_server: EphemeralNeo4j) -> AsyncIterator[Store]:
    """A store on a database without schema and memories."""
    target = Target(uri=second_server.uri, auth=second_server.auth)
    async with open_driver(target) as driver:
        await wipe(Store(driver))
        yield Store(driver)


# --- one store ------------------------------------------------------------------------------------


async def test_a_patient_read_sees_what_was_written_through_the_same_store(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    watched: Any = Watched(driver)
    store = Store(watched)
    await GraphWriter(store, scope=scope).write(MEMORIES)
    assert (await scope_stats(store, scope)).memories == 2
    managers = {id(settings["bookmark_manager"]) for settings in watched.opened}
    assert len(managers) == 1
    assert {settings["default_access_mode"] for settings in watched.opened} == {"READ", "WRITE"}


async def test_a_patient_store_has_more_time_and_the_same_limits(
    driver: neo4j.AsyncDriver,
) -> None:
    store = Store(driver, config=StoreConfig(query_timeout_s=5, max_sessions=1))
    patient = store.patient(60)
    assert (patient.config.query_timeout_s, store.config.query_timeout_s) == (60, 5)
    assert store.patient(1).config.query_timeout_s == 5
    async with patient.session():
        assert store.sessions_in_use == 1
    await server_facts(store)
    assert await server_facts(patient) is await server_facts(store)


async def test_more_sessions_than_the_drivers_pool_has_are_refused(target: Target) -> None:
    async with neo4j.AsyncGraphDatabase.driver(
        target.uri, auth=target.auth, max_connection_pool_size=7
    ) as small:
        with pytest.raises(ConfigError, match=r"max_sessions is 50.*has 7 connections"):
            GraphRetriever(small, scope="s")
        Store(small, config=StoreConfig(max_sessions=7))


async def test_the_server_is_asked_once_whatever_uses_the_store(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    store = Counting(driver)
    memory = GraphRetriever(store, scope=scope, embedder=embedder)
    await memory.server_facts()
    assert store.sessions == 1
    for other in (memory, memory.for_scope(f"{scope}-2"), GraphRetriever(store, scope="s")):
        await other.server_facts()
        await other.writer().ready()
    assert store.sessions == 1
    # Asks whether the vectors are still those it knows, and how near unrelated texts are.
    await memory.linker().link([])
    assert store.sessions == 3


async def test_a_plan_is_asked_for_through_the_store(store: Store) -> None:
    plan = await store.explain(load("graph.hydrate"), {"ids": ["a"], "scope": "s"})
    assert plan["operatorType"].startswith("ProduceResults")
    assert store.sessions_in_use == 0


# --- one handle -----------------------------------------------------------------------------------


async def test_the_handle_writes_links_learns_and_recalls_in_its_scope(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    memory = GraphRetriever(driver, scope=scope, embedder=embedder)
    report = await memory.writer(linker=memory.linker()).write(MEMORIES, EDGES)
    assert (report.memories_created, report.relations_created, report.embedded) == (2, 1, 2)
    assert report.schema_created == ()
    recall = await memory.recall("Why was the last bun sold?")
    assert {entry.memory.id for entry in recall.ranked} == {"e1", "e2"}
    learned = await memory.learner().reinforce(recall.trace, ["e2"])
    assert learned.applied
    other = memory.for_scope(f"{scope}-2")
    assert (other.store, other.embedder) == (memory.store, embedder)
    assert not (await other.recall("Why was the last bun sold?")).ranked
    await other.writer().write(MEMORIES[:1])
    assert (await scope_stats(memory.store, scope)).memories == 2


async def test_every_constructor_takes_a_driver_of_ones_own(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    assert (await memoria.apply_schema(driver, embedder=embedder)).created == ()
    await GraphWriter(driver, scope=scope, embedder=embedder).write(MEMORIES, EDGES)
    assert (await Linker(driver, scope=scope).link()).memories == 2
    recall = await GraphRetriever(driver, scope=scope).recall("the last bun")
    assert (await Learner(driver, scope=scope).reinforce(recall.trace, ["e1"])).applied
    assert (await replay(driver, recall.trace)).explorations


@pytest.mark.parametrize("kind", [GraphRetriever, GraphWriter, Linker, Learner])
async def test_what_is_neither_store_nor_async_driver_is_refused(kind: Any, store: Store) -> None:
    with neo4j.GraphDatabase.driver("bolt://127.0.0.1:1") as blocking:
        for wrong in (None, "bolt://127.0.0.1:7687", blocking):
            with pytest.raises(InvalidInputError, match="AsyncDriver is needed"):
                kind(wrong, scope="s")
    with pytest.raises(ConfigError, match="'neo4j', not 'other'"):
        kind(store, scope="s", database="other")


async def test_a_set_up_refuses_what_is_neither_store_nor_async_driver() -> None:
    wrong: Any = "bolt://127.0.0.1:7687"
    with pytest.raises(InvalidInputError, match="AsyncDriver is needed, got a str"):
        await memoria.apply_schema(wrong)


async def test_a_scope_is_checked_for_another_tenant_too(retriever: GraphRetriever) -> None:
    with pytest.raises(ScopeError):
        retriever.for_scope("")


async def test_what_open_opened_stays_open_until_it_is_closed(
    target: Target, driver: neo4j.AsyncDriver, scope: str
) -> None:
    memory = await memoria.open(target.uri, target.auth, scope=scope)
    await memory.for_scope(f"{scope}-2").close()
    assert (await memory.find_seeds("a question")).seeds == ()
    await memory.close()
    with pytest.raises(ClosedError):
        await memory.find_seeds("a question")
    async with GraphRetriever(driver, scope=scope) as own:
        pass
    assert (await own.find_seeds("a question")).seeds == ()


async def test_connect_takes_the_settings_of_the_store(target: Target, scope: str) -> None:
    config = StoreConfig(max_sessions=3)
    async with memoria.connect(target.uri, target.auth, scope=scope, store=config) as memory:
        assert memory.store.config is config
        assert (await memory.find_seeds("a question")).seeds == ()
    with pytest.raises(ClosedError):
        await memory.find_seeds("a question")


# --- a database without schema --------------------------------------------------------------------


async def test_the_first_write_makes_the_schema_and_says_so(bare: Store) -> None:
    memory = GraphRetriever(bare, scope="s", embedder=embedder)
    writer = memory.writer()
    first = await writer.write(MEMORIES, EDGES)
    assert "memory_embedding" in first.schema_created
    assert (await writer.write(MEMORIES)).schema_created == ()
    await check_schema(bare, dimensions=DIMENSIONS, embedder=EMBEDDER)
    assert (await memory.recall("the last bun")).ranked


async def test_the_first_write_makes_an_index_for_the_vectors_it_brings(bare: Store) -> None:
    writer = GraphWriter(bare, scope="s")
    report = await writer.write([Memory(id="a", kind="Event", text="t", embedding=[1.0, 0.0])])
    assert report.schema_created
    await check_schema(bare, dimensions=2)
    with pytest.raises(DimensionError):
        await writer.write([Memory(id="b", kind="Event", text="t", embedding=[1.0])])


async def test_vectors_of_two_sizes_in_the_first_batch_are_refused(bare: Store) -> None:
    sizes = ([1.0, 0.0], [1.0])
    memories = [
        Memory(id=f"m{len(vector)}", kind="Event", text="t", embedding=vector) for vector in sizes
    ]
    with pytest.raises(DimensionError, match="has 1 dimension,"):
        await GraphWriter(bare, scope="s").write(memories)


async def test_vectors_that_do_not_fit_the_first_one_are_left_out_where_the_caller_allows_it(
    bare: Store,
) -> None:
    memories = [
        Memory(id=id_, kind="Event", text="t", embedding=[1.0] * size)
        for id_, size in (("a", 2), ("b", 1), ("c", 2))
    ]
    writer = GraphWriter(bare, scope="s")
    first = await writer.write(memories, skip_invalid=True)
    again = await writer.write(memories, skip_invalid=True)
    assert [(each.memories, each.skipped) for each in (first, again)] == [(2, 1), (2, 1)]
    assert first.problems == again.problems
    assert first.problems[0].startswith("memory 'b': embedding has 1 dimension, but the index")


async def test_the_first_ingest_of_files_makes_the_schema(bare: Store, tmp_path: Any) -> None:
    file = tmp_path / "memories.jsonl"
    file.write_text('{"id": "a", "kind": "Event", "text": "t", "embedding": [1.0, 0.0, 0.0]}\n')
    report = await ingest_files(GraphWriter(bare, scope="s"), [file])
    assert report.written.schema_created
    await check_schema(bare, dimensions=3)


async def test_who_may_not_make_the_schema_is_told_who_should(bare: Store) -> None:
    reader = ReadOnly(bare.driver)
    with pytest.raises(IndexNotReadyError, match="run memoria init"):
        await GraphWriter(reader, scope="s").write(MEMORIES)
    with pytest.raises(IndexNotReadyError, match="memoria init"):
        await GraphRetriever(reader, scope="s").recall("a question")
    with pytest.raises(IndexNotReadyError, match="memoria init"):
        await Linker(reader, scope="s").link()
