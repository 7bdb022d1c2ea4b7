"""Linking on the real server: the scenarios of source 002, the linker of source 004."""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import neo4j
import numpy as np
import pytest

from memoria.doctor import examine
from memoria.errors import (
    BudgetError,
    ConfigError,
    DeadlineError,
    InvalidInputError,
    MemoriaError,
    QueryError,
    ScopeError,
    UnavailableError,
)
from memoria.graph.clock import advance_clock
from memoria.graph.server_facts import probe
from memoria.graph.vocabulary import ORIGIN_SIMILARITY, SIMILAR, clock_key
from memoria.ingest.export import export_lines
from memoria.learn.link import CompositeLinkConfig, LinkConfig, Linker, SimilarityLinkConfig
from memoria.learn.link.nearest import NearestRequest, find_nearest
from memoria.recall.seeds import SeedRequest, search_seeds
from memoria.recall.seeds.config import SeedConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.queries import Query, load
from memoria.types import LinkReport, Memory, MemoryFilter, Relation, Seed, WriteReport
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS
from tests.effort import effort
from tests.integration.doctor.plans import few_plans
from tests.oracle.learning import active_hours_after
from tests.oracle.links import Item, LinkedScope, cosine

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
TOLERANCE = 2e-6  # the server counts cosines in single precision
SIMILARITY = SimilarityLinkConfig()


def at_cosine(cosine: float, axis: int = 1) -> list[float]:
    """A vector at this cosine to the first axis; two on different axes meet at its square."""
    vector = [0.0] * DIMENSIONS
    vector[0] = cosine
    vector[axis] = math.sqrt(1 - cosine * cosine)
    return vector


BASE = at_cosine(1.0)


def memory(id_: str, embedding: Sequence[float] | None = None, **fields: Any) -> Memory:
    return Memory(id=id_, kind="Event", text=f"text {id_}", embedding=embedding, **fields)


class Clock:
    """A wall clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def use(self, hours: int) -> list[datetime]:
        """Moments of so many hours of use."""
        self.now += timedelta(hours=hours)
        return [self.now - timedelta(hours=hours - hour - 1) for hour in range(hours)]


class CountingStore(Store):
    """The store, counting the queries that it runs."""

    def __init__(self, driver: neo4j.AsyncDriver) -> None:
        super().__init__(driver, database="neo4j")
        self.ran: Counter[str] = Counter()

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        self.ran[query.name] += 1
        return await super().run(query, parameters, until=until)


class BrokenStore(CountingStore):
    """The store, but some queries fail."""

    def __init__(self, driver: neo4j.AsyncDriver, **errors: MemoriaError) -> None:
        super().__init__(driver)
        self._errors = {name.replace("__", "."): error for name, error in errors.items()}

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        if query.name in self._errors:
            raise self._errors[query.name]
        return await super().run(query, parameters, until=until)


class ExactStore(CountingStore):
    """The store, comparing all vectors: an index, which other tests fill too, may miss a few."""

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        if query.name in ("link.nearest_search", "link.nearest_procedure"):
            query = load("link.nearest_exact")
        return await super().run(query, parameters, until=until)


class Links:
    """One scope, its linkers, and what they wrote."""

    def __init__(self, store: Store, scope: str) -> None:
        self.store = store
        self.scope = scope
        self.clock = Clock()

    def linker(self, config: LinkConfig | None = None) -> Linker:
        return Linker(self.store, scope=self.scope, config=config, clock=self.clock)

    def writer(self, config: LinkConfig | None = None, *, linking: bool = True) -> GraphWriter:
        linker = self.linker(config) if linking else None
        return GraphWriter(self.store, scope=self.scope, linker=linker, clock=self.clock)

    async def pass_hours(self, hours: int) -> float:
        """Use the scope for so many hours."""
        active = 0.0
        for moment in self.clock.use(hours):
            active = await advance_clock(self.store, scope=self.scope, now=moment)
        return active

    async def rows(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        records, _, _ = await self.store.driver.execute_query(query, scope=self.scope, **parameters)
        return [record.data() for record in records]

    async def edges(self) -> list[dict[str, Any]]:
        return await self.rows(
            "MATCH (a:Memory {scope: $scope})-[r:RELATES]->(b) RETURN a.id AS source, "
            "b.id AS target, properties(r) AS properties ORDER BY source, target, r.relation"
        )

    async def weights(self) -> dict[tuple[str, str], float]:
        """Of its edges, by ends as stored; every pair once, the smaller id first."""
        edges = await self.edges()
        found = {(e["source"], e["target"]): e["properties"]["weight"] for e in edges}
        assert len(found) == len(edges)
        assert all(source < target for source, target in found)
        assert all(e["properties"]["relation"] == SIMILAR for e in edges)
        return found

    async def hours(self) -> dict[str, float | None]:
        rows = await self.rows(
            "MATCH (m:Memory {scope: $scope}) RETURN m.id AS id, m.active_hours AS hours"
        )
        return {row["id"]: row["hours"] for row in rows}

    async def clocks(self) -> list[dict[str, Any]]:
        return await self.rows(
            "MATCH (c:MemoriaMeta {key: $key}) RETURN c.active_hours AS hours",
            key=clock_key(self.scope),
        )


@pytest.fixture
def links(store: Store, scope: str) -> Links:
    return Links(store, scope)


# Source 002: the threshold table and the integration tests of section 11, through the database.


@pytest.mark.parametrize(
    ("cosine", "fields", "hours_apart", "expected"),
    [
        pytest.param(0.60, {"category": "other"}, 40, None, id="0.60 alone"),
        pytest.param(0.70, {"category": "other"}, 40, 0.43, id="0.70 alone"),
        pytest.param(0.50, {"tags": ["x", "y"]}, 0, 0.725, id="0.50 with all context"),
        pytest.param(0.50, {"tags": ["x"]}, 0, 0.625, id="0.50 with half of the tags"),
        pytest.param(0.45, {"tags": ["x", "y"]}, 0, 0.6975, id="0.45 with all context"),
        pytest.param(0.60, {}, 40, 0.48, id="0.60, same category only"),
        pytest.param(0.28, {"tags": ["x", "y"]}, 0, None, id="guard in one session"),
        pytest.param(0.30, {}, 0, 0.415, id="the least edge"),
        pytest.param(0.299, {}, 0, None, id="just under it"),
        pytest.param(0.62, {"category": "other"}, 40, None, id="pure cosine 0.62"),
        pytest.param(0.62, {"category": "other"}, 0, 0.486, id="0.62 in one session"),
        pytest.param(0.78, {"tags": ["x", "y"]}, 0, 0.879, id="weight is composite, not cosine"),
        pytest.param(-0.5, {"tags": ["x", "y"]}, 0, None, id="negative cosine"),
        pytest.param(0.45, {}, 40, None, id="old and new, 0.45"),
        pytest.param(0.46, {}, 40, 0.403, id="old and new, 0.46"),
        pytest.param(0.60, {"category": "other"}, 0, 0.475, id="scenario 4"),
        pytest.param(0.50, {"tags": ["x", "y"]}, 8, 0.625 + 0.1 * math.exp(-0.5), id="sigma"),
    ],
)
async def test_an_edge_is_made_by_its_composite_score(
    links: Links,
    cosine: float,
    fields: dict[str, Any],
    hours_apart: int,
    expected: float | None,
) -> None:
    common: dict[str, Any] = {"tags": ["x", "y"], "category": "knowledge"}
    if "tags" not in fields:
        common["tags"] = []
    await links.writer().write([memory("a", BASE, **common)])
    await links.pass_hours(hours_apart)
    report = await links.writer().write([memory("b", at_cosine(cosine), **common | fields)])
    weights = await links.weights()
    assert report.links_created == len(weights)
    if expected is None:
        assert weights == {}
    else:
        assert weights == {("a", "b"): pytest.approx(expected, abs=TOLERANCE)}


async def test_shared_tags_form_an_edge_at_a_low_cosine(links: Links) -> None:
    # Scenario 2, printed 0.577; 0.45 * 0.55 + 0.20 / 3 + 0.15 + 0.10 = 0.5642.
    await links.writer().write(
        [
            memory("a", BASE, tags=["async", "python"]),
            memory("b", at_cosine(0.45), tags=["async", "database"]),
        ]
    )
    (edge,) = await links.edges()
    assert edge["properties"].pop("weight") == pytest.approx(0.564167, abs=TOLERANCE)
    assert edge["properties"].pop("created_at").to_native() == NOW
    assert edge == {
        "source": "a",
        "target": "b",
        "properties": {
            "relation": "similar",
            "origin": "similarity",
            "tags": ["async"],
            "uses": 0,
        },
    }


async def test_ten_memories_of_one_session_have_no_spurious_edges(links: Links) -> None:
    # Scenario 1: category and session give 0.25, so that without the guard a cosine of
    # (0.40 - 0.25) / 0.55 = 0.2727 would do. Across the two subjects it is 0.99 * share = 0.29.
    # Of the five best of a memory its own subject takes four: there is room for one too many.
    python = [memory(f"p{n}", at_cosine(0.99, n + 1), category="knowledge") for n in range(5)]
    share = 0.29 / 0.99
    sql = []
    for n in range(5):
        vector = at_cosine(share, 20)
        vector[20], vector[21 + n] = 0.9, math.sqrt(1 - share**2 - 0.9**2)
        sql.append(memory(f"s{n}", vector, category="knowledge"))
    await links.writer().write([*python, *sql])
    pairs = list(await links.weights())
    assert len(pairs) == 2 * 10
    assert all(source[0] == target[0] for source, target in pairs)


async def test_at_most_five_edges_are_made_for_a_new_memory(links: Links) -> None:
    await links.writer(linking=False).write(
        [memory(f"m{n}", at_cosine(0.5 + n / 100, n + 1)) for n in range(9)]
    )
    await links.writer().write([memory("new", BASE)])
    # Two of them meet at a cosine of about a quarter: no edges among themselves.
    assert sorted(await links.weights()) == [(f"m{n}", "new") for n in range(4, 9)]


async def test_one_batch_reads_all_tags_at_once(driver: neo4j.AsyncDriver, scope: str) -> None:
    store = CountingStore(driver)
    rng = random.Random(3)
    memories = [memory(f"m{n:03}", [rng.random() for _ in range(DIMENSIONS)]) for n in range(100)]
    await GraphWriter(store, scope=scope).write(memories)
    store.ran.clear()
    report = await Linker(store, scope=scope).link()
    assert report.memories == 100
    assert (
        store.ran["link.facts"] == store.ran["link.write"] == store.ran["graph.advance_clock"] == 1
    )
    assert store.ran["link.nearest_search"] + store.ran["link.nearest_procedure"] == 7


async def test_facts_of_several_memories_of_none_and_of_missing_ones(links: Links) -> None:
    await links.writer(linking=False).write([memory("a", tags=["b", "a"]), memory("bare")])

    async def facts(*ids: str) -> list[list[Any]]:
        parameters = {"ids": list(ids), "scope": links.scope}
        rows: list[list[Any]] = (await links.store.run(load("link.facts"), parameters))[0]["rows"]
        return rows

    assert await facts() == await facts("missing") == []
    assert await facts("a", "missing", "bare") == [
        ["a", ["a", "b"], None, [], [], None, False],
        ["bare", [], None, [], [], None, False],
    ]


# What is linked, and what is not.


async def test_an_unknown_scope_and_an_empty_list_link_nothing_and_leave_nothing(
    links: Links,
) -> None:
    assert await links.linker().link() == LinkReport()
    assert await links.linker().link([]) == LinkReport()
    assert await links.linker().link(["x", "y", "x"]) == LinkReport(missing=2)
    assert await links.linker().prune() == 0
    assert await links.clocks() == []


@pytest.mark.parametrize("scope", ["", None])
def test_a_linker_needs_a_scope(store: Store, scope: Any) -> None:
    with pytest.raises(ScopeError):
        Linker(store, scope=scope)


def test_a_linker_needs_settings_of_its_own(store: Store) -> None:
    with pytest.raises(ConfigError, match="CompositeLinkConfig or a SimilarityLinkConfig"):
        Linker(store, scope="s", config="composite")  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, 10_001, 1.5, True])
def test_batch_sizes_of_a_linker_out_of_range_are_refused(store: Store, size: Any) -> None:
    with pytest.raises(ConfigError, match="batch_size"):
        Linker(store, scope="s", batch_size=size)


def test_writer_and_linker_are_of_the_same_scope(store: Store) -> None:
    with pytest.raises(ConfigError, match="'b', not 'a'"):
        GraphWriter(store, scope="a", linker=Linker(store, scope="b"))


@pytest.mark.parametrize("ids", ["a", [""], [7]])
async def test_ids_are_a_list_of_identifiers(links: Links, ids: Any) -> None:
    with pytest.raises(InvalidInputError):
        await links.linker().link(ids)


@pytest.mark.parametrize("below", [-0.1, 1.1, math.nan, "0.1"])
async def test_prune_checks_its_threshold(links: Links, below: Any) -> None:
    with pytest.raises(InvalidInputError, match="below"):
        await links.linker().prune(below=below)


async def test_memories_without_a_vector_of_the_index_are_counted_and_left_out(
    links: Links,
) -> None:
    await links.writer(linking=False).write([memory("a", BASE), memory("b", BASE)])
    await links.writer(linking=False).write([memory(id_) for id_ in ("none", *"cdefg")])
    for id_, vector in {
        "c": [0.5] * 3,
        "d": [0.0] * DIMENSIONS,
        "e": [math.nan] * DIMENSIONS,
        "f": ["x"] * DIMENSIONS,
        "g": 5,
    }.items():
        await links.rows(
            "MATCH (m:Memory {scope: $scope, id: $id}) SET m.embedding = $v RETURN 1",
            id=id_,
            v=vector,
        )
    report = await links.linker().link()
    assert report == LinkReport(memories=2, without_embedding=6, edges=1, edges_created=1)
    assert list(await links.weights()) == [("a", "b")]
    # Not marked as linked: a vector that comes later is linked then.
    await links.writer(linking=False).write([memory("none", BASE)])
    assert (await links.linker().link(only_new=True)).memories == 1
    assert len(await links.weights()) == 3


async def test_scopes_are_not_linked_to_each_other(links: Links) -> None:
    other = Links(links.store, f"{links.scope}-other")
    for each in (other, links):
        await each.writer().write([memory("a", BASE), memory("b", at_cosine(0.9))])
    rows = await links.rows("MATCH (a:Memory {scope: $scope})-[r]-(b) RETURN b.scope AS scope")
    assert {row["scope"] for row in rows} == {links.scope}


async def test_linking_again_changes_nothing(links: Links, driver: neo4j.AsyncDriver) -> None:
    links.store = ExactStore(driver)
    rng = random.Random(4)
    memories = [
        memory(f"m{n:02}", [rng.random() for _ in range(DIMENSIONS)], tags=rng.sample("abc", 2))
        for n in range(30)
    ]
    first = await links.writer().write(memories)
    assert (first.linked, first.links, first.links_created) == (30, first.links, first.links)
    edges, hours = await links.edges(), await links.hours()
    links.clock.now += timedelta(minutes=30)
    report = await links.linker().link()
    assert (report.memories, report.edges_created) == (30, 0)
    assert report.edges == len(edges)
    assert await links.edges() == edges
    assert await links.hours() == hours
    again = await links.writer(SIMILARITY).write(memories)
    assert again == WriteReport(memories=30), "what was linked is left alone"
    assert await links.edges() == edges


async def test_a_changed_text_is_linked_anew(links: Links) -> None:
    await links.writer().write([memory("a", BASE), memory("b", at_cosine(0.0))])
    assert await links.weights() == {}
    await links.pass_hours(3)
    changed = Memory(id="b", kind="Event", text="another text", embedding=at_cosine(0.9))
    report = await links.writer().write([memory("a", BASE), changed])
    assert (report.linked, report.links_created) == (1, 1)
    assert await links.hours() == {"a": 0.0, "b": 3.0}


async def test_an_ingest_interrupted_before_linking_is_completed_by_the_next(links: Links) -> None:
    memories = [memory("a", BASE), memory("b", at_cosine(0.9))]
    await links.writer(linking=False).write(memories)
    report = await links.writer().write(memories)
    assert (report.memories_created, report.linked, report.links_created) == (0, 2, 1)


async def test_an_edge_that_points_the_other_way_is_the_same_edge(links: Links) -> None:
    await links.writer(linking=False).write(
        [memory("a", BASE), memory("b", at_cosine(0.9)), memory("c", at_cosine(0.9, 2))],
        [
            Relation(source="b", target="a", relation=SIMILAR, weight=0.1, tags=["mine"]),
            Relation(source="b", target="a", relation="caused", weight=0.2),
            Relation(source="c", target="a", relation=SIMILAR, weight=1.0),
        ],
    )
    await links.linker().link(["a", "b", "c"])
    edges = {
        (e["source"], e["target"], e["properties"]["relation"]): e["properties"]
        for e in await links.edges()
    }
    assert sorted(edges) == [
        ("b", "a", "caused"),
        ("b", "a", SIMILAR),
        ("b", "c", SIMILAR),
        ("c", "a", SIMILAR),
    ]
    mine = edges["b", "a", SIMILAR]
    assert mine["weight"] == pytest.approx(0.745, abs=TOLERANCE)
    assert (mine["tags"], mine["origin"]) == (["mine"], "ingest")
    assert edges["b", "a", "caused"]["weight"] == 0.2
    assert edges["c", "a", SIMILAR]["weight"] == 1.0, "never weakened"


# Source 004: creation, strengthening, topics and entities.


async def test_the_similarity_linker_takes_the_nearest_at_their_cosine(links: Links) -> None:
    old = {"m1": 0.9, "m2": 0.8, "m3": 0.7, "m4": 0.65, "m5": 0.2}
    await links.writer(linking=False).write(
        [memory(id_, at_cosine(cosine, n + 1)) for n, (id_, cosine) in enumerate(old.items())]
    )
    await links.writer(SIMILARITY).write([memory("new", BASE)])
    assert await links.weights() == {
        (id_, "new"): pytest.approx(old[id_], abs=TOLERANCE) for id_ in ("m1", "m2", "m3")
    }


async def test_linker_strengthens_existing_edge(links: Links) -> None:
    await links.writer(SIMILARITY).write([memory("a", BASE), memory("b", at_cosine(0.75))])
    for expected in (0.85, 0.95, 1.0, 1.0):
        links.clock.use(1)
        report = await links.linker(SIMILARITY).link()
        assert (report.edges, report.edges_created) == (1, 0)
        weights = await links.weights()
        assert weights == {("a", "b"): pytest.approx(expected, abs=TOLERANCE)}
    assert weights["a", "b"] == 1.0
    (edge,) = await links.edges()
    times = {name: time for name, time in edge["properties"].items() if name.endswith("_at")}
    assert {name: time.to_native() for name, time in times.items()} == {"created_at": NOW}


async def test_a_pair_is_strengthened_once_a_call_however_many_batches_it_spans(
    links: Links, store: Store
) -> None:
    await links.writer(SIMILARITY).write([memory("a", BASE), memory("b", at_cosine(0.7))])
    await Linker(store, scope=links.scope, config=SIMILARITY, batch_size=1).link()
    assert await links.weights() == {("a", "b"): pytest.approx(0.8, abs=TOLERANCE)}


async def test_ingest_strengthens_an_edge_that_linking_made_once_for_each_new_text(
    links: Links,
) -> None:
    await links.writer(SIMILARITY).write([memory("a", BASE), memory("b", at_cosine(0.7))])
    assert await links.weights() == {("a", "b"): pytest.approx(0.7, abs=TOLERANCE)}
    for text, expected in (("second", 0.8), ("third", 0.9), ("fourth", 1.0), ("fifth", 1.0)):
        changed = Memory(id="b", kind="Event", text=text, embedding=at_cosine(0.7))
        report = await links.writer(SIMILARITY).write([changed])
        assert (report.linked, report.links, report.links_created) == (1, 1, 0)
        again = await links.writer(SIMILARITY).write([memory("a", BASE), changed])
        assert again == WriteReport(memories=2), "written again it strengthens nothing"
        assert await links.weights() == {("a", "b"): pytest.approx(expected, abs=TOLERANCE)}


async def test_an_ingest_that_ends_between_writing_and_linking_strengthens_once(
    links: Links,
) -> None:
    await links.writer(SIMILARITY).write([memory("a", BASE), memory("b", at_cosine(0.7))])
    for text in ("second", "third"):
        changed = Memory(id="b", kind="Event", text=text, embedding=at_cosine(0.7))
        await links.writer(linking=False).write([changed])
    for _ in range(2):
        await links.writer(SIMILARITY).write([memory("a", BASE), changed])
    assert await links.weights() == {("a", "b"): pytest.approx(0.8, abs=TOLERANCE)}


async def test_memories_that_are_new_strengthen_no_edge_that_their_own_ingest_made(
    links: Links, store: Store
) -> None:
    memories = [memory("a", BASE), memory("b", at_cosine(0.7))]
    await links.writer(linking=False).write(memories)
    single = Linker(store, scope=links.scope, config=SIMILARITY, clock=links.clock)
    await single.link(["a"], only_new=True)  # the ingest ended here
    await links.writer(SIMILARITY).write(memories)
    assert await links.weights() == {("a", "b"): pytest.approx(0.7, abs=TOLERANCE)}


async def test_a_write_that_was_lost_on_the_way_and_sent_again_strengthens_once(
    links: Links,
) -> None:
    await links.writer(SIMILARITY).write([memory("a", BASE), memory("b", at_cosine(0.7))])
    parameters = {
        "event": "e1",
        "ids": ["a", "b"],
        "increment": 0.1,
        "key": clock_key(links.scope),
        "linked": [["a", None]],
        "now": NOW,
        "origin": ORIGIN_SIMILARITY,
        "relation": SIMILAR,
        "rows": [["a", "b", 0.7, [], True]],
        "scope": links.scope,
    }
    for event in ("e1", "e1", "e2", "e1"):
        await links.store.run(load("link.write"), parameters | {"event": event})
    assert await links.weights() == {("a", "b"): pytest.approx(0.9, abs=TOLERANCE)}


async def test_shared_topics_and_entities_link_memories_that_are_not_near(links: Links) -> None:
    await links.writer(SIMILARITY).write(
        [
            memory("a", BASE, topics=["sea"], entities=["Ada"]),
            memory("b", at_cosine(0.1, 2), topics=["sea"], entities=["Ada"]),
            memory("c", at_cosine(0.2, 3), entities=["Ada"]),
            memory("d", at_cosine(0.5, 4)),
        ]
    )
    assert await links.weights() == {
        ("a", "b"): 1.0,
        ("a", "c"): 0.5,
        ("b", "c"): 0.5,
    }


# Prune.


async def test_prune_deletes_weak_edges_that_linking_made_and_no_others(links: Links) -> None:
    vectors = {"a": BASE, "b": at_cosine(0.9), "c": at_cosine(0.8, 2), "d": at_cosine(0.0, 3)}
    await links.writer().write(
        [memory(id_, vector) for id_, vector in vectors.items()],
        [Relation(source="a", target="d", weight=0.01)],
    )
    await links.rows(
        "MATCH (:Memory {scope: $scope, id: 'a'})-[r:RELATES {relation: 'similar'}]-(b) "
        "SET r.weight = CASE b.id WHEN 'b' THEN 0.0999 ELSE 0.1 END RETURN 1"
    )
    assert await links.linker().prune() == 1
    assert await links.linker().prune() == 0
    found = [(edge["source"], edge["target"]) for edge in await links.edges()]
    assert found == [("a", "c"), ("a", "d"), ("b", "c")]
    assert await links.linker().prune(below=1.0) == 2


# The scope's clock.


async def test_the_clock_runs_with_use_and_an_hour_at_most_between(links: Links) -> None:
    pauses = [0.0, 0.25, 0.5, 1.0, 1.5, 100.0, -30.0, 0.125]
    hours, seen, now = 0.0, NOW, NOW
    for pause in pauses:
        now += timedelta(hours=pause)
        hours = active_hours_after(hours, (now - seen) / timedelta(hours=1))
        seen = max(seen, now)
        for _ in range(2):  # sent again it changes nothing
            found = await advance_clock(links.store, scope=links.scope, now=now)
            assert found == pytest.approx(hours, abs=1e-9)
    assert hours == 3.75 + 0.0
    assert await links.clocks() == [{"hours": hours}]


async def test_concurrent_users_of_the_clock_count_no_time_twice(links: Links) -> None:
    moments = [NOW + timedelta(minutes=minute) for minute in range(40)]
    random.Random(2).shuffle(moments)
    await advance_clock(links.store, scope=links.scope, now=NOW)
    await asyncio.gather(
        *(advance_clock(links.store, scope=links.scope, now=moment) for moment in moments)
    )
    assert len(clocks := await links.clocks()) == 1
    assert clocks[0]["hours"] == pytest.approx(39 / 60, abs=1e-9)


async def test_memories_of_one_batch_share_the_scopes_hour_and_keep_it(links: Links) -> None:
    await links.writer().write([memory("a", BASE), memory("b", BASE)])
    await links.pass_hours(5)
    await links.writer().write([memory("a", BASE), memory("c", BASE)])
    assert await links.hours() == {"a": 0.0, "b": 0.0, "c": 5.0}
    apart = 0.1 * math.exp(-25 / 128)
    assert await links.weights() == {
        ("a", "b"): pytest.approx(0.8, abs=TOLERANCE),
        ("a", "c"): pytest.approx(0.7 + apart, abs=TOLERANCE),
        ("b", "c"): pytest.approx(0.7 + apart, abs=TOLERANCE),
    }


async def test_a_memory_never_linked_stands_at_hour_zero(links: Links) -> None:
    await links.writer(linking=False).write([memory("old", BASE)])
    await links.pass_hours(31)
    await links.writer().write([memory("new", at_cosine(0.5))])
    assert await links.hours() == {"old": None, "new": 30.0}
    # 0.275 + 0.15 + 0.10 exp(-900 / 128)
    assert await links.weights() == {("new", "old"): pytest.approx(0.425088, abs=TOLERANCE)}


async def test_linking_a_whole_scope_learns_all_its_memories_at_once(links: Links) -> None:
    await links.pass_hours(31)
    await links.writer(linking=False).write([memory("a", BASE), memory("b", at_cosine(0.5))])
    await links.linker().link()
    assert await links.hours() == {"a": 30.0, "b": 30.0}
    assert await links.weights() == {("a", "b"): pytest.approx(0.525, abs=TOLERANCE)}


# Against the plain Python.


@pytest.mark.parametrize("seed", range(effort().linked_scopes))
async def test_generated_scopes_are_linked_as_the_reference_says(
    links: Links, driver: neo4j.AsyncDriver, seed: int
) -> None:
    links.store = ExactStore(driver)
    rng = random.Random(seed)
    centres = [[rng.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(3)]
    spread = rng.choice([0.7, 1.0, 1.4])

    def some(values: str) -> frozenset[str]:
        return frozenset(rng.sample(values, rng.randint(0, 3)))

    items = [
        Item(
            id=f"m{number:02}",
            vector=[x + rng.gauss(0, spread) for x in rng.choice(centres)],
            tags=some("abcd"),
            category=rng.choice([None, "", "fact", "plan"]),
            topics=some("stuvwxyz"),
            entities=some("stuvwxyz"),
        )
        for number in range(40)
    ]
    rng.shuffle(items)
    expected = LinkedScope()
    configs: list[LinkConfig] = [CompositeLinkConfig(), SIMILARITY]
    for start in (0, 15, 30):
        batch = items[start : start + 15]
        config = rng.choice(configs)
        hours = await links.pass_hours(rng.randint(1, 9))
        await links.writer(config).write(
            Memory(
                id=item.id,
                kind="Event",
                text="x",
                embedding=item.vector,
                tags=tuple(item.tags),
                category=item.category,
                topics=tuple(item.topics),
                entities=tuple(item.entities),
            )
            for item in batch
        )
        expected.add(batch)
        _link(expected, config, [item.id for item in batch], hours)
    config = rng.choice(configs)
    again = [item.id for item in rng.sample(items, 10)]
    await links.linker(config).link(again)
    _link(expected, config, again, hours)
    assert await links.weights() == pytest.approx(expected.edges, abs=1e-5)
    assert len(expected.edges) > 10


def _link(scope: LinkedScope, config: LinkConfig, ids: list[str], hours: float) -> None:
    if isinstance(config, SimilarityLinkConfig):
        scope.link_similarity(ids, hours)
    else:
        scope.link_composite(ids, hours)


# The index, in both dialects.


async def test_every_way_of_searching_finds_the_same(links: Links, store: Store) -> None:
    rng = random.Random(8)
    vectors = {f"m{n:03}": [rng.gauss(0, 1) for _ in range(DIMENSIONS)] for n in range(150)}
    await links.writer(linking=False).write([memory(i, v) for i, v in vectors.items()])
    ids = sorted(vectors)[:70]
    found = {}
    facts = await probe(store)
    for dialect in sorted({facts.vector_dialect, "procedure"}):
        request = NearestRequest(scope=links.scope, candidates=20, dialect=dialect)
        found[dialect] = await find_nearest(store, ids, request)
    rows = (
        await store.run(load("link.nearest_exact"), {"ids": ids, "limit": 21, "scope": links.scope})
    )[0]["rows"]
    exact = {id_: [other for other, _ in hits if other != id_] for id_, hits in rows}
    for hits_by_id in found.values():
        assert sorted(hits_by_id) == ids
        for id_, hits in hits_by_id.items():
            assert id_ not in dict(hits)
            # An index may miss a few; here hardly any.
            assert len({other for other, _ in hits}.intersection(exact[id_])) >= 18


async def test_a_small_scope_hidden_in_a_large_index_is_searched_exactly(
    links: Links, driver: neo4j.AsyncDriver
) -> None:
    crowd = Links(links.store, f"{links.scope}-crowd")
    await crowd.writer(linking=False).write(
        [memory(f"m{n:03}", at_cosine(0.999, n % 380 + 1)) for n in range(400)]
    )
    await links.writer(linking=False).write([memory("a", BASE), memory("b", at_cosine(0.9))])
    counting = CountingStore(driver)
    request = NearestRequest(scope=links.scope, candidates=4, dialect="procedure")
    found = await find_nearest(counting, ["a", "b"], request)
    assert found == {"a": [("b", 0.9)], "b": [("a", 0.9)]}
    assert counting.ran == {"link.nearest_procedure": 2, "link.nearest_exact": 1}


@pytest.mark.parametrize("error", [DeadlineError, BudgetError, QueryError])
async def test_where_vectors_can_not_be_compared_exactly_the_hits_of_the_index_are_kept(
    links: Links, driver: neo4j.AsyncDriver, error: type[MemoriaError]
) -> None:
    # A direction of its own: the procedure returns the nearest of all scopes.
    drawn = np.random.default_rng(int(uuid4())).normal(size=(2, len(BASE)))
    near, also = drawn[0].tolist(), (drawn[0] + drawn[1] / 10).tolist()
    await links.writer(linking=False).write([memory("a", near), memory("b", also)])
    broken = BrokenStore(driver, link__nearest_exact=error("x"), seeds__vector_exact=error("x"))
    nearest = NearestRequest(scope=links.scope, candidates=4, dialect="procedure")
    assert set(await find_nearest(broken, ["a"], nearest)) == {"a"}
    request = SeedRequest(
        text="",
        vector=near,
        scope=links.scope,
        where=MemoryFilter(),
        dialect="procedure",
        config=SeedConfig(),
        until=None,
    )
    found = await search_seeds(broken, request)
    assert {seed.id for seed in found.seeds} == {"a", "b"}
    assert any("exact" in each for each in found.degraded)


async def test_where_exact_search_fails_what_the_index_found_is_used(
    links: Links, driver: neo4j.AsyncDriver
) -> None:
    rng = random.Random(21)  # a direction of its own: other tests fill the index, too

    def anywhere() -> list[float]:
        return [rng.gauss(0, 1) for _ in range(DIMENSIONS)]

    one = anywhere()
    near = [x + rng.gauss(0, 0.1) for x in one]
    await links.writer(linking=False).write([memory("a", one), memory("b", near)])
    crowd = Links(links.store, f"{links.scope}-crowd")
    await crowd.writer(linking=False).write([memory(f"m{n}", anywhere()) for n in range(200)])
    broken = BrokenStore(driver, link__nearest_exact=QueryError("refused"))
    request = NearestRequest(scope=links.scope, candidates=2, dialect="procedure")
    found = await find_nearest(broken, ["a"], request)
    assert [id_ for id_, _ in found["a"]] == ["b"]


@pytest.mark.parametrize(
    "names",
    [
        ["link__state"],
        ["link__nearest_search", "link__nearest_procedure"],
        ["link__facts"],
        ["link__write"],
    ],
    ids=lambda names: names[0],
)
async def test_an_error_of_a_query_is_the_error_of_the_call_and_the_next_one_completes_it(
    links: Links, driver: neo4j.AsyncDriver, names: list[str]
) -> None:
    memories = [memory("a", BASE), memory("b", at_cosine(0.9))]
    broken = BrokenStore(driver, **{name: UnavailableError("gone") for name in names})
    writer = GraphWriter(broken, scope=links.scope, linker=Linker(broken, scope=links.scope))
    with pytest.raises(UnavailableError, match="gone"):
        await writer.write(memories)
    assert await links.weights() == {}
    report = await links.writer().write(memories)
    assert (report.memories_created, report.links_created) == (0, 1)


# Several at once.


def clustered(count: int, seed: int) -> list[Memory]:
    rng = random.Random(seed)
    centres = [[rng.gauss(0, 1) for _ in range(DIMENSIONS)] for _ in range(4)]
    return [
        memory(f"m{n:03}", [x + rng.gauss(0, 0.7) for x in rng.choice(centres)])
        for n in range(count)
    ]


async def test_concurrent_ingests_of_one_scope_make_each_edge_once(links: Links) -> None:
    memories = clustered(120, seed=11)
    await asyncio.gather(
        *(links.writer(SIMILARITY).write(memories[start::6]) for start in range(6))
    )
    vectors = {m.id: list(m.embedding or ()) for m in memories}
    weights = await links.weights()
    # Who finds whom depends on who came first; what a pair weighs does not.
    assert len(weights) > 120
    for (one, other), weight in weights.items():
        assert weight == pytest.approx(cosine(vectors[one], vectors[other]), abs=TOLERANCE)


async def test_concurrent_linkers_of_one_scope_do_what_one_does(
    links: Links, driver: neo4j.AsyncDriver
) -> None:
    memories = clustered(60, seed=13)
    ids = [m.id for m in memories]
    links.store = ExactStore(driver)
    alone = Links(links.store, f"{links.scope}-alone")
    for each in (links, alone):
        await each.writer(linking=False).write(memories)
    await alone.linker(SIMILARITY).link()
    await asyncio.gather(*(links.linker(SIMILARITY).link(ids[part::6]) for part in range(6)))
    first = await links.weights()
    assert first == pytest.approx(await alone.weights(), abs=TOLERANCE)
    await asyncio.gather(*(links.linker(SIMILARITY).link() for _ in range(3)))
    strengthened = {pair: min(1.0, weight + 0.3) for pair, weight in first.items()}
    assert await links.weights() == pytest.approx(strengthened, abs=TOLERANCE)


async def test_concurrent_writers_of_edges_and_linkers_lose_nothing(
    links: Links, driver: neo4j.AsyncDriver
) -> None:
    links.store = ExactStore(driver)
    rng = random.Random(12)
    centre = [rng.gauss(0, 1) for _ in range(DIMENSIONS)]
    memories = [memory(f"m{n:02}", [x + rng.gauss(0, 1) for x in centre]) for n in range(40)]
    await links.writer(linking=False).write(memories)
    relations = [
        Relation(source=f"m{a:02}", target=f"m{b:02}", relation=SIMILAR, weight=1.0)
        for a, b in (rng.sample(range(40), 2) for _ in range(200))
        if a < b
    ]
    await asyncio.gather(
        *(links.linker().link() for _ in range(3)),
        *(links.writer(linking=False).write([], relations[part::3]) for part in range(3)),
        *(links.writer().write(memories) for _ in range(2)),
    )
    weights = await links.weights()
    assert {(r.source, r.target) for r in relations} <= weights.keys()
    assert await links.linker().link() == LinkReport(
        memories=40, edges=(await links.linker().link()).edges
    )


# With the rest of memoria.


async def test_recall_follows_the_edges_that_linking_made(
    links: Links, driver: neo4j.AsyncDriver
) -> None:
    await links.writer().write([memory("a", BASE), memory("b", at_cosine(0.9))])
    retriever = GraphRetriever(driver, scope=links.scope)
    found = [e async for e in retriever.explore_seeds([Seed(id="b", score=1.0)])]
    (path,) = found[0].paths
    assert [node.id for node in path.memories] == ["b", "a"]
    assert path.hops[0].relation == SIMILAR
    assert path.energy == pytest.approx(0.9 * 0.55 + 0.25, abs=TOLERANCE)


async def test_the_doctor_finds_no_fault_with_links(links: Links) -> None:
    await links.writer().write(
        [memory("a", BASE, tags=["y", "x"]), memory("b", at_cosine(0.9), tags=["x", "y"])]
    )
    queries = ("link.write", "graph.advance_clock", "graph.page")
    with few_plans(queries):
        found = await examine(links.store, scope=links.scope, rng=random.Random(1))
    assert [
        (f.check, f.message)
        for f in found.findings
        if f.check.startswith(("edges", "memories", "graph", "plans")) and f.severity != "ok"
    ] == []
    assert {f.check for f in found.findings} >= {f"plans.{name}" for name in queries}


async def test_links_survive_an_export_and_are_not_doubled_by_linking_again(links: Links) -> None:
    await links.writer().write([memory("a", BASE), memory("b", at_cosine(0.9))])
    skipped: Counter[str] = Counter()
    lines = [
        line
        async for line in export_lines(
            links.store, scope=links.scope, on_skipped=lambda s: skipped.update([s.field])
        )
    ]
    assert skipped == {}
    assert len(lines) == 4
    assert '"source":"a","target":"b","relation":"similar"' in lines[-2]
    assert lines[-1].startswith('{"clock":{"active_hours":0.0,')
    weights = await links.weights()
    await links.writer(linking=False).write(
        [], [Relation(source="a", target="b", relation=SIMILAR, weight=weights["a", "b"])]
    )
    await links.linker().link()
    assert await links.weights() == weights
