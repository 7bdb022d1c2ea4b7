"""Reading without a question: by id, page by page, the newest, and what a memory is joined to."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import pytest

from memoria.errors import InvalidInputError, ScopeError
from memoria.graph.graph_reader import GraphReader
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.types import Memory, MemoryFilter, MemoryNode, MemoryPage, Neighbour, Relation
from memoria.writer import GraphWriter
from tests.for_each import for_each
from tests.integration.doctor.test_doctor import run_statement
from tests.integration.recall.test_seeds import plant

MADE = datetime(2026, 5, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def ids(memories: tuple[MemoryNode, ...]) -> str:
    return "".join(memory.id for memory in memories)


@pytest.fixture
async def shelf(store: Store, scope: str) -> GraphRetriever:
    """Five memories; by time they are b, d, a, c, from the oldest, and e without a time."""
    made = {"b": MADE, "d": MADE + HOUR, "a": MADE + 2 * HOUR, "c": MADE + 3 * HOUR}
    memories = [
        Memory(
            id=id_,
            kind="Event" if id_ in "abe" else "AgentAction",
            text=f"text {id_}",
            tags=["odd"] if id_ in "ace" else ["even"],
            created_at=made.get(id_),
            metadata={"n": number},
            embedding=[1.0] * 384,
        )
        for number, id_ in enumerate("abcde")
    ]
    await GraphWriter(store, scope=scope).write(memories)
    await run_statement(
        store, "MATCH (m:Memory {scope: $scope, id: 'e'}) REMOVE m.created_at", scope=scope
    )
    return GraphRetriever(store, scope=scope)


# --- get ------------------------------------------------------------------------------------------


async def test_memories_come_in_the_order_of_their_ids_given_and_missing_ids_are_named(
    shelf: GraphRetriever,
) -> None:
    found = await shelf.get(["d", "nobody", "a", "d"])
    assert ids(found.memories) == "da"
    assert found.missing == ("nobody",)
    assert found.memories[1] == MemoryNode(
        id="a",
        kind="Event",
        text="text a",
        tags=("odd",),
        created_at=MADE + 2 * HOUR,
        metadata={"n": 0},
    )
    assert await shelf.get(id_ for id_ in "a") == await shelf.get(["a"])
    assert await shelf.get([]) == await shelf.get(())


async def test_more_ids_than_one_query_takes_are_all_read(store: Store, scope: str) -> None:
    names = [f"m{number}" for number in range(2_500)]
    await plant(store.driver, scope, [{"id": name, "text": "t"} for name in names])
    wanted = random.Random(3).sample(names, len(names))
    found = await GraphReader(store, scope=scope).get([*wanted, "x"])
    assert [memory.id for memory in found.memories] == wanted
    assert found.missing == ("x",)


@pytest.mark.parametrize("wrong", ["a", 5, [""], [5], None, ["x" * 513]])
async def test_what_is_no_list_of_ids_is_refused(shelf: GraphRetriever, wrong: Any) -> None:
    with pytest.raises(InvalidInputError):
        await shelf.get(wrong)


# --- list -----------------------------------------------------------------------------------------


async def test_pages_hold_every_memory_once_in_the_order_of_ids(shelf: GraphRetriever) -> None:
    first = await shelf.list(limit=2)
    assert (ids(first.memories), first.next) == ("ab", "b")
    second = await shelf.list(limit=2, after=first.next)
    assert (ids(second.memories), second.next) == ("cd", "d")
    assert ids((last := await shelf.list(limit=2, after=second.next)).memories) == "e"
    assert last.next is None
    assert (await shelf.list(limit=5)).next is None, "a full page may be the last"
    assert await shelf.list(after="e") == MemoryPage(memories=())


@for_each(
    "where, expected",
    [
        (None, "abcde"),
        (MemoryFilter(kinds=["AgentAction"]), "cd"),
        (MemoryFilter(tags=["odd"]), "ace"),
        (MemoryFilter(created_from=MADE + HOUR), "acd"),
        (MemoryFilter(created_before=MADE + 2 * HOUR), "bd"),
        (MemoryFilter(metadata={"n": 3}), "d"),
        (MemoryFilter(exclude_ids=["a", "e"], kinds=["Event"]), "b"),
        (MemoryFilter(tags=["nothing"]), ""),
    ],
)
async def test_list_and_recent_hold_what_fits_a_filter(
    shelf: GraphRetriever, where: MemoryFilter | None, expected: str
) -> None:
    assert ids((await shelf.list(where=where)).memories) == expected
    assert sorted(ids(await shelf.recent(where=where))) == list(expected)
    paged, after = "", None
    while True:
        page = await shelf.list(where=where, limit=1, after=after)
        paged += ids(page.memories)
        if (after := page.next) is None:
            break
    assert paged == expected


async def test_pages_go_on_after_a_memory_that_was_deleted_meanwhile(
    shelf: GraphRetriever, store: Store
) -> None:
    page = await shelf.list(limit=2)
    await GraphWriter(store, scope=shelf.scope).forget(["b"])
    assert ids((await shelf.list(after=page.next)).memories) == "cde"


async def test_ids_of_any_characters_come_once(driver: neo4j.AsyncDriver, scope: str) -> None:
    names = ["a", "é", "\ufffd", "\U0001f600", "Z", " ", "b\n", "\uffff", "\U0010ffff", "10", "9"]
    await plant(driver, scope, [{"id": name, "text": "t"} for name in names])
    reader, seen, after = GraphReader(driver, scope=scope), [], None
    while True:
        page = await reader.list(limit=1, after=after)
        seen += [memory.id for memory in page.memories]
        if (after := page.next) is None:
            break
    assert sorted(seen) == sorted(names)


# --- recent ---------------------------------------------------------------------------------------


async def test_newest_come_first_and_those_without_a_time_last(shelf: GraphRetriever) -> None:
    assert ids(await shelf.recent()) == "cadbe"
    assert ids(await shelf.recent(limit=2)) == "ca"


async def test_times_of_any_form_are_compared_as_instants_and_ties_broken_by_id(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "local", "created_at": datetime(2026, 5, 2, 12)},
        {"id": "zoned", "created_at": MADE},
        {"id": "text", "created_at": "2027-01-01"},
        {"id": "later", "created_at": MADE + timedelta(microseconds=1)},
    ]
    await plant(driver, scope, [{**row, "text": "t"} for row in rows])
    found = await GraphReader(driver, scope=scope).recent()
    assert [memory.id for memory in found] == ["later", "local", "zoned", "text"]


# --- connectors -----------------------------------------------------------------------------------


async def test_connectors_are_listed_only_if_their_kind_is_asked_for(
    store: Store, scope: str
) -> None:
    memories = [
        Memory(id="a", kind="Event", text="t"),
        Memory(id="s", kind="Session", text="t"),
        Memory(id="t", kind="Topic", text="t"),
    ]
    await GraphWriter(store, scope=scope, kinds=(*DEFAULT_KINDS, "Session", "Topic")).write(
        memories
    )
    reader = GraphReader(store, scope=scope)
    assert ids((await reader.list()).memories) == ids(await reader.recent()) == "a"
    where = MemoryFilter(kinds=["Session", "Event"])
    assert ids((await reader.list(where=where)).memories) == "as"
    assert sorted(ids(await reader.recent(where=where))) == ["a", "s"]
    assert ids((await reader.get(["t", "a"])).memories) == "ta"


# --- neighbours -----------------------------------------------------------------------------------


async def test_neighbours_come_strongest_first_with_what_their_edge_says(
    shelf: GraphRetriever, store: Store
) -> None:
    edges = [
        Relation(source="a", target="b", relation="led_to", weight=0.5, tags=["y", "x"]),
        Relation(source="c", target="a", relation="then", weight=0.9),
        Relation(source="a", target="c", relation="then", weight=0.5),
        Relation(source="b", target="c", relation="then", weight=1.0),
    ]
    await GraphWriter(store, scope=shelf.scope).write([], edges)
    found = await shelf.neighbours("a")
    a, b, c = (await shelf.get(["a", "b", "c"])).memories
    assert found.memory == a
    assert found.degree == 3
    assert found.neighbours == (
        Neighbour(memory=c, relation="then", direction="in", weight=0.9),
        Neighbour(memory=b, relation="led_to", direction="out", weight=0.5, tags=("x", "y")),
        Neighbour(memory=c, relation="then", direction="out", weight=0.5),
    )
    first = await shelf.neighbours("a", limit=1)
    assert (first.degree, first.neighbours) == (3, found.neighbours[:1])


async def test_a_memory_that_is_not_there_has_no_neighbourhood(shelf: GraphRetriever) -> None:
    nobody = await shelf.neighbours("nobody")
    assert (nobody.memory, nobody.neighbours, nobody.degree) == (None, (), 0)
    alone = await shelf.neighbours("e")
    assert alone.memory is not None
    assert (alone.memory.id, alone.neighbours) == ("e", ())


async def test_neighbours_of_a_graph_that_another_program_wrote(
    shelf: GraphRetriever, store: Store
) -> None:
    """Odd weights count as they do in a recall; loops, other scopes and other nodes stay out."""
    await run_statement(
        store,
        "MATCH (a:Memory {scope: $scope, id: 'a'}), (b:Memory {scope: $scope, id: 'b'}) "
        "CREATE (a)-[:RELATES {weight: 7, uses: 3.0, tags: 'x'}]->(b), "
        "(a)-[:RELATES {relation: 'none'}]->(b), (a)-[:RELATES {relation: 't', weight: 'x'}]->(b), "
        "(a)-[:RELATES]->(a), (a)-[:RELATES]->(:City {name: $scope}), "
        "(a)-[:RELATES]->(:Memory {scope: $scope + '-other', id: 'b'})",
        scope=shelf.scope,
    )
    found = await shelf.neighbours("a")
    assert [(n.relation, n.weight, n.uses, n.tags) for n in found.neighbours] == [
        ("", 1.0, 3, ()),
        ("none", 0.01, 0, ()),
        ("t", 0.0, 0, ()),
    ]
    assert found.degree == 6


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [0, -1, 10_001, 1.5, True, None])
async def test_limit_out_of_its_range_is_refused(shelf: GraphRetriever, limit: Any) -> None:
    for call in (shelf.list, shelf.recent):
        with pytest.raises(InvalidInputError, match="limit"):
            await call(limit=limit)
    with pytest.raises(InvalidInputError, match="limit"):
        await shelf.neighbours("a", limit=limit)


async def test_other_wrong_arguments_are_refused_by_name(shelf: GraphRetriever) -> None:
    wrong: Any = ["Event"]
    with pytest.raises(InvalidInputError, match="where must be a MemoryFilter"):
        await shelf.list(where=wrong)
    with pytest.raises(InvalidInputError, match="after"):
        await shelf.list(after="")
    with pytest.raises(InvalidInputError, match="id"):
        await shelf.neighbours("")
    with pytest.raises(ScopeError):
        GraphReader(shelf.store, scope="")


async def test_reading_stays_in_its_scope(shelf: GraphRetriever) -> None:
    other = shelf.for_scope(f"{shelf.scope}-other")
    assert (await other.get(["a"])).missing == ("a",)
    assert (await other.list()).memories == await other.recent() == ()
    assert (await other.neighbours("a")).memory is None
