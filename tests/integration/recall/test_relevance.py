"""What ranking asks of the database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import neo4j
import pytest

from memoria.graph.hydrate import hydrate
from memoria.recall.ranking import Facts, FactsRequest, ask_facts
from memoria.recall.ranking.candidates import MAX_DEGREE, Past
from memoria.store import Store
from memoria.types import Edge, Memory, MemoryFilter, Relation
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS

AXIS = [1.0] + [0.0] * (DIMENSIONS - 1)
DIAGONAL = [1.0, 1.0] + [0.0] * (DIMENSIONS - 2)


def event(name: str, embedding: list[float] | None = None) -> Memory:
    return Memory(id=name, kind="Event", text=name, embedding=embedding)


async def ask(store: Store, scope: str, *ids: str, vector: list[float] | None = AXIS) -> Facts:
    facts, _ = await ask_facts(store, FactsRequest(scope=scope, vector=vector), ids, known=ids)
    return facts


async def test_cosines_degrees_and_edges_among_candidates(store: Store, scope: str) -> None:
    memories = [event("a", AXIS), event("b", DIAGONAL), event("c"), event("d", AXIS)]
    edges = [
        Relation(source="a", target="b", relation="weak", weight=0.2),
        Relation(source="b", target="a", relation="strong", weight=0.7),
        Relation(source="a", target="d", relation="other", weight=0.9),
    ]
    await GraphWriter(store, scope=scope).write(memories, edges)
    facts = await ask(store, scope, "a", "b", "c", "nobody")
    assert facts.cosines == {"a": pytest.approx(1.0), "b": pytest.approx(2**-0.5, abs=1e-6)}
    assert facts.degrees == {"a": 3, "b": 2, "c": 0}, "d counts, though it is no candidate"
    assert facts.neighbours == {
        "a": [("b", 0.7, False), ("b", 0.2, True)],
        "b": [("a", 0.2, False), ("a", 0.7, True)],
        "c": [],
    }
    assert facts.edges == (Edge(source="b", target="a", relation="strong"),)
    assert (await ask(store, scope, "a", vector=None)).cosines == {}


async def test_foreign_data_drops_out_without_an_error(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await driver.execute_query(
        "CREATE (a:Memory {scope: $scope, id: 'a', embedding: 'text'}), "
        "(b:Memory {scope: $scope, id: 'b', embedding: [1.0, 2.0]}), "
        "(c:Memory {scope: 'other ' + $scope, id: 'b'}), "
        "(a)-[:RELATES {weight: 'x'}]->(b), (a)-[:RELATES {weight: 0.0/0.0}]->(b), "
        "(a)-[:RELATES {weight: 1.0}]->(c), (a)-[:RELATES {weight: 1.0}]->(a)",
        scope=scope,
    )
    facts = await ask(store, scope, "a", "b")
    assert facts == Facts(cosines={}, degrees={"a": 4, "b": 2}, neighbours={"a": [], "b": []})


async def test_a_hub_is_not_expanded_and_its_edges_are_read_from_the_other_end(
    store: Store, scope: str
) -> None:
    spokes = [event(f"m{n}") for n in range(MAX_DEGREE + 1)]
    edges = [
        Relation(source="hub", target=spoke.id, relation="about", weight=0.5) for spoke in spokes
    ]
    await GraphWriter(store, scope=scope).write([event("hub"), *spokes], edges)
    facts = await ask(store, scope, "hub", "m1")
    assert facts.degrees["hub"] == MAX_DEGREE + 1
    assert facts.neighbours == {"hub": [], "m1": [("hub", 0.5, False)]}


async def test_what_learning_left_comes_along_and_foreign_values_of_it_do_not(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    made = datetime(2026, 5, 2, tzinfo=UTC)
    memories = [Memory(id=id_, kind="Event", text=id_, created_at=made) for id_ in "abcd"]
    await GraphWriter(store, scope=scope).write(memories, [])
    await driver.execute_query(
        "MATCH (m:Memory {scope: $scope}) WHERE m.id <> 'd' SET m += $past[m.id]",
        scope=scope,
        past={
            "a": {"use_count": 3, "use_times": [1.0], "confirmed": 2, "overridden": 1},
            "b": {"right_for": ["Why?"], "wrong_for": ["Who?", "When?"]},
            "c": {"use_count": "x", "use_times": 1, "confirmed": -1, "right_for": "Why?"},
        },
    )
    request = FactsRequest(scope=scope, now=made + timedelta(hours=6))
    facts, _ = await ask_facts(store, request, "abcd", known="abcd")
    assert facts.past == {
        "a": Past(uses=3, age_hours=6.0, confirmed=2, overridden=1),
        "b": Past(age_hours=6.0, right_for=("Why?",), wrong_for=("Who?", "When?")),
        "c": Past(age_hours=6.0),
    }


async def test_memories_come_along_unless_they_are_known(store: Store, scope: str) -> None:
    full = Memory(
        id="full",
        kind="Event",
        text="It rained.",
        tags=["x"],
        topics=["t"],
        entities=["e"],
        category="weather",
        priority=0.5,
        when={"season": "autumn"},
        created_at=datetime(2026, 5, 2, 10, 0, 0, 500_000, tzinfo=UTC),
        metadata={"n": [1, None]},
    )
    await GraphWriter(store, scope=scope).write([full, event("known"), event("a")])
    facts, memories = await ask_facts(
        store, FactsRequest(scope=scope), ["full", "known", "a", "nobody"], known=["known"]
    )
    assert facts.degrees.keys() == {"full", "known", "a"}
    assert memories == await hydrate(store, ["full", "a"], scope=scope, until=None)


async def test_what_is_not_ranked_is_read_and_nothing_more(store: Store, scope: str) -> None:
    place = Memory(id="place", kind="DataSource", text="Lund", embedding=AXIS)
    edges = [
        Relation(source="a", target="place", relation="in", weight=0.5),
        Relation(source="a", target="b", relation="then", weight=0.5),
    ]
    await GraphWriter(store, scope=scope).write([event("a", AXIS), event("b"), place], edges)
    request = FactsRequest(scope=scope, where=MemoryFilter(kinds=["Event"]), vector=AXIS)
    facts, memories = await ask_facts(store, request, ["a", "b", "place"], known=[])
    assert facts.cosines == {"a": pytest.approx(1.0)}
    assert facts.neighbours == {
        "a": [("b", 0.5, True)],
        "b": [("a", 0.5, False)],
        "place": [],
    }
    assert memories.keys() == {"a", "b", "place"}
