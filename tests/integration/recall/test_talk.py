"""Ranking of a chat in a real server: a message ranks once, and has a session."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memoria.recall.ranking import FactsRequest, ask_facts
from memoria.remember.conversations import ConversationWriter
from memoria.retriever import GraphRetriever
from memoria.serialize import plain_recall
from memoria.store import Store
from memoria.types import Conversation, Memory, Message, Recall, Relation
from memoria.writer import GraphWriter

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
# Nine parts of at most 1,500 characters; each contains the words of the question.
ANSWER = "\n\n".join(
    f"Step {n}: varnish the hull of the dinghy. " + "Let it dry for a day. " * 60 for n in range(9)
)


def message(text: str, minutes: int, **facts: str) -> Message:
    return Message(text=text, created_at=NOON + timedelta(minutes=minutes), **facts)  # type: ignore[arg-type]


CHAT = Conversation(
    id="boat",
    messages=[
        message("My dinghy looks worn. How do I varnish the hull?", 0),
        message(ANSWER, 1, role="assistant"),
        message("My aunt Ida has a varnish with oil.", 2),
        message("I sold the boat to Ida.", 600, speaker="Ann"),
    ],
)


async def chat(store: Store, scope: str) -> None:
    await ConversationWriter(store, scope=scope).write([CHAT])


def shown(recall: Recall) -> list[str]:
    return [entry.id for entry in recall.ranked]


async def test_a_long_message_ranks_once_though_several_parts_were_found(
    store: Store, retriever: GraphRetriever
) -> None:
    await chat(store, retriever.scope)
    recall = await retriever.recall("How do I varnish the hull of a dinghy?")
    found = {id_ for each in recall.explorations for path in each.paths for id_ in path.ids}
    found |= {path.seed_id for path in recall.hits}
    parts = {id_ for id_ in found if id_.partition("#")[0] == "boat:2"}
    assert len(parts) > 1, "several parts of the answer were found"
    messages = [id_.partition("#")[0] for id_ in shown(recall)]
    assert sorted(messages) == ["boat:1", "boat:2", "boat:3", "boat:4"]
    assert [item.id for item in recall.context.items if item.id in parts] == [
        id_ for id_ in shown(recall) if id_ in parts
    ]


async def test_what_the_assistant_said_stands_higher_where_the_question_asks_for_it(
    store: Store, retriever: GraphRetriever
) -> None:
    await chat(store, retriever.scope)
    said = await retriever.recall("How did you varnish the hull of the dinghy?")
    own = await retriever.recall("How would you varnish the hull of the dinghy?")
    for recall, name in ((said, "assistant"), (own, "user")):
        marked = {e.id.partition("#")[0]: e.features[name] for e in recall.ranked}
        assistant = float(name == "assistant")
        assert marked == {
            "boat:1": 1 - assistant,
            "boat:2": assistant,
            "boat:3": 1 - assistant,
            "boat:4": 1 - assistant,
        }


async def test_messages_say_which_session_they_are_of(
    store: Store, retriever: GraphRetriever
) -> None:
    await chat(store, retriever.scope)
    recall = await retriever.recall("Who has a varnish with oil for the dinghy?")
    sessions = {entry.id.partition("#")[0]: entry.session for entry in recall.ranked}
    # The edges: 1 per message, 9 for the parts of the long one, and 1 between the sessions.
    first, second = ("@session:boat:1", 12), ("@session:boat:2", 2)
    assert sessions == {"boat:1": first, "boat:2": first, "boat:3": first, "boat:4": second}
    entries = plain_recall(recall)["ranked"]
    assert [entry["session"] for entry in entries] == [
        list(sessions[entry["id"].partition("#")[0]] or ()) for entry in entries
    ]
    by_message = {entry.id.partition("#")[0]: entry for entry in recall.ranked}
    assert by_message["boat:1"].shares["in_session"] > 0
    assert by_message["boat:4"].shares["in_session"] == pytest.approx(0.0), "alone in its own"


async def test_facts_have_the_sessions_of_what_ranks_and_of_nothing_else(
    store: Store, scope: str
) -> None:
    await chat(store, scope)
    note = Memory(id="note", kind="Event", text="The varnish is in the shed.")
    edge = Relation(source="note", target="boat:1", relation="about", weight=1.0)
    await GraphWriter(store, scope=scope).write([note], [edge])
    ids = ["boat:1", "boat:2#2", "boat:4", "note", "@session:boat:1", "nobody"]
    facts, _ = await ask_facts(store, FactsRequest(scope=scope), ids, known=ids)
    assert facts.sessions == {
        "boat:1": ("@session:boat:1", 12),
        "boat:2#2": ("@session:boat:1", 12),
        "boat:4": ("@session:boat:2", 2),
    }


async def test_facts_name_the_messages_that_open_a_session(store: Store, scope: str) -> None:
    long = Message(text=ANSWER, created_at=NOON)
    await chat(store, scope)
    await ConversationWriter(store, scope=scope).write([Conversation(id="told", messages=[long])])
    ids = ["boat:1", "boat:2", "boat:2#2", "boat:3", "boat:4", "told:1", "told:1#2"]

    async def opening(*order: str) -> set[str]:
        facts, _ = await ask_facts(store, replace(request, order=order), ids, known=ids)
        return {*facts.opening}

    request = FactsRequest(scope=scope)
    whole = {"boat:1", "boat:4", "told:1", "told:1#2"}
    assert await opening(*request.order) == whole
    assert await opening("follows") == whole, "whatever order the scope declares for its notes"
    writer = GraphWriter(store, scope=scope)
    await writer.forget(["boat:2"])
    assert await opening(*request.order) == whole, "the next message does not take its place"
    await writer.forget(["boat:1"])
    assert await opening(*request.order) == whole - {"boat:1"}


async def test_of_messages_of_one_time_the_first_opens_their_session(
    store: Store, scope: str
) -> None:
    days = [Message(text=text, created_at=NOON) for text in ("It rains.", "It pours.")]
    await ConversationWriter(store, scope=scope).write([Conversation(id="day", messages=days)])
    ids = ["day:1", "day:2"]
    facts, _ = await ask_facts(store, FactsRequest(scope=scope), ids, known=ids)
    assert facts.opening == {"day:1"}


async def test_of_several_sessions_the_first_by_id_counts(store: Store, scope: str) -> None:
    memories = [
        Memory(id="a", kind="Event", text="It rains."),
        *(Memory(id=name, kind="Session", text=name) for name in ("s2", "s1")),
    ]
    edges = [
        Relation(source="a", target=name, relation="in_session", weight=0.5)
        for name in ("s2", "s1")
    ]
    await GraphWriter(store, scope=scope).write(memories, edges)
    facts, _ = await ask_facts(store, FactsRequest(scope=scope), ["a"], known=["a"])
    assert facts.sessions == {"a": ("s1", 1)}
