"""Forgetting memories on nodes that are more than memories: what is not memoria's stays."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import neo4j
import pytest

from memoria.graph.vocabulary import scope_key
from memoria.learn import Learner
from memoria.remember.conversations import ConversationWriter
from memoria.store import Store
from memoria.types import ForgetReport, Memory, Message, Relation
from memoria.writer import GraphWriter
from tests.integration.doctor.test_doctor import run_statement


class Adopted:
    """A scope of two memories, of which ``a`` is also something else."""

    def __init__(self, store: Store, scope: str) -> None:
        self.store = store
        self.scope = scope
        self.writer = GraphWriter(store, scope=scope, kinds=("Event", "Person"))

    async def change(self, statement: str) -> None:
        """Run a statement on the node of ``a``."""
        found = "MATCH (a:Memory {scope: $scope, id: 'a'}) "
        await run_statement(self.store, found + statement, scope=self.scope)

    async def left(self) -> list[dict[str, Any]]:
        """What is left of ``a``, by its mark."""
        rows = await run_statement(
            self.store,
            "MATCH (n {mark: $scope}) "
            "OPTIONAL MATCH (n)-[r]-() WITH n, r ORDER BY type(r) "
            "RETURN labels(n) AS labels, n {.*, mark: null} AS properties, "
            "collect(type(r)) AS relationships",
            scope=self.scope,
        )
        return [
            {
                "labels": sorted(row["labels"]),
                "properties": {k: v for k, v in row["properties"].items() if v is not None},
                "relationships": row["relationships"],
            }
            for row in rows
        ]


@pytest.fixture
async def adopted(store: Store, scope: str) -> Adopted:
    graph = Adopted(store, scope)
    memories = [
        Memory(id=id_, kind="Event", text=f"text {id_}", tags=["t"], category="c", priority=0.5)
        for id_ in "abc"
    ]
    await graph.writer.write(
        memories, [Relation(source="a", target="b"), Relation(source="c", target="a")]
    )
    learner = Learner(store, scope=scope)
    await learner.suppress("b", "a", kind="conflicts")
    await learner.strengthen_edge("a", "b")
    await graph.change(
        "MATCH (b:Memory {scope: $scope, id: 'b'}) "
        "CREATE (a)-[:COACTIVATED {times: [1.0]}]->(b) "
        "SET a.use_count = 1, a.use_times = [1.0], a.confirmed = 1, a.overridden = 1, "
        "a.right_for = ['why'], a.wrong_for = ['who'], "
        "a.active_hours = 1.0, a.linked_at = datetime(), a.linked_before = true, "
        "a.`when` = '{}', a.metadata = '{}', a.topics = ['t'], a.entities = ['e']"
    )
    return graph


async def test_what_memoria_made_is_deleted_with_all_that_it_learned(adopted: Adopted) -> None:
    assert await adopted.writer.forget(["a", "b"]) == ForgetReport(deleted=2)
    rows = await run_statement(
        adopted.store,
        "MATCH (m:Memory {scope: $scope}) RETURN m.id AS id, COUNT { (m)--() } AS edges",
        scope=adopted.scope,
    )
    assert [(row["id"], row["edges"]) for row in rows] == [("c", 0)]


async def test_a_node_with_a_relationship_of_its_own_loses_only_the_memory(
    adopted: Adopted,
) -> None:
    await adopted.change("SET a:Customer, a.mark = $scope CREATE (:City {n: 1})<-[:LIVES_IN]-(a)")
    assert await adopted.writer.forget(["a", "b"]) == ForgetReport(deleted=1, kept=("a",))
    assert await adopted.left() == [
        {"labels": ["Customer"], "properties": {"id": "a"}, "relationships": ["LIVES_IN"]}
    ]
    assert await adopted.writer.forget(["a"]) == ForgetReport(), "it is no memory any more"


async def test_a_property_of_its_own_keeps_a_node_and_its_only_other_label(
    adopted: Adopted,
) -> None:
    await adopted.change("SET a.mark = $scope, a.email = 'a@example.org'")
    assert await adopted.writer.forget(["a"]) == ForgetReport(kept=("a",))
    assert await adopted.left() == [
        {
            "labels": ["Event"],
            "properties": {"id": "a", "email": "a@example.org"},
            "relationships": [],
        }
    ]


async def test_labels_beyond_one_kind_keep_a_node_and_those_of_declared_kinds_go(
    adopted: Adopted,
) -> None:
    await adopted.change("SET a:Person:Account")
    found = "MATCH (n:Account {id: 'a'}) "
    assert await adopted.writer.forget(["a"]) == ForgetReport(kept=("a",))
    rows = await run_statement(adopted.store, found + "RETURN labels(n) AS labels, keys(n) AS keys")
    assert [(row["labels"], row["keys"]) for row in rows] == [(["Account"], ["id"])]
    await run_statement(adopted.store, found + "DELETE n")


async def test_a_foreign_node_without_anything_of_its_own_is_deleted(
    store: Store, scope: str
) -> None:
    await run_statement(
        store,
        "CREATE (:Person:Memory {scope: $scope, scope_key: $key, id: 'p', text: 'Ada'})",
        scope=scope,
        key=scope_key(scope),
    )
    assert await GraphWriter(store, scope=scope).forget(["p"]) == ForgetReport(deleted=1)


async def test_delete_foreign_deletes_the_node_with_all_that_is_on_it(adopted: Adopted) -> None:
    await adopted.change("SET a:Person, a.mark = $scope CREATE (:City {n: 1})<-[:LIVES_IN]-(a)")
    assert await adopted.writer.forget(["a"], delete_foreign=True) == ForgetReport(deleted=1)
    assert await adopted.left() == []


async def test_a_foreign_hub_loses_more_edges_than_fit_one_transaction_and_keeps_its_own(
    adopted: Adopted,
) -> None:
    await adopted.change(
        "SET a.mark = $scope "
        "WITH a MATCH (b:Memory {scope: $scope, id: 'b'}) "
        "UNWIND range(1, 30000) AS i CREATE (a)-[:RELATES {relation: toString(i)}]->(b) "
        "WITH a, b, count(*) AS made CREATE (a)-[:KNOWS]->(b)"
    )
    assert await adopted.writer.forget(["a"]) == ForgetReport(kept=("a",))
    [left] = await adopted.left()
    assert left["relationships"] == ["KNOWS"]
    assert await adopted.writer.forget(["b"]) == ForgetReport(kept=("b",)), "KNOWS ends there, too"
    assert await adopted.writer.forget(["c"]) == ForgetReport(deleted=1)


async def test_a_text_whose_duplicate_is_deleted_meanwhile_gets_its_own_id(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    writer = GraphWriter(store, scope=scope)
    said, again = "Ada likes green tea.", "Ada really likes green tea."
    known = (await writer.remember(said)).id
    assert (await writer.remember(again)).duplicate_of == known
    async with driver.session(database="neo4j") as session:
        deleting = await session.begin_transaction()
        found = "MATCH (m:Memory {scope: $scope, id: $id}) DETACH DELETE m"
        await (await deleting.run(found, scope=scope, id=known)).consume()
        task = asyncio.ensure_future(writer.remember(again))
        await asyncio.wait([task], timeout=0.5)
        await deleting.commit()
    done = await task
    assert (done.created, done.id == known) == (True, False)
    assert (await writer.remember(said)).duplicate_of == done.id


@pytest.mark.parametrize("label", ["Topic", "Speaker", "Session", "Event", "Memory"])
@pytest.mark.parametrize("call", ["append", "write", "remember"])
async def test_what_a_writer_waits_for_may_be_deleted_meanwhile(
    store: Store, driver: neo4j.AsyncDriver, scope: str, call: str, label: str
) -> None:
    """The writer has found a memory, and gets its lock from who deletes the memory."""
    writer, talks = GraphWriter(store, scope=scope), ConversationWriter(store, scope=scope)
    text = "The Kestrel bridge opens in May."
    known = (await writer.remember(text)).id
    await talks.append("c", [Message(text="The Kestrel bridge is shut.", speaker="Ada")])
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "append": lambda: talks.append("c", [Message(text=text, id="new", speaker="Ada")]),
        "write": lambda: writer.write([Memory(id=known, kind="Event", text=text)]),
        "remember": lambda: writer.remember(text),
    }
    async with driver.session(database="neo4j") as session:
        deleting = await session.begin_transaction()
        found = "MATCH (m:Memory {scope: $scope}) WHERE $label IN labels(m) DETACH DELETE m"
        await (await deleting.run(found, scope=scope, label=label)).consume()
        task = asyncio.ensure_future(calls[call]())
        await asyncio.wait([task], timeout=0.5)
        await deleting.commit()
    await task
    rows = await run_statement(
        store,
        "MATCH (m:Memory {scope: $scope, text: $said}) RETURN count(m) AS n",
        scope=scope,
        said=text,
    )
    there_before = call == "append" and label not in ("Event", "Memory")
    assert [row["n"] for row in rows] == [2 if there_before else 1]
