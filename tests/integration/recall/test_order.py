"""What stands in a run of likely memories rises with them, as far as the database has the run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memoria.agents.explaining import explanation, ranked_in
from memoria.recall.config import RetrieverConfig
from memoria.retriever import GraphRetriever
from memoria.serialize import plain_recall
from memoria.store import Store
from memoria.types import Conversation, Memory, Message, Relation
from memoria.writer import GraphWriter

QUESTION = "When does the ferry to Bergen leave?"
TURNS = (
    "Nina said that the ferry to Bergen is the better way.",
    "Mind that the cabins sell out early.",
    "Bring a sweater for the deck, and something to read.",
    "Parking costs nine euros a day.",
)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


async def turns(store: Store, scope: str, relation: str | None) -> None:
    """Four turns in a row, of which the first one holds the question's words."""
    memories = [Memory(id=f"t{n}", kind="Event", text=text) for n, text in enumerate(TURNS)]
    edges = [
        Relation(source=f"t{n}", target=f"t{n + 1}", relation=relation or "related", weight=1.0)
        for n in range(len(TURNS) - 1)
    ]
    await GraphWriter(store, scope=scope).write(memories, edges)


@pytest.mark.parametrize("relation", ["next", "NEXT_CHUNK", "in reply to", "REPLIES_TO"])
async def test_turns_say_who_stands_beside_them(
    store: Store, retriever: GraphRetriever, relation: str
) -> None:
    await turns(store, retriever.scope, relation)
    recall = await retriever.recall(QUESTION)
    beside = {entry.id: entry.adjacent for entry in recall.ranked}
    assert beside == {
        "t0": ("t1", "t2"),
        "t1": ("t0", "t2", "t3"),
        "t2": ("t0", "t1", "t3"),
        "t3": ("t1", "t2"),
    }
    rank, found = ranked_in(recall, "t1")
    assert found.shares["adjacent"] > 0
    lines = "\n".join(explanation(recall, rank, found))
    assert "next to [t0], [t2], [t3]" in lines
    assert "ranking: adjacent" in lines
    assert plain_recall(recall)["ranked"][rank - 1]["adjacent"] == ["t0", "t2", "t3"]


@pytest.mark.parametrize("relation", ["follows", "answers", "replaces", None])
async def test_other_relations_say_nothing_of_an_order(
    store: Store, retriever: GraphRetriever, relation: str | None
) -> None:
    await turns(store, retriever.scope, relation)
    recall = await retriever.recall(QUESTION)
    assert recall.ranked
    assert all(not entry.adjacent and "adjacent" not in entry.shares for entry in recall.ranked)


async def test_one_edge_in_order_is_enough_and_a_relation_of_another_type_does_no_harm(
    store: Store, retriever: GraphRetriever
) -> None:
    await turns(store, retriever.scope, None)
    edge = Relation(source="t1", target="t0", relation="next", weight=0.2)
    await GraphWriter(store, scope=retriever.scope).write([], [edge])
    async with store.driver.session() as session:
        await session.run(
            "MATCH (:Memory {id: 't1', scope: $scope})-[r:RELATES]->(:Memory {id: 't2'}) "
            "SET r.relation = 7",
            scope=retriever.scope,
        )
    recall = await retriever.recall(QUESTION)
    beside = {entry.id: entry.adjacent for entry in recall.ranked if entry.adjacent}
    assert beside == {"t0": ("t1",), "t1": ("t0",)}


async def test_without_a_relevance_model_nobody_asks(
    store: Store, retriever: GraphRetriever
) -> None:
    await turns(store, retriever.scope, "next")
    recall = await retriever.recall(QUESTION, config=RetrieverConfig(relevance=None))
    assert recall.ranked
    assert all(not entry.adjacent for entry in recall.ranked)


async def test_the_turns_of_a_conversation_stand_side_by_side(retriever: GraphRetriever) -> None:
    said = [
        Message(text=text, created_at=NOON + timedelta(minutes=n)) for n, text in enumerate(TURNS)
    ]
    await retriever.conversations().write([Conversation(id="trip", messages=said)])
    recall = await retriever.recall(QUESTION)
    beside = {entry.id: entry.adjacent for entry in recall.ranked}
    assert beside["trip:1"] == ("trip:2", "trip:3")
