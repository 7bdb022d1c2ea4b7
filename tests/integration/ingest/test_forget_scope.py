"""Forgetting by a filter, a whole scope, and single edges: exactly that goes, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memoria.errors import InvalidInputError, UnavailableError
from memoria.graph.vocabulary import DEFAULT_KINDS, scope_key
from memoria.ingest import forgetting
from memoria.learn import Learner
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.types import (
    CoActivation,
    ForgetReport,
    Memory,
    MemoryFilter,
    Relation,
    ScopeReceipt,
)
from memoria.writer import GraphWriter
from tests.integration.doctor.test_doctor import run_statement

NOW = datetime(2026, 5, 2, tzinfo=UTC)
KINDS = (*DEFAULT_KINDS, "Session")


def writer(store: Store, scope: str, **options: Any) -> GraphWriter:
    return GraphWriter(store, scope=scope, kinds=KINDS, clock=lambda: NOW, **options)


async def left(store: Store, scope: str) -> list[str]:
    return [memory.id for memory in (await GraphRetriever(store, scope=scope).list()).memories]


async def filled(store: Store, scope: str) -> None:
    """A scope with one of everything: memories, edges, what was learned of them, and a clock."""
    memories = [
        Memory(id=id_, kind="Event", text=f"quokka {id_} of {scope}", tags=[id_], metadata={"n": 1})
        for id_ in "abcd"
    ]
    edges = [
        Relation(source="a", target="b", relation="then"),
        Relation(source="b", target="c", relation="then"),
        Relation(source="a", target="b", relation="caused"),
    ]
    await writer(store, scope).write(memories, edges)
    trace = (await GraphRetriever(store, scope=scope).recall("quokka")).trace
    learner = Learner(store, scope=scope)
    await learner.reinforce(trace, ["a", "b"])
    await learner.feedback(trace, confirmed=["a"], overridden=["c"])
    await learner.co_activate(trace)
    pair = CoActivation(source="a", target="d", co_activated=[1.0])
    await writer(store, scope).batches.write_history_batch([pair], skip_missing=False)
    await learner.suppress("d", "a", kind="overrides")
    await learner.suppress("c", "a", kind="conflicts")


async def traces_of(store: Store, scope: str) -> dict[str, int]:
    """Nodes and relationships anywhere in the database of which a property names the scope."""
    counts = {}
    for what, match in (("nodes", "MATCH (x)"), ("relationships", "MATCH ()-[x]->()")):
        statement = (
            f"{match} WHERE any(name IN keys(x) WHERE name <> 'embedding' AND CASE "
            "WHEN x[name] IS :: STRING NOT NULL THEN x[name] CONTAINS $scope OR x[name] = $key "
            "WHEN x[name] IS :: LIST<STRING NOT NULL> NOT NULL "
            "THEN any(text IN x[name] WHERE text CONTAINS $scope) "
            "ELSE false END) RETURN count(x) AS count"
        )
        rows = await run_statement(store, statement, scope=scope, key=scope_key(scope))
        counts[what] = rows[0]["count"]
    return counts


async def marked_changes(store: Store, scope: str) -> int:
    """Write the scope's name on what its events say that they changed; it stands nowhere there."""
    rows = await run_statement(
        store,
        "MATCH (e:LearningEvent)-[:CHANGED]->(ch:LearningChange) WHERE e.scope = $scope "
        "SET ch.mark = $scope RETURN count(ch) AS count",
        scope=scope,
    )
    count: int = rows[0]["count"]
    return count


# --- a whole scope --------------------------------------------------------------------------------


async def test_nothing_of_a_forgotten_scope_is_left_and_another_scope_is_untouched(
    store: Store, scope: str
) -> None:
    other = f"other-{scope[5:]}"
    for name in (scope, other):
        await filled(store, name)
    changes = await marked_changes(store, scope)
    assert changes == await marked_changes(store, other) > 5
    others = await traces_of(store, other)
    assert others["nodes"] == 4 + 1 + 5 + changes, "memories, the clock, events, their changes"
    receipt = await writer(store, scope).forget_scope(confirm=scope)
    assert receipt == ScopeReceipt(
        scope=scope,
        finished_at=NOW,
        memories=4,
        relations=3,
        suppressions=2,
        pairs=1,
        events=5,
        changes=changes,
        clocks=1,
    )
    assert await traces_of(store, scope) == {"nodes": 0, "relationships": 0}
    assert await traces_of(store, other) == others
    again = await writer(store, scope).forget_scope(confirm=scope)
    assert again == ScopeReceipt(scope=scope, finished_at=NOW)


async def test_memories_that_another_program_wrote_go_whatever_their_id(
    store: Store, scope: str
) -> None:
    await run_statement(
        store,
        "UNWIND [null, 7, '', [1, 2], true, 'ok'] AS id "
        "CREATE (m:Memory:Event {scope: $scope, scope_key: $key, text: $scope}) SET m.id = id "
        "WITH collect(m) AS all UNWIND all AS a WITH a, all[0] AS b WHERE a <> b "
        "CREATE (a)-[:RELATES {weight: 1}]->(b)",
        scope=scope,
        key=scope_key(scope),
    )
    receipt = await writer(store, scope).forget_scope(confirm=scope)
    assert (receipt.memories, receipt.relations) == (6, 5)
    assert await traces_of(store, scope) == {"nodes": 0, "relationships": 0}


async def test_nodes_that_are_more_than_a_memory_stay_without_the_memory(
    store: Store, scope: str
) -> None:
    await filled(store, scope)
    await run_statement(
        store,
        "MATCH (a:Memory {scope: $scope, id: 'a'}) SET a:Person, a.born = 1970 "
        "CREATE (a)-[:LIVES_IN]->(:City {n: 1}), "
        "(:Memory:Person {scope: $scope, born: 1980, id: 7})",
        scope=scope,
    )
    receipt = await writer(store, scope).forget_scope(confirm=scope)
    assert (receipt.memories, receipt.kept) == (3, ("7", "a"))
    assert await traces_of(store, scope) == {"nodes": 0, "relationships": 0}
    found = "MATCH (p:Person) WHERE p.born IN [1970, 1980] "
    rows = await run_statement(
        store,
        found + "RETURN labels(p) AS labels, properties(p) AS properties, "
        "COUNT { (p)--() } AS edges ORDER BY p.born",
    )
    assert [(sorted(row["labels"]), row["properties"], row["edges"]) for row in rows] == [
        (["Person"], {"id": "a", "born": 1970}, 1),
        (["Person"], {"id": 7, "born": 1980}, 0),
    ]
    await run_statement(store, found + "DETACH DELETE p")


async def test_such_nodes_go_if_that_is_asked_for(store: Store, scope: str) -> None:
    await filled(store, scope)
    await run_statement(store, "MATCH (a:Memory {scope: $scope}) SET a.mark = $scope", scope=scope)
    receipt = await writer(store, scope).forget_scope(confirm=scope, delete_foreign=True)
    assert (receipt.memories, receipt.kept) == (4, ())
    assert await traces_of(store, scope) == {"nodes": 0, "relationships": 0}


async def test_after_an_interruption_anywhere_a_second_call_does_the_rest(
    store: Store, scope: str
) -> None:
    class Failing(Store):
        """Fails at its n-th query, as a lost connection does."""

        left = 0

        async def run(self, *arguments: Any, **more: Any) -> Any:
            self.left -= 1
            if not self.left:
                raise UnavailableError("lost")
            return await super().run(*arguments, **more)

        def patient(self, seconds: float | None = None) -> Any:
            del seconds
            return self

    queries, total = 0, 0
    while True:
        queries += 1
        await filled(store, scope)
        failing = Failing(store.driver, database=store.database)
        failing.left = queries
        try:
            done = await writer(failing, scope, batch_size=2).forget_scope(confirm=scope)
        except UnavailableError:
            rest = await writer(store, scope).forget_scope(confirm=scope)
            assert rest.memories <= 4
            assert await left(store, scope) == []
        else:
            total = done.memories
            break
    assert await traces_of(store, scope) == {"nodes": 0, "relationships": 0}
    assert total == 4
    assert queries > 10


async def test_edges_beyond_one_transaction_are_all_counted(
    store: Store, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await filled(store, scope)
    monkeypatch.setattr(forgetting, "MAX_EDGES_AT_ONCE", 2)
    steps: list[tuple[str, int, int | None]] = []
    receipt = await writer(store, scope, batch_size=3).forget_scope(
        confirm=scope, progress=lambda *step: steps.append(step)
    )
    assert (receipt.memories, receipt.relations, receipt.suppressions) == (4, 3, 2)
    assert (receipt.events, receipt.clocks) == (5, 1)
    assert steps == [("memories", 3, None), ("memories", 4, None)]
    assert await traces_of(store, scope) == {"nodes": 0, "relationships": 0}


@pytest.mark.parametrize("confirm", ["", "another", None, True])
async def test_a_scope_is_forgotten_only_if_its_name_is_given_again(
    store: Store, scope: str, confirm: Any
) -> None:
    await filled(store, scope)
    with pytest.raises(InvalidInputError, match="confirm must be the name"):
        await writer(store, scope).forget_scope(confirm=confirm)
    assert await left(store, scope) == ["a", "b", "c", "d"]


# --- by a filter ----------------------------------------------------------------------------------


async def test_memories_that_fit_a_filter_are_forgotten_page_by_page(
    store: Store, scope: str
) -> None:
    memories = [
        Memory(id=f"m{number:02}", kind="Event", text="t", tags=["even"] if number % 2 == 0 else [])
        for number in range(20)
    ]
    memories.append(Memory(id="session", kind="Session", text="t"))
    forgetful = writer(store, scope, batch_size=3)
    await forgetful.write(memories, [Relation(source="m00", target="m01")])
    assert await forgetful.forget(where=MemoryFilter(tags=["even"])) == ForgetReport(deleted=10)
    assert await left(store, scope) == [f"m{number:02}" for number in range(1, 20, 2)]
    assert await forgetful.forget(where=MemoryFilter(tags=["even"])) == ForgetReport()
    kept = MemoryFilter(exclude_ids=["m01"])
    assert await forgetful.forget(where=kept) == ForgetReport(deleted=9), "no connector"
    assert await forgetful.forget(where=MemoryFilter(kinds=["Session"])) == ForgetReport(deleted=1)


async def test_ids_of_any_characters_are_forgotten_by_a_filter(store: Store, scope: str) -> None:
    names = ["a", "\uffff", "\U0001f600", "\U0010ffff", "\ue000", "z"]
    forgetful = writer(store, scope, batch_size=1)
    await forgetful.write([Memory(id=name, kind="Event", text="t", tags=["t"]) for name in names])
    report = await forgetful.forget(where=MemoryFilter(tags=["t"]))
    assert report == ForgetReport(deleted=len(names))


async def test_forget_takes_ids_or_a_filter_that_not_every_memory_fits(
    store: Store, scope: str
) -> None:
    forgetful = writer(store, scope)
    for arguments in ({}, {"ids": ["a"], "where": MemoryFilter(tags=["a"])}):
        with pytest.raises(InvalidInputError, match="either ids or where"):
            await forgetful.forget(**arguments)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="call forget_scope"):
        await forgetful.forget(where=MemoryFilter())


# --- edges ----------------------------------------------------------------------------------------


async def test_an_edge_is_deleted_by_its_ends_and_its_relation(store: Store, scope: str) -> None:
    await filled(store, scope)
    edges = writer(store, scope)
    assert await edges.delete_edge("b", "a", "then") == 0, "the other direction"
    assert await edges.delete_edge("a", "b", "unknown") == 0
    assert await edges.delete_edge("a", "nobody") == 0
    assert await edges.delete_edge("a", "b", "then") == 1
    assert await edges.delete_edge("a", "b", "then") == 0
    reader = GraphRetriever(store, scope=scope)
    found = await reader.neighbours("b")
    assert sorted(each.relation for each in found.neighbours) == ["caused", "then"]
    await edges.write([], [Relation(source="a", target="b")])
    assert await edges.delete_edge("a", "b") == 2, "without a relation all in this direction"
    assert [each.memory.id for each in (await reader.neighbours("b")).neighbours] == ["c"]


@pytest.mark.parametrize("wrong", [("", "b"), ("a", 5), ("a", "b", "")])
async def test_wrong_ends_and_relations_are_refused(
    store: Store, scope: str, wrong: tuple[Any, ...]
) -> None:
    with pytest.raises(InvalidInputError):
        await writer(store, scope).delete_edge(*wrong)
