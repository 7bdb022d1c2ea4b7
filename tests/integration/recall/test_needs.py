"""What the seeds need is found and ranked, however little energy comes that way."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import pytest

from memoria.agents.explaining import explanation, ranked_in
from memoria.errors import UnavailableError
from memoria.learn import Learner
from memoria.recall import needs as needs_module
from memoria.recall.config import RetrieverConfig
from memoria.recall.needs import Needed, NeedsRequest, follow_needs
from memoria.retriever import GraphRetriever
from memoria.serialize import needed_from, plain_recall, trace_from
from memoria.store import Session, Store
from memoria.store.queries import Query
from memoria.types import Memory, MemoryFilter, Recall, Relation, RelationRoles
from memoria.types.validity import Validity
from memoria.writer import GraphWriter

QUESTION = "Book a flight to Bergen"
CHAIN = ("needed", "deeper", "deepest")
OTHERS = [f"other-{n}" for n in range(8)]


def tool(id_: str, text: str | None = None, **fields: Any) -> Memory:
    return Memory(id=id_, kind="Event", text=text or f"what {id_} can do", **fields)


async def tools(store: Store, scope: str, *relations: str) -> None:
    """``book`` needs a chain of memories, and eight others take the branches of its energy."""
    memories = [tool("book", "book a flight"), *map(tool, (*CHAIN, *OTHERS))]
    ends = ("book", *CHAIN)
    needs = [
        Relation(source=ends[n], target=ends[n + 1], relation=relations[n % len(relations)])
        for n in range(len(CHAIN))
    ]
    edges = [Relation(source="book", target=id_, relation="with", weight=1.0) for id_ in OTHERS]
    await GraphWriter(store, scope=scope).write(memories, [*edges, *needs])


def ids(recall: Recall) -> list[str]:
    return [entry.id for entry in recall.ranked]


async def needs_of(store: Store, scope: str, *seeds: str, **changes: Any) -> Needed:
    values: dict[str, Any] = {
        "ids": seeds,
        "scope": scope,
        "validity": Validity.now(),
        "max_weight": 1.0,
        "until": asyncio.get_running_loop().time() + 60,
    }
    return await follow_needs(store, NeedsRequest(**values | changes))


@pytest.mark.parametrize("relations", [["depends_on"], ["REQUIRES", "benötigt", "TOOL_DEPENDS_ON"]])
async def test_a_chain_of_needs_stands_before_what_more_energy_reaches(
    store: Store, retriever: GraphRetriever, relations: list[str]
) -> None:
    await tools(store, retriever.scope, *relations)
    recall = await retriever.recall(QUESTION)
    reached = {id_ for each in recall.explorations for path in each.paths for id_ in path.ids}
    assert not reached & {*CHAIN}, "others take the branches"
    assert [id_ for id_ in ids(recall) if id_ not in OTHERS] == ["book", *CHAIN]
    by_score = {entry.id: entry.score for entry in recall.ranked}
    assert by_score["needed"] >= 0.25 * by_score["book"], "half of the odds, and half the weight"
    assert [path.ids for path in recall.needed] == [
        ("book", "needed"),
        ("book", "needed", "deeper"),
        ("book", "needed", "deeper", "deepest"),
    ]
    chain = recall.needed[-1]
    assert [hop.relation for hop in chain.hops] == [relations[n % len(relations)] for n in range(3)]
    assert {(hop.direction, hop.energy_in, hop.energy_out) for hop in chain.hops} == {
        ("out", 0.0, 0.0)
    }
    packed = {item.id for item in recall.context.items}
    assert packed >= {"book", *CHAIN}


async def test_a_recall_says_who_needs_a_memory(store: Store, retriever: GraphRetriever) -> None:
    await tools(store, retriever.scope, "depends_on")
    recall = await retriever.recall(QUESTION)
    rank, found = ranked_in(recall, "deepest")
    assert found.needed_by == {"deeper": 0.5}
    assert found.path.ids == ("book", *CHAIN)
    lines = "\n".join(explanation(recall, rank, found))
    assert "[deeper] -depends_on-> [deepest]: a need, weight 0.5" in lines
    assert "needed by [deeper], weight 0.5" in lines
    assert "ranking: needed" in lines
    plain = plain_recall(recall)
    assert needed_from(plain) == recall.needed
    assert plain["ranked"][rank - 1]["needed_by"] == {"deeper": 0.5}


@pytest.mark.parametrize("relation", ["required_by", "needed_by", "calls", "caused_by", None])
async def test_other_relations_are_no_needs(
    store: Store, retriever: GraphRetriever, relation: str | None
) -> None:
    await tools(store, retriever.scope, relation or "related")
    recall = await retriever.recall(QUESTION)
    assert recall.needed == ()
    assert all("needed" not in entry.shares for entry in recall.ranked)


async def test_what_no_longer_holds_is_not_needed_unless_asked_for(
    store: Store, retriever: GraphRetriever
) -> None:
    await tools(store, retriever.scope, "depends_on")
    await Learner(store, scope=retriever.scope).suppress("other-0", "deeper", kind="deprecated-to")
    late = datetime.now(UTC) - timedelta(days=1)
    await retriever.writer().write(
        [tool("late", valid_until=late, created_at=late - timedelta(days=1))],
        [Relation(source="book", target="late", relation="requires", weight=1.0)],
    )
    recall = await retriever.recall(QUESTION)
    assert {path.ids[-1] for path in recall.needed} == {"needed"}
    assert not {"deeper", "late"} & {*ids(recall)}
    every = RetrieverConfig(include_outdated=True)
    recall = await retriever.recall(QUESTION, config=every)
    assert {path.ids[-1] for path in recall.needed} == {*CHAIN, "late"}


async def test_a_filter_leaves_out_what_is_needed_and_not_what_that_needs(
    store: Store, retriever: GraphRetriever
) -> None:
    await tools(store, retriever.scope, "depends_on")
    recall = await retriever.recall(QUESTION, where=MemoryFilter(exclude_ids=["needed"]))
    assert "needed" not in ids(recall)
    by_id = {entry.id: entry for entry in recall.ranked}
    assert by_id["deeper"].shares["needed"] > by_id["deepest"].shares["needed"] > 0


async def test_without_a_relevance_model_needs_are_not_followed(
    store: Store, retriever: GraphRetriever
) -> None:
    await tools(store, retriever.scope, "depends_on")
    recall = await retriever.recall(QUESTION, config=RetrieverConfig(relevance=None))
    assert recall.needed == ()
    assert "deepest" not in ids(recall)


def refuse_needs_of(id_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the query of needs fail where it asks for those of a memory."""
    run = Session.run

    async def refusing(self: Session, query: Query, parameters: Mapping[str, Any]) -> Any:
        if query.name == "recall.needs" and id_ in parameters["ids"]:
            raise UnavailableError("gone")
        return await run(self, query, parameters)

    monkeypatch.setattr(Session, "run", refusing)


@pytest.mark.parametrize(
    ("refused", "kept"), [("book", []), ("deeper", ["needed", "deeper"])], ids=["first", "later"]
)
async def test_where_needs_can_not_be_read_the_recall_says_so_and_keeps_what_was_followed(
    store: Store,
    retriever: GraphRetriever,
    monkeypatch: pytest.MonkeyPatch,
    refused: str,
    kept: list[str],
) -> None:
    await tools(store, retriever.scope, "depends_on")
    refuse_needs_of(refused, monkeypatch)
    recall = await retriever.recall(QUESTION)
    assert [path.ids[-1] for path in recall.needed] == kept
    assert "book" in ids(recall)
    assert any("could not be read to the end" in note for note in recall.trace.degraded)


async def test_what_only_needs_brought_can_be_used_and_confirmed(
    store: Store, retriever: GraphRetriever
) -> None:
    await tools(store, retriever.scope, "depends_on")
    recall = await retriever.recall(QUESTION)
    learner = Learner(store, scope=retriever.scope)
    again = trace_from(plain_recall(recall))
    assert again.needed == recall.trace.needed == recall.needed
    report = await learner.reinforce(again, used=["deepest"])
    assert report.edges == 3, "those that say the needs"
    await learner.feedback(again, confirmed=["deeper"])


async def test_what_did_not_exist_yet_or_holds_elsewhere_is_not_needed(
    store: Store, retriever: GraphRetriever
) -> None:
    await tools(store, retriever.scope, "depends_on")
    made = datetime(2026, 5, 2, tzinfo=UTC)
    more = [tool("later", created_at=made), tool("elsewhere", when={"place": "Oslo"})]
    needs = [Relation(source="book", target=each.id, relation="requires") for each in more]
    await retriever.writer().write(more, needs)
    before = await retriever.recall(QUESTION, as_of=made - timedelta(days=1))
    assert "later" not in {path.ids[-1] for path in before.needed}
    config = RetrieverConfig(situation={"place": "Bergen"})
    there = await retriever.recall(QUESTION, config=config)
    assert {path.ids[-1] for path in there.needed} == {*CHAIN, "later"}


async def test_a_cycle_ends_and_of_parallel_edges_the_strongest_counts(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await driver.execute_query(
        "CREATE (a:Memory {scope: $scope, id: 'a'}), (b:Memory {scope: $scope, id: 'b'}), "
        "(a)-[:RELATES {relation: 'requires', weight: 0.2}]->(b), "
        "(a)-[:RELATES {relation: 'needs', weight: 7.0}]->(b), "
        "(a)-[:RELATES {relation: 'requires', weight: 1.0}]->(a), "
        "(b)-[:RELATES {relation: 'depends on'}]->(a)",
        scope=scope,
    )
    found = await needs_of(store, scope, "a")
    assert found.needs == {"a": {"b": 1.0}, "b": {"a": 0.01}}
    assert [(path.ids, path.hops[0].relation, path.hops[0].degree) for path in found.paths] == [
        (("a", "b"), "needs", 4)
    ]
    both = await needs_of(store, scope, "a", "b")
    assert (both.paths, both.needs) == ((), found.needs)


async def test_foreign_edges_and_nodes_are_no_needs(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await driver.execute_query(
        "CREATE (a:Memory {scope: $scope, id: 'a'}) "
        "CREATE (a)-[:RELATES {relation: 'requires', weight: 1.0}]->"
        "(:Memory {scope: $other, id: 'x'}), "
        "(a)-[:RELATES {relation: 'requires', weight: 'x'}]->(:Memory {scope: $scope, id: 'y'}), "
        "(a)-[:RELATES {relation: ['requires'], weight: 1.0}]->"
        "(:Memory {scope: $scope, id: 'z'}), "
        "(a)-[:RELATES {relation: 7, weight: 1.0}]->(:Memory {scope: $scope, id: 'u'}), "
        "(a)-[:RELATES {relation: 'requires', weight: 1.0}]->(:Memory {scope: $scope, id: 7}), "
        "(a)-[:RELATES {relation: 'requires', weight: 1.0}]->(:Memory {scope: $scope}), "
        "(a)-[:RELATES {relation: 'requires', weight: 1.0}]->"
        "(:Memory:Topic {scope: $scope, id: 't'}), "
        "(a)-[:RELATES {relation: 'requires', weight: 1.0}]->({scope: $scope, id: 'v'})",
        scope=scope,
        other=f"{scope} other",
    )
    assert await needs_of(store, scope, "a", "nobody") == Needed()


async def test_what_needs_everything_says_nothing(store: Store, scope: str) -> None:
    most, each = needs_module._EDGES, needs_module._NEEDS
    writer = GraphWriter(store, scope=scope)
    parts = [f"part-{n:03d}" for n in range(most + 1)]
    await writer.write(
        [tool("hub"), tool("busy"), *map(tool, parts)],
        [
            *(Relation(source="hub", target=id_, relation="requires") for id_ in parts),
            *(
                Relation(source="busy", target=id_, relation="requires", weight=1 - n / 1_000)
                for n, id_ in enumerate(parts[: each + 10])
            ),
            *(
                Relation(source=a, target=b, relation="needs")
                for a, b in zip(parts[:60], parts[100:160], strict=True)
            ),
        ],
    )
    roles = RelationRoles(need=("requires", "needs"))  # undeclared, they don't look like needs
    assert await needs_of(store, scope, "hub", roles=roles) == Needed()
    found = await needs_of(store, scope, "busy", roles=roles)
    assert len(found.paths) == needs_module._MEMORIES
    assert [path.ids[-1] for path in found.paths[:each]] == parts[:each]
