"""Roles of relations: declared in the database for one scope, or given by a reader."""

from __future__ import annotations

import json

import neo4j
import pytest

from memoria.graph.roles import declared_roles
from memoria.recall.config import RetrieverConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target
from memoria.types import Memory, Recall, Relation, RelationRoles
from memoria.writer import GraphWriter
from tests.integration.ingest.test_export import memoria

QUESTION = "Book a flight to Bergen"
NOTHING = RelationRoles()
USES = RelationRoles(need=("USES",))


async def chain(store: Store, scope: str, relation: str = "USES") -> None:
    """``book`` leads to ``pay``, and ``pay`` to ``login``: too few edges to judge the relation."""
    texts = {"book": "book a flight", "pay": "charge cards", "login": "check passwords"}
    ends = list(texts)
    await GraphWriter(store, scope=scope).write(
        [Memory(id=id_, kind="Event", text=text) for id_, text in texts.items()],
        [
            Relation(source=ends[n], target=ends[n + 1], relation=relation, weight=1.0)
            for n in range(2)
        ],
    )


def needed(recall: Recall) -> list[str]:
    return [path.ids[-1] for path in recall.needed]


async def test_what_a_scope_declares_holds_for_whoever_asks(
    store: Store, driver: neo4j.AsyncDriver, retriever: GraphRetriever
) -> None:
    await chain(store, retriever.scope)
    assert needed(await retriever.recall(QUESTION)) == []
    assert await retriever.relation_roles() == NOTHING
    await retriever.writer().declare(USES)
    other = GraphRetriever(driver, scope=retriever.scope)
    assert needed(await other.recall(QUESTION)) == ["pay", "login"]
    assert await other.relation_roles() == RelationRoles(need=("uses",))
    await chain(store, elsewhere := f"{retriever.scope}-2")
    assert needed(await other.for_scope(elsewhere).recall(QUESTION)) == []
    await other.writer().declare(NOTHING)
    assert needed(await retriever.recall(QUESTION)) == []


async def test_a_declaration_takes_the_place_of_the_usual_names(
    store: Store, retriever: GraphRetriever
) -> None:
    await chain(store, retriever.scope, "depends_on")
    assert needed(await retriever.recall(QUESTION)) == ["pay", "login"]
    await retriever.writer().declare(USES)
    assert needed(await retriever.recall(QUESTION)) == []
    await retriever.writer().declare(RelationRoles(order=("DEPENDS_ON",)))
    recall = await retriever.recall(QUESTION)
    assert {entry.id: entry.adjacent for entry in recall.ranked}["pay"] == ("book", "login")


@pytest.mark.parametrize("declared", [NOTHING, RelationRoles(need=("other",), order=("then",))])
async def test_a_reader_says_by_itself_what_relations_mean(
    store: Store, retriever: GraphRetriever, declared: RelationRoles
) -> None:
    await chain(store, retriever.scope)
    await retriever.writer().declare(declared)
    config = RetrieverConfig(roles=USES)
    recall = await retriever.recall(QUESTION, config=config)
    assert needed(recall) == ["pay", "login"]
    assert recall.trace.config["roles"] == {"need": ["uses"], "order": None}
    in_order = RetrieverConfig(roles=RelationRoles(order=("uses",)))
    recall = await retriever.recall(QUESTION, config=in_order)
    assert needed(recall) == []
    assert {entry.id: entry.adjacent for entry in recall.ranked}["pay"] == ("book", "login")
    assert await declared_roles(store, retriever.scope) == declared


async def test_a_reader_may_say_that_nothing_is_needed(
    store: Store, retriever: GraphRetriever
) -> None:
    await chain(store, retriever.scope, "depends_on")
    nothing = RetrieverConfig(roles=RelationRoles(need=()))
    assert needed(await retriever.recall(QUESTION, config=nothing)) == []


async def tools(store: Store, scope: str, relation: str, *, shared: bool) -> None:
    """Five tools; all lead to the same two others, or each leads to two of its own."""
    ids = [f"t{n}" for n in range(5)]
    ends = [
        (id_, "login" if shared else f"{id_}-login", "pay" if shared else f"{id_}-pay")
        for id_ in ids
    ]
    names = sorted({name for row in ends for name in row})
    await GraphWriter(store, scope=scope).write(
        [
            Memory(id=id_, kind="Event", text=f"{'flight' if id_ in ids else 'ground'} {id_}")
            for id_ in names
        ],
        [
            Relation(source=source, target=target, relation=relation, weight=1.0)
            for source, *targets in ends
            for target in targets
        ],
    )


@pytest.mark.parametrize("relation", ["USES", "abhängig_von", "relation_7", "DEPENDS_ON"])
async def test_where_nothing_is_declared_shared_dependencies_are_needs(
    store: Store, retriever: GraphRetriever, relation: str
) -> None:
    await tools(store, retriever.scope, relation, shared=True)
    recall = await retriever.recall("Which flight is it?")
    assert len(recall.seeds.seeds) == 5
    assert sorted(needed(recall)) == ["login", "pay"]


@pytest.mark.parametrize("relation", ["CALLS", "DEPENDS_ON"])
async def test_edges_that_lead_apart_are_no_needs_whatever_their_name(
    store: Store, retriever: GraphRetriever, relation: str
) -> None:
    await tools(store, retriever.scope, relation, shared=False)
    assert needed(await retriever.recall("Which flight is it?")) == []
    await retriever.writer().declare(RelationRoles(need=(relation,)))
    assert len(needed(await retriever.recall("Which flight is it?"))) == 10


@pytest.mark.parametrize("relation", ["related", "similar", "mentions", "caused_by"])
async def test_what_memoria_joins_by_itself_is_no_need_however_shared(
    store: Store, retriever: GraphRetriever, relation: str
) -> None:
    await tools(store, retriever.scope, relation, shared=True)
    assert needed(await retriever.recall("Which flight is it?")) == []


def relations(target: Target, *options: str) -> str:
    done = memoria("relations", *options, target=target)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


async def test_the_command_lists_relations_and_declares_them(
    store: Store, target: Target, scope: str
) -> None:
    await chain(store, scope)
    of = ("--scope", scope)
    assert json.loads(relations(target, *of, "--json")) == {
        "scope": scope,
        "declared": {"need": None, "order": None},
        "relations": {"USES": {"count": 2, "mean_weight": 1.0, "role": None}},
    }
    lines = relations(target, *of, "--need", "uses", "--order", "").splitlines()
    assert lines[-1].split() == ["USES", "2", "need"]
    assert await declared_roles(store, scope) == RelationRoles(need=("uses",), order=())
    lines = relations(target, *of, "--need", "calls").splitlines()
    assert lines[-1] == "no edge has the relation calls, declared as need"
    assert await declared_roles(store, scope) == RelationRoles(need=("calls",), order=())
    relations(target, *of, "--undeclare")
    assert await declared_roles(store, scope) == NOTHING


async def test_a_forgotten_scope_declares_nothing(
    store: Store, driver: neo4j.AsyncDriver, retriever: GraphRetriever
) -> None:
    await chain(store, retriever.scope)
    await retriever.writer().declare(USES)
    await retriever.writer().forget_scope(confirm=retriever.scope)
    left, _, _ = await driver.execute_query(
        "MATCH (n) WHERE n.scope = $scope RETURN n", scope=retriever.scope
    )
    assert left == []


async def test_a_declaration_that_is_no_list_of_names_counts_as_none(
    store: Store, driver: neo4j.AsyncDriver, retriever: GraphRetriever
) -> None:
    await chain(store, retriever.scope)
    await retriever.writer().declare(USES)
    await driver.execute_query(
        "MATCH (n:MemoriaMeta {scope: $scope}) SET n.need = 7, n.order = 'next'",
        scope=retriever.scope,
    )
    assert await retriever.relation_roles() == NOTHING
    assert needed(await retriever.recall(QUESTION)) == []
