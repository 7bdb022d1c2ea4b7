"""Writes whose embedder is down, slow or wrong: words at once, vectors as soon as can be."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from zlib import crc32

import neo4j
import pytest

from memoria.agents.agent_memory import AgentMemory
from memoria.agents.hooks import HookCall, answer_hook
from memoria.graph.stats import scope_stats
from memoria.ingest.unembedded import MAX_TRIES, NOTE_IDS, keep_embedding
from memoria.learn.link import Linker
from memoria.learn.link.config import SimilarityLinkConfig
from memoria.recall.config import RetrieverConfig
from memoria.recall.seeds.config import SeedConfig
from memoria.remember.conversations import ConversationWriter
from memoria.remember.documents import DocumentWriter
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.store.queries import Query
from memoria.types import Conversation, Document, Memory, MemoryFilter, Message, Relation
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.effort import effort

STORED = """
MATCH (m:Memory {scope: $scope}) WHERE m.text IS NOT NULL
RETURN m.id AS id, m.text AS text, m.embedding AS vector ORDER BY id
"""
NOTES = (
    "MATCH (n:MemoriaMeta {scope: $scope}) WHERE n.key STARTS WITH 'pending:' RETURN n.ids AS ids"
)
RELATED = """
MATCH (:Memory {scope: $scope})-[r:RELATES {relation: 'related'}]->() RETURN count(r) AS n
"""


def vector_of(text: str) -> list[float]:
    rng = random.Random(crc32(text.encode()))
    return [rng.gauss(0, 1) for _ in range(DIMENSIONS)]


class Moody:
    """An embedder that does what it is told to do, or fails at random."""

    name = EMBEDDER
    dimensions = DIMENSIONS

    def __init__(self, *moods: str, rng: random.Random | None = None) -> None:
        self.moods = moods or ("well",)
        self.rng = rng or random.Random(1)

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        await asyncio.sleep(0)
        vectors = [vector_of(text) for text in texts]
        place = self.rng.randrange(len(texts))
        match self.rng.choice(self.moods):
            case "down":
                raise ConnectionError("connection refused")
            case "slow":
                await asyncio.sleep(3600)
            case "not finite":
                vectors[place][0] = math.nan
            case "wrong size":
                vectors[place] = vectors[place][:-1]
            case "zeros":
                vectors[place] = [0.0] * DIMENSIONS
            case "none":
                vectors[place] = None  # type: ignore[call-overload]
            case "too long":
                vectors[place] = [1e300] * DIMENSIONS
            case "too few":
                vectors.pop()
            case "nonsense":
                return None  # type: ignore[return-value]
        return vectors

    async def embed_query(self, text: str) -> Sequence[float]:
        return (await self.embed_documents([text]))[0]


SPOIL_ONE = ("not finite", "wrong size", "zeros", "none", "too long")
MOODS = ("down", *SPOIL_ONE, "too few", "nonsense")


async def stored(driver: neo4j.AsyncDriver, scope: str) -> dict[str, tuple[str, Any]]:
    found = (await driver.execute_query(STORED, scope=scope)).records
    return {row["id"]: (row["text"], row["vector"]) for row in found}


async def notes(driver: neo4j.AsyncDriver, scope: str) -> list[str]:
    found = (await driver.execute_query(NOTES, scope=scope)).records
    return sorted(id_ for row in found for id_ in row["ids"])


def memory(id_: str, text: str | None = None) -> Memory:
    return Memory(id=id_, kind="Event", text=text or f"the text of {id_}")


async def test_of_many_writes_with_an_embedder_that_fails_at_random_nothing_is_lost(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    writes = effort().moody_writes
    embedder = Moody(*["well"] * 6, *MOODS, rng=random.Random(39))
    writer = GraphWriter(store, scope=scope, embedder=embedder)
    talks = ConversationWriter(store, scope=scope, embedder=embedder)
    documents = DocumentWriter(store, scope=scope, embedder=embedder)
    texts: set[str] = set()
    pending = 0

    async def write(number: int) -> int:
        text = f"Parcel {number} went to depot {number * 7919 % 1000} with van {number % 13}."
        texts.add(text)
        match number % 4:
            case 0:
                return (await writer.remember(text)).pending_vectors
            case 1:
                report = await talks.append(f"c{number % 20}", [Message(text=text)])
                return report.written.pending_vectors
            case 2:
                edge = Relation(source=f"m{number}", target=f"m{max(2, number - 4)}")
                edges = [edge] if number > 2 else []
                return (await writer.write([memory(f"m{number}", text)], edges)).pending_vectors
            case _:
                document = Document(id=f"d{number}", text=text)
                return (await documents.write([document])).written.pending_vectors

    for start in range(0, writes, 4):  # one of each kind at a time
        pending += sum(await asyncio.gather(*(write(start + each) for each in range(4))))
    assert pending > writes / 10, "the embedder failed too seldom to show anything"

    found = await stored(driver, scope)
    assert sorted(text for text, _ in found.values()) == sorted(texts), "lost or doubled"
    for text, vector in found.values():
        assert vector in (None, vector_of(text))
    edges = await driver.execute_query(RELATED, scope=scope)
    assert edges.records[0]["n"] == writes / 4 - 1

    left = [id_ for id_, (_, vector) in found.items() if vector is None]
    assert await notes(driver, scope) == left, "noted are those that lack a vector, and no others"
    assert (await scope_stats(store, scope)).pending_vectors == len(left)
    well = GraphWriter(store, scope=scope, embedder=Moody())
    assert await well.backfill_embeddings() == len(left)
    for text, vector in (await stored(driver, scope)).values():
        assert vector == vector_of(text)
    assert await notes(driver, scope) == []


@pytest.mark.parametrize("mood", MOODS)
async def test_one_bad_vector_leaves_only_its_own_memory_without_one(
    store: Store, driver: neo4j.AsyncDriver, scope: str, mood: str
) -> None:
    writer = GraphWriter(store, scope=scope, embedder=Moody(mood))
    report = await writer.write([memory(f"m{number}") for number in range(5)])
    lost = 1 if mood in SPOIL_ONE else 5
    assert (report.memories, report.embedded, report.pending_vectors) == (5, 5 - lost, lost)
    assert report.skipped == 0
    assert " pending" in report.problems[0]
    found = await stored(driver, scope)
    lacking = [id_ for id_, (_, vector) in found.items() if vector is None]
    assert len(lacking) == lost
    if mood in SPOIL_ONE:
        place = int(lacking[0].removeprefix("m")) + 1
        assert f"memory '{lacking[0]}'" in report.problems[0]
        assert f"for text {place} of 5" in report.problems[0]


@pytest.mark.parametrize("mood", SPOIL_ONE)
async def test_one_bad_vector_holds_up_no_other_of_a_backfill(
    store: Store, scope: str, mood: str
) -> None:
    await GraphWriter(store, scope=scope).write([memory(f"m{number}") for number in range(5)])
    writer = GraphWriter(store, scope=scope, embedder=Moody(mood))
    assert await writer.backfill_embeddings() == 4
    assert await writer.count_unembedded() == 1


async def test_an_embedder_that_does_not_answer_is_left_after_the_time_of_a_query(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    store = Store(driver, config=StoreConfig(query_timeout_s=3.0))
    began = asyncio.get_running_loop().time()
    done = await GraphWriter(store, scope=scope, embedder=Moody("slow")).remember("It rains.")
    assert (done.created, done.pending_vectors) == (True, 1)
    assert asyncio.get_running_loop().time() - began < 30


async def test_the_next_write_makes_up_for_what_an_earlier_one_could_not_do(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    await GraphWriter(store, scope=scope, embedder=Moody("down")).write(
        [memory(f"m{number:03}") for number in range(NOTE_IDS + 6)]
    )
    retriever = GraphRetriever(store, scope=scope, embedder=Moody())
    trace = (await retriever.recall("the text of m001")).trace
    [note] = trace.notes
    assert note.startswith(f"vectors are pending: {NOTE_IDS + 6} memories have none yet")
    assert trace.degraded == (), "every part of the recall worked"
    writer = GraphWriter(store, scope=scope, embedder=Moody())
    first = await writer.write([memory("x")])
    assert (first.embedded, first.pending_vectors) == (1 + NOTE_IDS, 0)
    await writer.remember("Something else.")
    assert await notes(driver, scope) == []
    assert all(vector for _, vector in (await stored(driver, scope)).values())
    assert (await writer.write([memory("y")])).embedded == 1
    assert (await retriever.recall("the text of m001")).trace.notes == ()


async def test_messages_and_documents_make_up_for_it_as_well_and_link_what_they_embed(
    store: Store, scope: str
) -> None:
    down = Moody("down")
    linker = Linker(store, scope=scope, config=SimilarityLinkConfig(min_cosine=0.9))
    same = [Memory(id=id_, kind="Event", text="the mill closed") for id_ in ("a", "b")]
    await GraphWriter(store, scope=scope, embedder=down).write(same)
    talks = ConversationWriter(store, scope=scope, embedder=Moody(), linker=linker)
    report = await talks.append("c", [Message(text="The Kestrel bridge opens in May.")])
    assert (report.written.embedded, report.written.links) == (3, 1)
    await GraphWriter(store, scope=scope, embedder=down).write([memory("e")])
    done = await DocumentWriter(store, scope=scope, embedder=Moody()).write(
        [Document(id="d", text="Swifts nest under the roof.")]
    )
    assert done.written.embedded == 2


async def test_whole_conversations_are_written_by_words_and_their_failed_texts_tried_once(
    store: Store, scope: str
) -> None:
    class Counting(Moody):
        calls = 0

        async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
            self.calls += 1
            return await super().embed_documents(texts)

    embedder = Counting("down")
    messages = [Message(text=f"message number {number}") for number in range(20)]
    report = await ConversationWriter(store, scope=scope, embedder=embedder).write(
        [Conversation(id="c", messages=messages)]
    )
    assert (report.messages, report.written.pending_vectors, embedder.calls) == (20, 20, 1)
    assert len(report.written.problems) == 1
    again = await ConversationWriter(store, scope=scope, embedder=Moody()).write(
        [Conversation(id="c", messages=messages)]
    )
    assert (again.messages, again.known) == (0, 20)


async def test_a_text_that_is_refused_again_and_again_holds_up_nothing_else(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    class Picky(Moody):
        async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
            vectors = [*await super().embed_documents(texts)]
            return [
                [math.nan] if text == "?" else v for text, v in zip(texts, vectors, strict=True)
            ]

    writer = GraphWriter(store, scope=scope, embedder=Picky())
    assert (await writer.write([memory("odd", "?")])).pending_vectors == 1
    for number in range(MAX_TRIES):
        assert await notes(driver, scope) == ["odd"]
        assert (await writer.write([memory(f"m{number}")])).embedded == 1
    assert await notes(driver, scope) == [], "it is given up"
    assert await writer.count_unembedded() == 1
    assert await writer.backfill_embeddings() == 0


async def test_what_is_forgotten_or_rewritten_meanwhile_is_not_owed_any_more(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    await GraphWriter(store, scope=scope, embedder=Moody("down")).write(
        [
            memory("gone"),
            memory("other"),
            memory("stays"),
            replace(memory("tagged"), tags=["tagged"]),
        ]
    )
    await GraphWriter(store, scope=scope, embedder=Moody("down")).write([memory("alone")])
    writer = GraphWriter(store, scope=scope)
    await writer.forget(["alone"])
    await writer.forget(["gone"])
    await writer.forget(where=MemoryFilter(tags=["tagged"]))
    assert await notes(driver, scope) == ["other", "stays"]
    await writer.write([memory("other", "other words")])
    await GraphWriter(store, scope=scope, embedder=Moody()).write([memory("x")])
    found = await stored(driver, scope)
    assert {id_: vector for id_, (_, vector) in found.items()} == {
        "other": vector_of("other words"),
        "stays": vector_of("the text of stays"),
        "x": vector_of("the text of x"),
    }
    await GraphWriter(store, scope=scope, embedder=Moody("down")).write([memory("z")])
    await writer.forget_scope(confirm=scope)
    assert await notes(driver, scope) == []


async def test_a_task_keeps_making_vectors_that_are_pending_in_any_scope(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    for place in (f"{scope}/1", f"{scope}/2"):
        await GraphWriter(store, scope=place, embedder=Moody("down")).write([memory("a")])
    async with keep_embedding(store, Moody()), asyncio.timeout(60):
        for place in (f"{scope}/1", f"{scope}/2"):
            while (vector := (await stored(driver, place))["a"][1]) is None:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            assert vector == vector_of("the text of a")


@pytest.mark.parametrize("mood", [*MOODS])
async def test_a_question_without_a_vector_is_searched_by_words(
    store: Store, scope: str, mood: str
) -> None:
    await GraphWriter(store, scope=scope, embedder=Moody()).write([memory("a", "the mill closed")])
    recall = await GraphRetriever(store, scope=scope, embedder=Moody(mood)).recall("the mill")
    assert [each.id for each in recall.ranked] == ["a"]
    assert any("words only" in note for note in recall.trace.degraded)


async def test_a_hook_without_a_model_leaves_the_vectors_to_later_writes(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    agent = AgentMemory(GraphRetriever(store, scope=scope))
    messages = (Message(text="The Kestrel bridge opens in May.", id="1"),)
    call = HookCall(event="stop", session_id="s", scope=scope, messages=messages, harness="claude")
    assert await answer_hook(agent, call) == ""
    assert len(await notes(driver, scope)) == 1
    await GraphWriter(store, scope=scope, embedder=Moody()).write(
        [Memory(id="x", kind="Event", text="x")]
    )
    assert all(vector for _, vector in (await stored(driver, scope)).values())


class Searching(Store):
    """The store, noting what each search by words is told to count."""

    def __init__(self, driver: neo4j.AsyncDriver) -> None:
        super().__init__(driver, database="neo4j")
        self.counted: list[str | None] = []

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        if query.name == "seeds.text":
            self.counted.append(parameters["pending"])
        return await super().run(query, parameters, until=until)


async def test_pending_vectors_are_counted_once_a_recall(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    store = Searching(driver)
    rare = Memory(id="rare", kind="UserRequest", text="the mill closed, said the man at the gate")
    crowd = [Memory(id=f"m{n}", kind="Event", text="the mill closed") for n in range(90)]
    await GraphWriter(store, scope=scope, embedder=Moody()).write([rare, *crowd])
    await GraphWriter(store, scope=scope, embedder=Moody("down")).write(
        [Memory(id="late", kind="Event", text="the mill reopened")]
    )
    config = RetrieverConfig(seeds=SeedConfig(candidates=5))
    memory = GraphRetriever(store, scope=scope, embedder=Moody(), config=config)
    recall = await memory.recall("mill closed", kinds=["UserRequest"])
    assert recall.seeds.pending == 1
    counting, *wider = store.counted
    assert counting is not None
    assert wider, "so few fit that the search grew"
    assert not any(wider)
