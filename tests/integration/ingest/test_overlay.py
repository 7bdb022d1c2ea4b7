"""A mapped graph copied into memoria's own: each run compares all, and follows what has ended."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memoria.doctor import plans
from memoria.errors import MappingError
from memoria.graph.mapping import EdgeMapping, GraphMapping, NodeMapping
from memoria.ingest.overlay import overlay
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import Relation
from tests.integration.graph.test_mapping import (
    ENTITIES,
    FACTS,
    GRAPHITI,
    GRAPHITI_ROWS,
    NOW,
    run,
)

YEARS_AGO = datetime(2019, 1, 1, tzinfo=UTC)
NOTES = GraphMapping(
    name="plain",
    nodes=(NodeMapping(label="Note", key="key", text=("text",), tags="tags", created_at="at"),),
    edges=(EdgeMapping(type="LEADS_TO", valid_until=("until",)),),
)
INDEX = "CREATE INDEX FOR (n:Note) ON (n.key)"


async def edges_of(store: Store) -> set[tuple[str, str, str]]:
    """The edges of all copies: source, relation, target."""
    records = (
        await store.driver.execute_query(
            "MATCH (a:Memory)-[r:RELATES]->(b:Memory) RETURN a.id, r.relation, b.id",
            database_="neo4j",
        )
    ).records
    return {tuple(record.values()) for record in records}


async def notes(store: Store, *rows: dict[str, Any], edges: Any = ()) -> None:
    await run(
        store,
        "UNWIND $rows AS row CREATE (n:Note) SET n = row",
        "UNWIND $edges AS row MATCH (a:Note {key: row[0]}) MATCH (b:Note {key: row[1]}) "
        "CREATE (a)-[r:LEADS_TO]->(b) SET r.until = row[2]",
        rows=list(rows),
        edges=[list(edge) for edge in edges],
    )


async def test_an_overlay_copies_a_graph_follows_it_and_is_removed(empty: Store) -> None:
    await run(empty, *GRAPHITI)
    await run(empty, GRAPHITI_ROWS, entities=ENTITIES, facts=FACTS, now=NOW)
    graphiti = GraphMapping.named("graphiti")
    first = await overlay(empty, graphiti, scope="demo")
    assert (first.scope, first.written.memories, first.written.skipped) == ("graphiti/demo", 5, 0)
    assert (first.written.relations, first.ended) == (5, 0)
    own = GraphRetriever(empty, scope="graphiti/demo")
    found = await own.recall("Where does Ada work?")
    assert "Ada works at Globex" in found.context.text
    assert "Acme" not in {item.id for item in found.context.items}
    read = {one.id: one.created_at for one in (await own.get(["Ada", "m1"])).memories}
    assert read == {"Ada": None, "m1": NOW}  # the mapping knows no time of an entity
    again = await overlay(empty, graphiti, scope="demo")
    assert (again.written.memories, again.written.relations, again.ended) == (5, 5, 0)
    assert (again.written.memories_created, again.written.relations_created) == (0, 0)
    # As Graphiti ends a fact: invalid since the newer fact is valid, expired now.
    await run(
        empty,
        "MATCH ()-[r:RELATES_TO {fact: 'Ada works at Globex'}]->() "
        "SET r.invalid_at = $now, r.expired_at = datetime()",
        "MATCH (a:Entity {uuid: 'Ada'}) MATCH (b:Entity {uuid: 'Acme'}) CREATE (a)-[:RELATES_TO "
        "{uuid: 'new', name: 'WORKS_AT', fact: 'Ada is back at Acme', group_id: 'demo', "
        "created_at: datetime(), valid_at: $now}]->(b)",
        now=NOW,
    )
    last = await overlay(empty, graphiti, scope="demo")
    assert (last.written.relations_created, last.ended) == (1, 1)
    near = await own.neighbours("Ada")
    assert {each.relation for each in near.neighbours} == {
        "Ada lives in Porto", "Ada is back at Acme", "MENTIONS",
    }  # fmt: skip
    label = await empty.driver.execute_query("MATCH (n:Entity) RETURN count(n) AS number")
    assert label.records[0]["number"] == 5  # no copy has a label of the graph
    used = await own.recall("Where does Ada work?")
    await own.learner().reinforce(used.trace, ["Ada"])  # what a mapping refuses
    receipt = await own.writer().forget_scope(confirm="graphiti/demo")
    assert receipt.memories == 5
    left = await empty.driver.execute_query(
        "MATCH (n:Memory|MemoriaMeta) WHERE n.scope IS NOT NULL RETURN count(n) AS number"
    )
    assert left.records[0]["number"] == 0


async def test_a_run_copies_what_is_old_but_new_to_the_copy(empty: Store) -> None:
    await run(empty, INDEX)
    await notes(empty, {"key": "a", "text": "first"})
    await overlay(empty, NOTES, scope="default")
    await notes(empty, {"key": "b", "text": "of old", "at": YEARS_AGO}, edges=[("a", "b", None)])
    again = await overlay(empty, NOTES, scope="default")
    assert (again.written.memories_created, again.written.relations_created) == (1, 1)


async def test_of_parallel_edges_the_living_one_stays_and_so_do_edges_of_others(
    empty: Store,
) -> None:
    await run(empty, INDEX)
    rows = [{"key": key, "text": f"note {key}"} for key in "abc"]
    await notes(empty, *rows, edges=[("a", "b", None), ("a", "c", YEARS_AGO)])
    await overlay(empty, NOTES, scope="default")
    writer = GraphRetriever(empty, scope="plain/default").writer()
    await writer.write([], [Relation(source="a", target="c", relation="LEADS_TO", weight=0.4)])
    await run(empty, "MATCH ({id: 'a'})-[r:RELATES]->({id: 'c'}) SET r.origin = 'remembered'")
    await notes(empty, edges=[("a", "b", YEARS_AGO)])
    again = await overlay(empty, NOTES, scope="default")
    assert again.ended == 0
    assert await edges_of(empty) == {("a", "LEADS_TO", "b"), ("a", "LEADS_TO", "c")}


async def test_what_was_learned_of_an_edge_survives_the_next_run(empty: Store) -> None:
    await run(empty, INDEX)
    await notes(empty, *({"key": key, "text": f"note {key}"} for key in "ab"),
                edges=[("a", "b", None)])  # fmt: skip
    await overlay(empty, NOTES, scope="default")
    await run(
        empty,
        "MATCH (:Memory)-[r:RELATES]->() SET r.given_weight = r.weight, r.weight = 0.9, r.uses = 3",
    )
    await overlay(empty, NOTES, scope="default")
    learned = await empty.driver.execute_query("MATCH ()-[r:RELATES]->() RETURN r.weight, r.uses")
    assert learned.records[0].values() == [0.9, 3]


async def test_a_graph_of_several_pages_is_copied_whole(
    empty: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoria.ingest.overlay._IDS_AT_ONCE", 3)
    monkeypatch.setattr("memoria.ingest.overlay._PAGE", 2)
    await run(empty, INDEX)
    rows = [{"key": key, "text": f"note {key}"} for key in "abcdefg"]
    around = [(a, b, None) for a, b in zip("abcdefg", "bcdefga", strict=True)]
    await notes(empty, *rows, edges=around)
    done = await overlay(empty, NOTES, scope="default")
    assert (done.written.memories_created, done.written.relations_created) == (7, 7)
    assert await edges_of(empty) == {(a, "LEADS_TO", b) for a, b, _ in around}


async def test_edges_are_ended_without_a_scan(empty: Store) -> None:
    await run(empty, INDEX)
    await notes(empty, {"key": "a", "text": "first"})
    await overlay(empty, NOTES, scope="default")
    rows = {"ids": ["a"], "origin": "ingest", "rows": [["a", "b", "LEADS_TO"]], "scope": "s"}
    plan = await plans.explain(empty, load("ingest.end_edges"), rows)
    assert not [step for step in plan if step[0] in plans.SCANS], plan


async def test_a_mapping_with_a_property_for_the_kind_is_copied(empty: Store) -> None:
    await run(empty, INDEX)
    await notes(empty, {"key": "a", "text": "first", "type": "Idea"})
    kinds = replace(NOTES, nodes=(replace(NOTES.nodes[0], kind="type"),))
    done = await overlay(empty, kinds, scope="default")
    assert (done.written.memories_created, done.written.skipped) == (1, 0)


async def test_odd_nodes_are_left_out_with_their_reasons_and_no_others(empty: Store) -> None:
    await run(empty, INDEX)
    await notes(
        empty,
        {"key": "good", "text": "a text"},
        {"key": "long tag", "text": "a text", "tags": ["t" * 257]},
        {"key": "many tags", "text": "a text", "tags": [f"t{i}" for i in range(257)]},
        {"key": "long text", "text": "word " * 210_000},
        {"key": "i" * 513, "text": "a text"},
        edges=[("good", "i" * 513, None), ("good", "long tag", None), ("good", "good", None)],
    )
    done = await overlay(empty, NOTES, scope="default")
    assert (done.written.memories, done.written.skipped) == (1, 6)
    reasons = "\n".join(done.written.problems)
    for named in ("long tag", "many tags", "long text", "iii"):
        assert named in reasons


@pytest.mark.parametrize("label", ["Memory", "Topic", "LearningEvent"])
async def test_a_graph_that_copies_would_join_is_refused(empty: Store, label: str) -> None:
    node = NodeMapping(label=("Note", label), key="key", text=("text",), connector=True)
    mapping = replace(NOTES, nodes=(NodeMapping(label="Other", key="key", text=("text",)), node))
    with pytest.raises(MappingError, match=f"label {label}, which memoria's own have"):
        await overlay(empty, mapping, scope="default")
