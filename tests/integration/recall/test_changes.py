"""Facts that change: the newest first, the older ones marked, nothing replaced by guess."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import pytest

from memoria.agents.agent_memory import AgentMemory
from memoria.errors import QueryError
from memoria.recall.config import RetrieverConfig
from memoria.recall.examples import KeptVectors
from memoria.recall.subjects import edition
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.queries import Query
from memoria.types import Memory, Message, Recall
from tests.integration.counts import PATIENCE_S
from tests.integration.recall.test_round_trips import Wire, wire
from tests.integration.recall.test_when import WORDS
from tests.integration.steady import Steady
from tests.oracle.agreement import remove

__all__ = ["wire"]

FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)
OLD, NEW, LAST = "My boss is Ann Lee", "My boss is Ben Kerr", "My new boss is Cem Ates"
BOUGHT = ["apples", "bread", "candles", "dates", "eggs", "flour", "garlic", "honey"]
# Words that hardly occur in the examples of facts: the embedder of these tests only counts words.
DONE = ["Mended the old bicycle", "Swam in the cold lake", "Fed the ducks", "Read about whales"]


def day(number: int) -> datetime:
    return FIRST + timedelta(days=number)


def life() -> list[Message]:
    """Statements about a boss, some months apart, among 40 others; the assistant repeats one."""
    others = [
        Message(text=f"{DONE[n % 4]} and bought {BOUGHT[n % 8]} number {n}", created_at=day(3 * n))
        for n in range(40)
    ]
    told = [
        Message(text=OLD, created_at=day(10)),
        Message(role="assistant", text="Ann Lee is your boss, noted", created_at=day(11)),
        Message(text=NEW, created_at=day(61)),
        Message(text=LAST, created_at=day(110)),
    ]
    return sorted([*others, *told], key=lambda one: one.created_at or FIRST)


@pytest.fixture
async def dana(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> AsyncIterator[GraphRetriever]:
    """Messages about a boss, and a retriever that lacks nothing it would only have later.

    On a busy machine, cosines between statements would be late, and until all examples of facts are
    embedded, the order rests on a few of them.
    """
    patient = RetrieverConfig(deadline_s=PATIENCE_S)
    retriever = GraphRetriever(store, scope=scope, embedder=WORDS, config=patient)
    await retriever.conversations().append("chat", life())
    await retriever.recall("Who is my boss?")
    async with asyncio.timeout(PATIENCE_S):
        while not KeptVectors(WORDS).file(edition()).exists():  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.01)
    yield retriever
    await remove(driver, scope)


def searches(wire: Wire) -> int:
    return sum(sent.startswith("RUN seeds.vector") for sent in wire.sent)


def texts(found: Recall, count: int) -> list[str]:
    return [one.memory.text for one in found.ranked[:count]]


async def test_the_newest_statement_comes_first_and_the_older_ones_are_marked(
    dana: GraphRetriever,
) -> None:
    found = await dana.recall("Who is my boss?")
    assert texts(found, 1) == [LAST]
    assert set(texts(found, 4)) >= {OLD, NEW, LAST}
    lines = found.context.text.splitlines()
    label = next(item.label for item in found.context.items if item.id == found.ranked[0].id)
    assert lines[1] == f"[{label}] user: {LAST}"
    for older in (OLD, NEW):
        assert any(line.endswith(f"(older than [{label}]) user: {older}") for line in lines)


async def test_a_remembered_text_replaces_what_was_said_in_a_chat(dana: GraphRetriever) -> None:
    """Agents and people `remember` new facts, mostly without a kind."""
    told = "My boss today is Dov Ezra"
    await dana.writer().remember(told, created_at=day(130))
    found = await dana.recall("Who is my boss?")
    assert texts(found, 1) == [told]
    assert f"user: {LAST}" in found.context.text
    marked = {one.memory.text for one in found.ranked if one.newer == found.ranked[0].id}
    assert marked == {OLD, NEW}, "the last one is less surely replaced, and comes second"
    assert texts(found, 2) == [told, LAST]
    assert found.context.text.count("(older than") == 2


async def test_a_course_comes_in_order_of_time(dana: GraphRetriever) -> None:
    found = await dana.recall("How has my boss changed?")
    assert [text for text in texts(found, 12) if text in (OLD, NEW, LAST)] == [OLD, NEW, LAST]


async def test_in_the_past_outdated_statements_come_before_the_newest(dana: GraphRetriever) -> None:
    found = await dana.recall("Who was my boss before?")
    told = [text for text in texts(found, 12) if text in (OLD, NEW, LAST)]
    assert {*told[:2]} == {OLD, NEW}
    assert told[2:] == [LAST]


async def test_statements_are_compared_in_one_query_only_if_the_question_needs_it(
    dana: GraphRetriever, wire: Wire
) -> None:
    await dana.recall("Who is my boss?")
    wire.clear()
    await dana.recall("Who is my boss?")
    assert wire.count("RUN ranking.alike") == 1
    wire.clear()
    off = replace(dana.config, time_phrases=False)
    for question, config in (("When did I mend it?", None), ("Who is my boss?", off)):
        found = await dana.recall(question, config=config)
        assert wire.count("RUN ranking.alike") == 0
        assert not any(one.newer for one in found.ranked)


async def test_a_statement_in_other_words_is_found_by_its_subject_with_one_more_search(
    dana: GraphRetriever, wire: Wire
) -> None:
    implied = "The tram takes me there in fifteen minutes"
    told = Message(text=implied, created_at=day(115))
    await dana.conversations().append("more", [told])
    off = replace(dana.config, time_phrases=False)
    await dana.recall("How do I get to work?")
    wire.clear()
    plain = await dana.recall("How do I get to work?", config=off)
    without = searches(wire)
    assert texts(plain, 1) != [implied]
    wire.clear()
    found = await dana.recall("How do I get to work?")
    assert searches(wire) == without + 1
    assert texts(found, 1) == [implied]
    assert found.ranked[0].shares["subject"] > 0
    assert implied in found.context.text


async def test_without_an_answer_to_that_query_the_order_stays_and_the_trace_says_so(
    dana: GraphRetriever, store: Store
) -> None:
    class Refusing(Steady):
        async def run(
            self, query: Query, parameters: Mapping[str, Any], **options: Any
        ) -> list[neo4j.Record]:
            if query.name == "ranking.alike":
                raise QueryError("refused")
            return await super().run(query, parameters, **options)

    refusing = Refusing(store.driver)
    off = replace(dana.config, time_phrases=False)
    retriever = GraphRetriever(refusing, scope=dana.scope, embedder=WORDS, config=dana.config)
    plain = await retriever.recall("Who is my boss?", config=off)
    found = await retriever.recall("Who is my boss?")
    assert [one.id for one in found.ranked] == [one.id for one in plain.ranked]
    assert [note for note in found.trace.degraded if "older statements" in note]


async def test_remember_names_what_a_text_may_replace_and_only_a_word_replaces_it(
    dana: GraphRetriever,
) -> None:
    memory = AgentMemory(dana)
    text = "My boss is Dea Moor"
    done = await memory.remember(text)
    assert done.data["superseded"] == ()
    older, *more = done.data["may_replace"]
    told = (await dana.get([older, *more])).memories
    assert {OLD, NEW, LAST} >= {one.text for one in told}
    assert f"may be outdated now: [{older}]" in done.text
    assert "call memory_remember again with the same text" in done.text.split("<memories")[0]
    again = await memory.remember(text, supersedes=[older])
    assert again.data["superseded"] == (older,)
    found = await dana.recall("Who is my boss?")
    assert older not in {one.id for one in found.ranked}


async def test_what_a_text_may_replace_is_not_read_again_after_it_was_stored(
    dana: GraphRetriever, store: Store
) -> None:
    class Refusing(Store):
        has_written = False

        async def run(
            self, query: Query, parameters: Mapping[str, Any], **options: Any
        ) -> list[neo4j.Record]:
            if self.has_written and query.name == "graph.hydrate":
                raise QueryError("refused")
            records = await super().run(query, parameters, **options)
            Refusing.has_written |= query.mode == "write"
            return records

    text = "My boss is Dea Moor"
    [vector] = await WORDS.embed_documents([OLD])
    other = Memory(id="other", kind="Event", text="Swifts nest under roofs", embedding=vector)
    await dana.writer().write([other])
    refusing = Refusing(store.driver, database=store.database)
    retriever = GraphRetriever(refusing, scope=dana.scope, embedder=WORDS, config=dana.config)
    done = await AgentMemory(retriever).remember(text)
    assert "other" in {each["id"] for each in done.data["similar"]}
    [older, *more] = done.data["may_replace"]
    assert "other" not in {older, *more}, "it has no word in common with the text"
    assert f"may be outdated now: [{older}]" in done.text
    assert Refusing.has_written
    assert (await dana.get([done.data["id"]])).memories
