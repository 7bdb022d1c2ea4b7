"""Writing memories and relations, on the real server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import neo4j
import pytest

from memoria.embed import CallableEmbedder
from memoria.errors import ConfigError, DimensionError, InvalidInputError, ScopeError
from memoria.graph.vocabulary import scope_key
from memoria.ingest.joint import JointWriter
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.types import ForgetReport, Memory, Relation, WriteReport
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.for_each import for_each

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
INJECTIONS = (
    "`) DETACH DELETE n //",
    "\\u0060}) DETACH DELETE n //",
    "\u0060) MATCH (n) DETACH DELETE n //",
    "x'}) WITH 1 AS one MATCH (n) DETACH DELETE n //",
    'x"}) DETACH DELETE n //',
    "a\nMATCH (n) DETACH DELETE n",
    "$p.scope",
    "${scope}",
    "\0",
    "*/ RETURN 1 /*",
)


def vector(seed: int = 0, size: int = 384) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(0, 1) for _ in range(size)]


def memory(id_: str, text: str = "the mill closed", **fields: Any) -> Memory:
    return Memory(id=id_, text=text, **{"kind": "Event", **fields})


class CountingEmbedder:
    """Deterministic vectors; remembers what it embedded, and breaks after a number of calls."""

    name = "test"

    def __init__(self, dimensions: int = 384, breaks_after: int | None = None) -> None:
        self.dimensions = dimensions
        self.texts: list[str] = []
        self._calls_left = breaks_after

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if self._calls_left is not None:
            if self._calls_left == 0:
                raise RuntimeError("the model went away")
            self._calls_left -= 1
        self.texts += texts
        return [vector(len(text), self.dimensions) for text in texts]

    async def embed_query(self, text: str) -> Sequence[float]:
        return vector(len(text), self.dimensions)


@pytest.fixture
def writer(store: Store, scope: str) -> GraphWriter:
    return GraphWriter(store, scope=scope, clock=lambda: NOW)


class Graph:
    """Reads back what stands in one scope."""

    def __init__(self, driver: neo4j.AsyncDriver, scope: str) -> None:
        self._driver = driver
        self._scope = scope

    async def rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        records, _, _ = await self._driver.execute_query(query, scope=self._scope, **parameters)
        return [record.data() for record in records]

    async def node(self, id_: str) -> dict[str, Any]:
        found = await self.rows(
            "MATCH (m:Memory {scope: $scope, id: $id}) "
            "RETURN properties(m) AS properties, labels(m) AS labels",
            id=id_,
        )
        assert len(found) == 1
        return {**found[0]["properties"], "labels": set(found[0]["labels"])}

    async def ids(self) -> list[str]:
        rows = await self.rows("MATCH (m:Memory {scope: $scope}) RETURN m.id AS id ORDER BY id")
        return [row["id"] for row in rows]

    async def edges(self) -> list[dict[str, Any]]:
        return await self.rows(
            "MATCH (a:Memory {scope: $scope})-[r:RELATES]->(b) RETURN a.id AS source, "
            "b.id AS target, properties(r) AS properties "
            "ORDER BY source, target, r.relation"
        )

    async def embedded(self) -> set[str]:
        rows = await self.rows(
            "MATCH (m:Memory {scope: $scope}) WHERE m.embedding IS NOT NULL RETURN m.id AS id"
        )
        return {row["id"] for row in rows}


@pytest.fixture
def graph(driver: neo4j.AsyncDriver, scope: str) -> Graph:
    return Graph(driver, scope)


async def test_every_field_is_stored_as_the_design_says(
    writer: GraphWriter, graph: Graph, scope: str
) -> None:
    report = await writer.write(
        [
            memory(
                "m1",
                tags=["b", "a", "b"],
                topics=["t"],
                entities=["e"],
                category="work",
                priority=0.5,
                when={"season": ["winter", {"b": 1, "a": 2}]},
                created_at=datetime(2025, 5, 6, 7, 8, 9),
                metadata={"é": None},
                embedding=vector(),
            )
        ]
    )
    assert report == WriteReport(memories=1, memories_created=1)
    node = await graph.node("m1")
    assert node.pop("embedding") == vector()
    assert node.pop("created_at").to_native() == datetime(2025, 5, 6, 7, 8, 9, tzinfo=UTC)
    assert node == {
        "labels": {"Memory", "Event"},
        "id": "m1",
        "scope": scope,
        "scope_key": scope_key(scope),
        "text": "the mill closed",
        "tags": ["a", "b"],
        "topics": ["t"],
        "entities": ["e"],
        "category": "work",
        "priority": 0.5,
        "when": '{"season": ["winter", {"a": 2, "b": 1}]}',
        "metadata": '{"é": null}',
        "metadata_pairs": ['"é":'],
    }


async def test_a_memory_without_a_time_gets_the_writers_clock_once(
    store: Store, scope: str, graph: Graph
) -> None:
    for year in (2026, 2027):
        writer = GraphWriter(store, scope=scope, clock=partial(NOW.replace, year))
        await writer.write([memory("m1")])
    assert (await graph.node("m1"))["created_at"].to_native() == NOW


async def test_writing_twice_changes_nothing(writer: GraphWriter, graph: Graph) -> None:
    memories = [memory(f"m{i}", embedding=vector(i), tags=["t"]) for i in range(5)]
    relations = [Relation(source="m0", target=f"m{i}", tags=["t"]) for i in range(1, 5)]
    first = await writer.write(memories, relations)
    assert (first.memories_created, first.relations_created) == (5, 4)
    nodes = [await graph.node(f"m{i}") for i in range(5)]
    edges = await graph.edges()
    second = await writer.write(memories, relations)
    assert second == WriteReport(memories=5, relations=4)
    assert [await graph.node(f"m{i}") for i in range(5)] == nodes
    assert await graph.edges() == edges


async def test_fields_left_out_later_are_removed_and_learning_counters_stay(
    writer: GraphWriter, graph: Graph
) -> None:
    await writer.write([memory("m1", category="work", tags=["t"])])
    await graph.rows("MATCH (m:Memory {scope: $scope}) SET m.uses = 7 RETURN 1")
    await writer.write([memory("m1")])
    node = await graph.node("m1")
    assert "category" not in node
    assert node["tags"] == []
    assert node["uses"] == 7


async def test_a_new_kind_replaces_the_old_one_and_no_other_label(
    writer: GraphWriter, graph: Graph
) -> None:
    await writer.write([memory("m1")])
    await graph.rows("MATCH (m:Memory {scope: $scope}) SET m:Pinned RETURN 1")
    await writer.write([memory("m1", kind="DataSource")])
    assert (await graph.node("m1"))["labels"] == {"Memory", "DataSource", "Pinned"}


async def test_a_kind_that_was_not_declared_is_refused(writer: GraphWriter, graph: Graph) -> None:
    with pytest.raises(InvalidInputError, match=r"kind must be one of UserRequest.*'Rumour'"):
        await writer.write([memory("m1"), memory("m2", kind="Rumour")])
    assert await graph.ids() == []


async def test_a_declared_kind_is_a_label(store: Store, scope: str, graph: Graph) -> None:
    await GraphWriter(store, scope=scope, kinds=["Rumour"]).write([memory("m", kind="Rumour")])
    assert (await graph.node("m"))["labels"] == {"Memory", "Rumour"}


@for_each(
    "kinds",
    [[], "Event", ["Memory"], ["Event", "LearningChange"], ["A B"], ["é"], ["A\n"], [""], [7]],
)
def test_kinds_that_are_no_free_labels_are_refused(store: Store, kinds: Any) -> None:
    with pytest.raises(InvalidInputError):
        GraphWriter(store, scope="s", kinds=kinds)


@pytest.mark.parametrize("size", [0, 10_001, 1.5, True])
def test_batch_sizes_out_of_range_are_refused(store: Store, size: Any) -> None:
    with pytest.raises(ConfigError, match="batch_size"):
        GraphWriter(store, scope="s", batch_size=size)


def test_a_writer_needs_a_scope(store: Store) -> None:
    with pytest.raises(ScopeError):
        GraphWriter(store, scope="")


@pytest.mark.parametrize("text", INJECTIONS)
async def test_query_text_in_any_slot_is_data(
    store: Store, scope: str, graph: Graph, text: str
) -> None:
    await GraphWriter(store, scope=scope).write([memory("canary")])
    for kind in (text, f"Event{text}"):
        with pytest.raises(InvalidInputError):
            memory("m", kind=kind)
        with pytest.raises(InvalidInputError):
            GraphWriter(store, scope=scope, kinds=[kind])
    hostile_scope = f"{scope}{text}"
    writer = GraphWriter(store, scope=hostile_scope)
    fields = {"tags": [text], "topics": [text], "entities": [text], "category": text}
    maps = {"when": {text: text}, "metadata": {text: [text]}}
    await writer.write(
        [memory(text, text=text, **fields, **maps), memory("other")],
        [Relation(source=text, target="other", relation=text, tags=[text])],
    )
    found = await graph.rows(
        "MATCH (a:Memory {scope: $hostile})-[r:RELATES]->(b) "
        "RETURN a.id AS id, a.text AS text, a.tags AS tags, a.category AS category, "
        "r.relation AS relation, r.tags AS edge_tags",
        hostile=hostile_scope,
    )
    same = {"id": text, "text": text, "category": text, "relation": text}
    assert found == [{**same, "tags": [text], "edge_tags": [text]}]
    assert (await writer.forget([text, "other"])).deleted == 2
    assert await graph.ids() == ["canary"]


async def test_of_equal_ids_in_one_call_the_last_one_counts(store: Store, scope: str) -> None:
    writer = GraphWriter(store, scope=scope, batch_size=2)
    texts = ["one", "two", "three", "four", "five"]
    report = await writer.write(memory("m", text=text) for text in texts)
    assert report.duplicates == 4
    rows = await Graph(store.driver, scope).rows(
        "MATCH (m:Memory {scope: $scope}) RETURN m.text AS text"
    )
    assert rows == [{"text": "five"}]


async def test_values_too_large_for_the_form_they_are_stored_in_are_refused(
    writer: GraphWriter, graph: Graph
) -> None:
    far = datetime.fromisoformat("9999-12-31T23:00:00-05:00")
    bad = [
        memory("b", metadata={"t": "x" * 999_999}),
        memory("c", created_at=far),
        "no memory",
    ]
    for value in bad:
        with pytest.raises(InvalidInputError):
            await writer.write([value])  # type: ignore[list-item]
    report = await writer.write([*bad, memory("good")], skip_invalid=True)  # type: ignore[list-item]
    assert (report.memories, report.skipped) == (1, 3)
    assert [problem.partition(":")[0] for problem in report.problems] == [
        "memory 'b'",
        "memory 'c'",
        "item 3",
    ]
    assert await graph.ids() == ["good"]


@pytest.mark.parametrize(
    ("memories", "relations", "message"),
    [
        (memory("a"), (), r"memories must be a list of Memory, got one Memory: write \[memory\]"),
        (None, (), "memories must be a list of Memory, got nothing"),
        (5, (), "memories must be a list of Memory, got an int"),
        ("a", (), "memories must be a list of Memory, got a str"),
        ([], Relation(source="a", target="b"), r"got one Relation: write \[relation\]"),
        ([], None, "relations must be a list of Relation, got nothing"),
        ([Relation(source="a", target="b")], (), "memories must contain Memory, got a Relation"),
        ([], [memory("a")], "relations must contain Relation, got a Memory"),
    ],
)
async def test_what_is_not_a_list_of_memories_is_refused_before_anything_is_written(
    writer: GraphWriter, graph: Graph, memories: Any, relations: Any, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        await writer.write(memories, relations)
    assert await graph.ids() == []


async def test_a_vector_of_another_size_is_refused(writer: GraphWriter, graph: Graph) -> None:
    with pytest.raises(DimensionError, match=r"^memory 'm1': embedding has 3 dim.*384"):
        await writer.write([memory("m1", embedding=[1, 2, 3])])
    assert await graph.ids() == []


async def test_an_embedder_of_another_size_or_name_is_refused(store: Store, scope: str) -> None:
    wrong_name = CountingEmbedder()
    wrong_name.name = "other"
    for embedder in (CountingEmbedder(dimensions=3), wrong_name):
        with pytest.raises(DimensionError):
            await GraphWriter(store, scope=scope, embedder=embedder).write([memory("m1")])
        assert embedder.texts == []


async def test_only_what_has_no_vector_and_some_text_is_embedded(
    store: Store, scope: str, graph: Graph
) -> None:
    embedder = CountingEmbedder()
    report = await GraphWriter(store, scope=scope, embedder=embedder).write(
        [memory("a", "alpha"), memory("b", "beta", embedding=vector(9)), memory("c", "  ")]
    )
    assert embedder.texts == ["alpha"]
    assert report.embedded == 1
    assert await graph.embedded() == {"a", "b"}
    assert (await graph.node("b"))["embedding"] == vector(9)


async def test_an_unchanged_text_is_not_embedded_again_and_a_changed_one_is(
    store: Store, scope: str, graph: Graph
) -> None:
    await GraphWriter(store, scope=scope, embedder=CountingEmbedder()).write(
        [memory("a", "alpha"), memory("b", "beta")]
    )
    embedder = CountingEmbedder()
    await GraphWriter(store, scope=scope, embedder=embedder).write(
        [memory("a", "alpha", tags=["new"]), memory("b", "something else")]
    )
    assert embedder.texts == ["something else"]
    assert (await graph.node("a"))["embedding"] == vector(len("alpha"))
    assert (await graph.node("b"))["embedding"] == vector(len("something else"))


async def test_without_an_embedder_a_changed_text_loses_its_old_vector(
    writer: GraphWriter, graph: Graph
) -> None:
    await writer.write([memory(id_, embedding=vector()) for id_ in "ab"])
    await writer.write([memory("a", tags=["new"]), memory("b", "something else")])
    assert await graph.embedded() == {"a"}


async def test_after_an_interruption_only_the_rest_is_embedded(
    store: Store, scope: str, graph: Graph
) -> None:
    memories = [memory(f"m{i}", f"text {i}") for i in range(10)]
    broken = CountingEmbedder(breaks_after=2)
    report = await GraphWriter(store, scope=scope, embedder=broken, batch_size=3).write(memories)
    assert (report.memories, report.embedded, report.pending_vectors) == (10, 6, 4)
    embedder = CountingEmbedder()
    report = await GraphWriter(store, scope=scope, embedder=embedder, batch_size=3).write(memories)
    assert sorted(embedder.texts) == [f"text {i}" for i in range(6, 10)]
    assert (report.memories, report.memories_created, report.embedded) == (10, 0, 4)
    assert len(await graph.embedded()) == 10


async def test_backfill_embeds_what_has_no_vector_and_goes_on_after_an_interruption(
    store: Store, scope: str, graph: Graph, writer: GraphWriter
) -> None:
    await writer.write([memory(f"m{i}", f"text {i}") for i in range(10)])
    await writer.write([memory("blank", " "), memory("has", embedding=vector())])
    broken = CountingEmbedder(breaks_after=1)
    with pytest.raises(RuntimeError, match="went away"):
        await GraphWriter(store, scope=scope, embedder=broken, batch_size=4).backfill_embeddings()
    stored = len(await graph.embedded()) - 1
    assert 0 < stored <= 4
    embedder = CountingEmbedder()
    filler = GraphWriter(store, scope=scope, embedder=embedder, batch_size=4)
    assert await filler.backfill_embeddings() == 10 - stored
    assert len(embedder.texts) == 10 - stored
    assert await graph.embedded() == {"has", *(f"m{i}" for i in range(10))}
    assert await filler.backfill_embeddings() == 0


async def test_a_text_that_changes_while_a_vector_is_stored_keeps_no_old_vector(
    store: Store, scope: str, graph: Graph, writer: GraphWriter, driver: neo4j.AsyncDriver
) -> None:
    await writer.write([memory("a", "alpha")])
    async with driver.session() as session:
        other = await session.begin_transaction()

        async def while_it_changes(texts: list[str]) -> list[list[float]]:
            await other.run(
                "MATCH (m:Memory {scope: $scope, id: 'a'}) SET m.text = 'beta'", scope=scope
            )
            committing.append(asyncio.create_task(commit()))
            return [vector() for _ in texts]

        async def commit() -> None:
            blocked = (
                "SHOW TRANSACTIONS YIELD status, metaData WHERE status STARTS WITH 'Blocked' "
                "AND metaData.query = 'ingest.embeddings' RETURN 1"
            )
            # Until the vector waits for it; only the server knows when.
            while not (await driver.execute_query(blocked)).records:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            await other.commit()

        committing: list[asyncio.Task[None]] = []
        model = CallableEmbedder(while_it_changes, dimensions=len(vector()), name="test")
        filler = GraphWriter(store, scope=scope, embedder=model)
        assert await filler.backfill_embeddings() == 0
        await committing[0]
    assert await graph.embedded() == set()


async def test_backfill_embeds_the_kinds_asked_for_and_says_how_far_it_is(
    store: Store, scope: str, graph: Graph, writer: GraphWriter
) -> None:
    await writer.write([memory(f"m{i}", f"text {i}") for i in range(3)])
    await graph.rows(
        "CREATE (:Memory:Film {scope: $scope, id: 'film', text: 'a film'}) "
        "CREATE (:Memory:Film {scope: $scope, id: 'blank'}) RETURN 1"
    )
    steps: list[tuple[str, int, int | None]] = []
    filler = GraphWriter(store, scope=scope, embedder=CountingEmbedder(), batch_size=2)
    assert (await filler.count_unembedded(), await filler.count_unembedded(["Film"])) == (5, 2)
    stored = await filler.backfill_embeddings(
        kinds=["Film"], progress=lambda *step: steps.append(step)
    )
    assert (stored, steps) == (1, [("memories", 2, 2)])
    assert await graph.embedded() == {"film"}
    assert await filler.backfill_embeddings() == 3
    assert await filler.count_unembedded() == 1, "no text, no vector"
    with pytest.raises(InvalidInputError):
        await filler.backfill_embeddings(kinds=["no kind"])


async def test_backfill_needs_an_embedder(writer: GraphWriter) -> None:
    with pytest.raises(ConfigError, match="embedder"):
        await writer.backfill_embeddings()


async def test_an_edge_is_known_by_its_ends_and_relation(writer: GraphWriter, graph: Graph) -> None:
    await writer.write(
        [memory("a"), memory("b")],
        [
            Relation(source="a", target="b", weight=0.2, tags=["old"]),
            Relation(source="a", target="b", relation="caused_by"),
            Relation(source="b", target="a"),
        ],
    )
    await graph.rows("MATCH (:Memory {scope: $scope})-[r:RELATES]->() SET r.uses = 3 RETURN 1")
    later = GraphWriter(writer._store, scope=writer.scope)
    report = await later.write([], [Relation(source="a", target="b", weight=0.9, tags=["new"])])
    assert report == WriteReport(relations=1)
    edges = await graph.edges()
    assert [(e["source"], e["target"], e["properties"]["relation"]) for e in edges] == [
        ("a", "b", "caused_by"),
        ("a", "b", "related"),
        ("b", "a", "related"),
    ]
    properties = edges[1]["properties"]
    assert properties.pop("created_at").to_native() == NOW
    assert properties == {
        "relation": "related",
        "weight": 0.9,
        "tags": ["new"],
        "origin": "ingest",
        "uses": 3,
    }


async def test_locking_leaves_no_property_behind(writer: GraphWriter, graph: Graph) -> None:
    await writer.write([memory("a"), memory("b")], [Relation(source="a", target="b")])
    assert not any("lock" in name for name in await graph.node("a"))


async def test_an_edge_from_a_memory_to_itself_is_refused(writer: GraphWriter) -> None:
    with pytest.raises(InvalidInputError, match="another memory than source"):
        await writer.write([memory("a")], [Relation(source="a", target="a")])


async def test_edges_with_missing_ends_name_them_and_nothing_of_their_batch_is_written(
    writer: GraphWriter, graph: Graph
) -> None:
    relations = [
        Relation(source="a", target="b"),
        Relation(source="a", target="ghost"),
        Relation(source="spectre", target="b"),
    ]
    with pytest.raises(InvalidInputError, match=r"2 memories.*'ghost', 'spectre'"):
        await writer.write([memory("a"), memory("b")], relations)
    assert await graph.edges() == []
    report = await writer.write([], relations, skip_invalid=True)
    assert (report.relations, report.skipped) == (1, 2)
    assert len(await graph.edges()) == 1


async def test_an_edge_into_another_scope_is_refused(
    store: Store, scope: str, writer: GraphWriter, graph: Graph
) -> None:
    other = GraphWriter(store, scope=f"{scope}-other")
    await other.write([memory("theirs"), memory("shared")])
    await writer.write([memory("ours"), memory("shared")])
    with pytest.raises(InvalidInputError, match="theirs"):
        await writer.write([], [Relation(source="ours", target="theirs")])
    await writer.write([], [Relation(source="ours", target="shared")])
    rows = await graph.rows(
        "MATCH (a:Memory {scope: $scope})-[:RELATES]-(b) RETURN b.scope AS scope"
    )
    assert {row["scope"] for row in rows} == {scope}


async def test_concurrent_writers_of_the_same_edges_lose_none_and_never_deadlock(
    store: Store, scope: str, graph: Graph, writer: GraphWriter
) -> None:
    ids = [f"m{i:02}" for i in range(40)]
    await writer.write([memory(id_) for id_ in ids])
    rng = random.Random(5)
    pairs = {tuple(rng.sample(ids, 2)) for _ in range(400)} | {("m00", id_) for id_ in ids[1:]}
    strict = Store(
        store.driver, database=store.database, config=StoreConfig(max_retries=0, query_timeout_s=60)
    )
    relations = [Relation(source=source, target=target) for source, target in sorted(pairs)]

    async def work(seed: int) -> WriteReport:
        mine = relations.copy()
        random.Random(seed).shuffle(mine)
        own = GraphWriter(strict, scope=scope, batch_size=50)
        memories = [memory(id_, f"text {seed}") for id_ in random.Random(seed).sample(ids, 40)]
        return await own.write(memories, mine)

    reports = await asyncio.gather(*(work(seed) for seed in range(8)))
    assert [report.relations for report in reports] == [len(relations)] * 8
    assert sum(report.relations_created for report in reports) == len(relations)
    found = [(edge["source"], edge["target"]) for edge in await graph.edges()]
    assert found == sorted(pairs)


async def test_concurrent_writers_of_the_same_memories_make_each_once(
    store: Store, scope: str, graph: Graph
) -> None:
    ids = [f"m{i:03}" for i in range(300)]

    async def work(seed: int) -> WriteReport:
        mine = random.Random(seed).sample(ids, len(ids))
        return await GraphWriter(store, scope=scope, batch_size=60).write(
            memory(id_, f"text {seed}") for id_ in mine
        )

    reports = await asyncio.gather(*(work(seed) for seed in range(8)))
    assert sum(report.memories_created for report in reports) == len(ids)
    assert await graph.ids() == ids


async def test_forget_deletes_memories_and_their_edges_in_this_scope_only(
    store: Store, scope: str, writer: GraphWriter, graph: Graph
) -> None:
    other = GraphWriter(store, scope=f"{scope}-other")
    for each in (writer, other):
        await each.write(
            [memory(id_) for id_ in "abc"],
            [Relation(source="a", target="b"), Relation(source="b", target="c")],
        )
    assert await writer.forget(["b", "b", "unknown"]) == ForgetReport(deleted=1)
    assert await graph.ids() == ["a", "c"]
    assert await graph.edges() == []
    assert await writer.forget(["b"]) == ForgetReport()
    theirs = Graph(store.driver, f"{scope}-other")
    assert await theirs.ids() == ["a", "b", "c"]
    assert len(await theirs.edges()) == 2


async def test_forget_takes_ids_not_one_string(writer: GraphWriter) -> None:
    with pytest.raises(InvalidInputError, match="list of ids"):
        await writer.forget("abc")


async def test_forget_deletes_a_hub_with_more_edges_than_fit_one_transaction(
    writer: GraphWriter, graph: Graph
) -> None:
    await writer.write([memory("hub"), memory("leaf")])
    await graph.rows(
        "MATCH (a:Memory {scope: $scope, id: 'hub'}) MATCH (b:Memory {scope: $scope, id: 'leaf'}) "
        "UNWIND range(1, 45000) AS i CREATE (a)-[:RELATES {relation: toString(i)}]->(b)"
    )
    assert (await writer.forget(["hub"])).deleted == 1
    assert await graph.ids() == ["leaf"]


async def test_memories_and_edges_are_written_in_one_transaction(store: Store, scope: str) -> None:
    writer = JointWriter(store, scope=scope)
    await writer.ready()
    joint = await writer.prepare([memory("a"), memory("b")], [Relation(source="a", target="b")])
    report, _ = await writer.commit(joint.write, joint, name="test.joint")
    assert (report.memories_created, report.relations_created) == (2, 1)


async def test_memories_are_not_written_where_an_end_of_an_edge_is_missing(
    store: Store, scope: str
) -> None:
    writer = JointWriter(store, scope=scope)
    await writer.ready()
    joint = await writer.prepare([memory("a")], [Relation(source="a", target="nowhere")])
    with pytest.raises(InvalidInputError, match=f"not in scope '{scope}': 'nowhere'"):
        await writer.commit(joint.write, joint, name="test.joint")
    report = await writer.write([memory("a")])
    assert report.memories_created == 1  # so it was not there before


async def test_a_bad_vector_is_asked_for_no_more_while_the_rest_gets_its_own(
    store: Store, scope: str, graph: Graph
) -> None:
    asked: list[list[str]] = []

    def embed(texts: list[str]) -> list[list[float]]:
        asked.append(texts)
        return [[0.0 if text == "bad" else 1.0] * DIMENSIONS for text in texts]

    mine = CallableEmbedder(embed, dimensions=DIMENSIONS, name=EMBEDDER)
    writer = GraphWriter(store, scope=scope, embedder=mine)
    texts = ["bad", *(f"text {number}" for number in range(127))]
    memories = [Memory(id=text, kind="Event", text=text) for text in texts]
    report = await writer.write(memories, skip_invalid=True)
    assert (report.memories, report.embedded, report.skipped) == (128, 127, 0)
    assert report.pending_vectors == 1
    assert report.problems == (
        f"1 vector is pending (memory 'bad'): embedder {EMBEDDER!r} returned a vector of zeros for "
        "text 1 of 128: cosine similarity is not defined for it",
    )
    assert list(map(len, asked)) == [128, 127]
    assert len(await graph.ids()) == 128


async def test_an_embedder_that_misdeclares_its_size_leaves_all_vectors_pending(
    store: Store, scope: str, graph: Graph
) -> None:
    def embed(texts: list[str]) -> list[list[float]]:
        return [[1.0] * (DIMENSIONS + 1) for _ in texts]

    mine = CallableEmbedder(embed, dimensions=DIMENSIONS, name=EMBEDDER)
    writer = GraphWriter(store, scope=scope, embedder=mine)
    report = await writer.write([memory("a"), memory("b")])
    assert report.pending_vectors == 2
    assert f"{DIMENSIONS + 1} numbers" in report.problems[0]
    assert "it declares" in report.problems[0]
    assert await graph.ids() == ["a", "b"]


async def test_an_error_of_a_list_names_the_memory_or_edge_and_its_place(
    writer: GraphWriter,
) -> None:
    with pytest.raises(InvalidInputError, match=r"^memory 'b': kind must be one of") as caught:
        await writer.write([memory("a"), Memory(id="b", kind="Nothing", text="b")])
    assert (caught.value.item, caught.value.field) == (1, "kind")
    with pytest.raises(InvalidInputError, match=r"^edge 'a' to 'a': target must be another"):
        await writer.write([memory("a")], [Relation(source="a", target="a")])
