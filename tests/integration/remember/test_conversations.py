"""Conversations written into the real server: nothing twice, nothing lost, however they come."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import pytest

from memoria.errors import InvalidInputError
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.remember import cursors
from memoria.remember.config import ConversationConfig
from memoria.remember.conversations import ConversationWriter, append_first
from memoria.retriever import GraphRetriever
from memoria.store import Store, Transaction, Work
from memoria.types import Conversation, LinkReport, Memory, Message
from memoria.writer import GraphWriter
from tests.effort import effort

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WORDS = "harbour lighthouse kitchen violin compass glacier orchard telescope".split()  # noqa: SIM905
NODES = """
MATCH (n:Memory {scope: $scope})
RETURN n.id AS id, coalesce(n.text, n.connector_name) AS text, labels(n) AS labels,
       n.metadata AS metadata, n.created_at AS at ORDER BY id
"""
EDGES = """
MATCH (a:Memory {scope: $scope})-[r:RELATES]->(b)
RETURN a.id AS source, r.relation AS relation, b.id AS target, r.weight AS weight
ORDER BY source, relation, target
"""

Graph = tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]


def talk(count: int, seed: int = 0, **names: Any) -> Conversation:
    """A conversation of two people in sessions, with answers, long and blank messages."""
    rng = random.Random(seed)
    at, messages = NOON, []
    for number in range(count):
        at += timedelta(minutes=rng.choice((1, 2, 400)))
        text = f"{rng.choice(WORDS)} and {rng.choice(WORDS)}, said {number}. "
        messages.append(
            Message(
                text=rng.choice([text, text, text * 20, " "]),
                speaker=rng.choice(("Ann", "Bob")),
                reply_to=str(number - 2) if number > 5 and rng.random() < 0.2 else None,
                created_at=at,
            )
        )
    return Conversation(**{"id": "talk", **names}, messages=messages)


def writer(store: Store, scope: str) -> ConversationWriter:
    config = ConversationConfig(max_chars=300)
    return ConversationWriter(store, scope=scope, config=config, clock=lambda: NOON)


async def graph_of(driver: neo4j.AsyncDriver, scope: str) -> Graph:
    """Everything that a scope holds; of the names of writes, none."""
    nodes, _, _ = await driver.execute_query(NODES, scope=scope)
    edges, _, _ = await driver.execute_query(EDGES, scope=scope)
    return [_plain(node) for node in nodes], [tuple(edge) for edge in edges]


def _plain(node: neo4j.Record) -> tuple[Any, ...]:
    metadata = json.loads(node["metadata"] or "{}")
    if isinstance(state := metadata.get("conversation"), dict):
        state.pop("tokens")
    return node["id"], node["text"], sorted(node["labels"]), str(metadata), node["at"]


async def written(
    store: Store, driver: neo4j.AsyncDriver, scope: str, conversations: Sequence[Conversation]
) -> Graph:
    await writer(store, scope).write(conversations)
    return await graph_of(driver, scope)


async def test_written_twice_nothing_is_new(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    talks = [talk(300), talk(20, 1, id="short"), talk(20, 2, id="short", source="slack")]
    first = await writer(store, scope).write(talks)
    assert first.messages + first.skipped == 340
    assert first.known == 0
    graph = await graph_of(driver, scope)
    assert first.written.memories_created == len(graph[0])
    assert first.written.relations_created == len(graph[1])
    again = await writer(store, scope).write(talks)
    assert (again.conversations, again.messages) == (3, 0)
    assert (again.known, again.skipped) == (first.messages, first.skipped)
    assert again.written.memories == again.written.relations == 0
    assert await graph_of(driver, scope) == graph


async def test_a_conversation_that_grew_goes_on_where_it_ended(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    whole = talk(60)
    shorter = Conversation(id=whole.id, messages=whole.messages[:35])
    first = await writer(store, scope).write([shorter])
    report = await writer(store, scope).write([whole])
    assert report.known == first.messages
    assert report.known + report.messages + report.skipped == 60
    graph = await graph_of(driver, scope)
    assert graph == await written(store, driver, f"{scope}-whole", [whole])
    await writer(store, scope).write([shorter])  # an older export of it
    assert await graph_of(driver, scope) == graph


async def test_appended_one_by_one_gives_the_graph_of_the_whole(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    whole = talk(40)
    one_by_one = writer(store, scope)
    for place in range(0, 40, 3):
        await one_by_one.append(whole.id, whole.messages[place : place + 3])
    graph = await graph_of(driver, scope)
    assert graph == await written(store, driver, f"{scope}-whole", [whole])


async def test_two_writers_at_once_give_the_graph_of_one_after_the_other(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    for turn in range(effort().rounds):
        place = f"{scope}-{turn}"
        said = [f"{word} number {n}" for n, word in enumerate(WORDS)]
        await asyncio.gather(
            *(writer(store, place).append("c", [Message(text=text)]) for text in said)
        )
        graph = await graph_of(driver, place)
        order = [text for _, text, labels, *_ in graph[0] if "UserRequest" in labels]
        assert sorted(order) == sorted(said)
        alone = writer(store, f"{place}-alone")
        for text in order:
            await alone.append("c", [Message(text=text)])
        assert graph == await graph_of(driver, f"{place}-alone")


async def test_two_writers_of_the_same_conversation_write_it_once(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    whole = talk(300)
    await asyncio.gather(*(writer(store, scope).write([whole]) for _ in range(3)))
    graph = await graph_of(driver, scope)
    assert graph == await written(store, driver, f"{scope}-alone", [whole])


class _Killed(BaseException):
    """Ends a writer between two queries, as a kill does."""


class _Killing(Store):
    """A store whose writes end at a random place: before, within or after a transaction."""

    def __init__(self, driver: neo4j.AsyncDriver, **options: Any) -> None:
        super().__init__(driver, **options)
        self.calls_left = [0]  # a list, because copies of a store share it
        self.rng = random.Random(5)

    async def write(self, work: Work[Any], *, name: str = "transaction") -> Any:
        self.calls_left[0] -= 1
        if self.calls_left[0] > 0:
            return await super().write(work, name=name)
        where = self.rng.randrange(3)
        if where == 0:
            raise _Killed

        async def killed(transaction: Transaction) -> Any:
            await work(transaction)
            raise _Killed

        await super().write(killed if where == 1 else work, name=name)
        raise _Killed


async def test_a_kill_between_any_two_steps_loses_nothing_and_doubles_nothing(
    store: Store, driver: neo4j.AsyncDriver, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cursors, "BATCH_MESSAGES", 5)
    talks = [talk(60), talk(3, 1, id="b"), talk(9, 2, id="c"), talk(2, 3, id="d")]
    whole = await written(store, driver, f"{scope}-whole", talks)
    rng = random.Random(3)
    killing = _Killing(driver, config=store.config)
    kills, turn = 0, 0
    while kills < effort().killed_writes:
        place = f"{scope}-{turn}"
        turn += 1
        while True:
            killing.calls_left[0] = rng.randrange(1, 6)
            try:
                await writer(killing, place).write(talks)
                break
            except _Killed:
                kills += 1
        assert await graph_of(driver, place) == whole


async def test_an_append_whose_reply_is_lost_is_not_written_twice(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    class Forgetful(Store):
        async def write(self, work: Work[Any], *, name: str = "transaction") -> Any:
            await super().write(work, name=name)  # its reply is lost; it is repeated
            return await super().write(work, name=name)

    report = await writer(Forgetful(driver, config=store.config), scope).append(
        "c", [Message(text="only once")]
    )
    assert report.messages == 1
    graph = await graph_of(driver, scope)
    assert [text for _, text, labels, *_ in graph[0] if "UserRequest" in labels] == ["only once"]


async def test_what_was_written_before_its_reply_was_lost_is_linked(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    class Forgetful(Store):
        async def write(self, work: Work[Any], *, name: str = "transaction") -> Any:
            await super().write(work, name=name)
            return await super().write(work, name=name)

    class Noting:
        def __init__(self) -> None:
            self.scope = scope
            self.asked: list[str] = []

        async def link(self, ids: Iterable[str] | None = None, **_: bool) -> LinkReport:
            self.asked += ids or ()
            return LinkReport()

    linker = Noting()
    lossy = Forgetful(driver, config=store.config)
    await ConversationWriter(lossy, scope=scope, linker=linker).append("c", [Message(text="once")])
    assert linker.asked == ["c:1"]


async def test_messages_with_ids_that_are_there_are_not_appended_again(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    messages = [Message(id="x", text="the harbour"), Message(id="y", text="the mill")]
    await writer(store, scope).append("c", messages)
    graph = await graph_of(driver, scope)
    report = await writer(store, scope).append("c", messages)
    assert (report.messages, report.known) == (0, 2)
    assert await graph_of(driver, scope) == graph


async def test_an_id_that_has_another_text_is_an_error_and_writes_nothing(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    chat, long = writer(store, scope), "The mill by the harbour is closed. " * 30
    dog, part = Message(text="My dog is called Rex."), Message(id="long", text=long)
    await chat.append("x", [dog, part])
    graph = await graph_of(driver, scope)
    cat = Message(id="1", text="My cat is called Tom.")
    for wrong in (
        [cat],
        [Message(id="1", text=dog.text, role="assistant")],
        [Message(text="new"), Message(id="long", text=long + "It opens in May.")],
        [Message(id="a", text="one"), Message(id="a", text="two")],
        [Message(text="said"), Message(id="3", text="takes the number of the message before")],
    ):
        name = wrong[-1].id
        with pytest.raises(InvalidInputError, match=f"'x' has a message with the id '{name}'"):
            await chat.append("x", wrong)
    assert await graph_of(driver, scope) == graph

    recut = ConversationWriter(store, scope=scope, config=ConversationConfig(max_chars=100))
    again = [Message(id="1", text=dog.text), part, Message(id="1", text=" "), part]
    assert (await recut.append("x", again)).known == 4
    assert await graph_of(driver, scope) == graph

    class Counting(Store):
        reads = 0

        async def run(self, *args: Any, **kwargs: Any) -> Any:
            Counting.reads += 1
            return await super().run(*args, **kwargs)

    one, two, three = (Message(id="b", text=text) for text in ("one", "two", "three"))
    counting = Counting(driver, config=store.config)
    chat = ConversationWriter(counting, scope=scope)
    report = await append_first(chat, "x", [cat, one, part, two])
    assert (report.messages, report.known) == (1, 3)
    Counting.reads = 0
    assert (await append_first(chat, "x", [one, part])).known == 2
    unchanged, Counting.reads = Counting.reads, 0
    assert (await append_first(chat, "x", [three, cat, part])).known == 3
    assert 0 < Counting.reads == unchanged  # sent once


async def test_a_number_never_takes_the_id_of_a_message_before(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    given, numbered = Message(id="2", text="the mill"), Message(text="the harbour")
    await writer(store, scope).append("x", [given])
    await writer(store, scope).append("x", [numbered, numbered])
    graph = await graph_of(driver, scope)
    texts = {id_: text for id_, text, *_ in graph[0] if id_.startswith("x:")}
    assert texts == {"x:2": "the mill", "x:3": "the harbour", "x:4": "the harbour"}
    whole = Conversation(id="x", messages=[given, numbered, numbered])
    report = await writer(store, f"{scope}-whole").write([whole])
    assert (report.messages, report.skipped, report.written.problems) == (3, 0, ())


async def test_written_messages_that_share_an_id_are_named(store: Store, scope: str) -> None:
    messages = [Message(id="a", text=text) for text in ("one", "two", "one")]
    report = await writer(store, scope).write([Conversation(id="x", messages=messages)])
    assert (report.messages, report.skipped) == (1, 2)
    (problem,) = report.written.problems
    assert "conversation 'x'" in problem
    assert "'a'" in problem


async def test_other_words_at_a_place_leave_nothing_of_those_before(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    def told(text: str, speaker: str) -> Conversation:
        first, last = Message(text="the old mill", speaker="Ann"), Message(text="the Compass Rose")
        return Conversation(id="c", messages=[first, Message(text=text, speaker=speaker), last])

    before = told("We saw the Glacier Express at the harbour.", "Bob")
    after = told("We saw the Orchard Street market.", "Cleo")
    await writer(store, scope).write([before])
    report = await writer(store, scope).write([after])
    assert report.messages == 3
    nodes, edges = await graph_of(driver, scope)
    fresh = await written(store, driver, f"{scope}-fresh", [after])
    assert edges == fresh[1]
    assert [node[:3] for node in nodes] == [node[:3] for node in fresh[0]]


async def test_a_shorter_text_at_a_place_leaves_no_parts_of_the_longer_one(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    def told(text: str) -> Conversation:
        return Conversation(id="c", messages=[Message(text=text), Message(text="the old mill")])

    long, shorter = "We saw the harbour, then the mill. " * 30, "We saw the market. " * 20
    await writer(store, scope).write([told(long)])
    for number, (text, forgotten) in enumerate([(shorter, 2), ("the market", 1)]):
        report = await writer(store, scope).write([told(text)])
        assert report.forgotten == forgotten
        nodes, edges = await graph_of(driver, scope)
        fresh = await written(store, driver, f"{scope}-fresh-{number}", [told(text)])
        assert edges == fresh[1]
        assert [node[:3] for node in nodes] == [node[:3] for node in fresh[0]]


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_a_message_that_became_blank_is_forgotten(
    store: Store, driver: neo4j.AsyncDriver, scope: str, place: int
) -> None:
    texts = ["We saw the harbour, then the mill. " * 20, "the old mill " * 30, "the Compass Rose"]
    before = Conversation(id="c", messages=[Message(text=text) for text in texts])
    blank = [Message(text=" " if each == place else text) for each, text in enumerate(texts)]
    first = await writer(store, scope).write([before])
    after = Conversation(id="c", messages=blank)
    report = await writer(store, scope).write([after])
    rest = await written(store, driver, f"{scope}-blank", [after])
    assert report.forgotten == first.parts - report.parts > 0
    nodes, edges = await graph_of(driver, scope)
    assert edges == rest[1]
    assert [node[:3] for node in nodes] == [node[:3] for node in rest[0]]
    for text in ("the kitchen", "the violin"):  # its id is now that of another message
        other = Message(id=str(place + 1), text=text)
        report = await writer(store, scope).write([replace(after, messages=[*blank, other])])
        assert (report.forgotten, report.messages + report.known) == (0, 3)


async def test_what_was_forgotten_is_not_overwritten_by_what_follows(
    store: Store, retriever: GraphRetriever, driver: neo4j.AsyncDriver, scope: str
) -> None:
    two = writer(store, scope)
    await two.append("c", [Message(text="first"), Message(text="second")])
    kinds = (*DEFAULT_KINDS, "Session")
    await retriever.writer(kinds=kinds).forget(["c:1", "@session:c:1"])
    await two.append("c", [Message(text="third")])
    await retriever.writer(kinds=kinds).forget(["c:3"])
    await two.append("c", [Message(text="fourth")])
    nodes, edges = await graph_of(driver, scope)
    said = [node[:2] for node in nodes if "UserRequest" in node[2]]
    assert said == [("c:2", "second"), ("c:3", "fourth")]  # the number was free again
    assert not [edge for edge in edges if edge[1] == "next"]


@pytest.mark.parametrize(
    "text",
    [
        "Der Zug nach Berlin fährt nicht, weil die Lokomotive in der Werkstatt steht.",
        "昨日、東京駅で新しいコンピューターを買いました。",
        "def run(self) -> None:\n    return memoria.remember.rules(self, found_items)\n",
        "2024-05-01T12:00:00Z ERROR [worker-3] org.pool.Reader: refused 10.0.0.1 id=7f3e2a1b9c",
        "\x00😀" * 1_000,
        "word " * 50_000,
    ],
)
async def test_texts_of_any_kind_are_written_and_mention_few_topics(
    store: Store, driver: neo4j.AsyncDriver, scope: str, text: str
) -> None:
    report = await writer(store, scope).append("c", [Message(text=text)])
    assert report.messages == 1
    assert report.topics <= 8 * report.parts
    _, edges = await graph_of(driver, scope)
    assert len(edges) == report.written.relations_created


async def test_the_handle_writes_a_conversation_that_a_recall_finds(
    retriever: GraphRetriever,
) -> None:
    report = await retriever.conversations().append(
        "c", [Message(text="Where is the lighthouse?"), Message(text="North of the harbour.")]
    )
    assert report.messages == 2
    found = await retriever.recall("lighthouse")
    assert {entry.memory.id for entry in found.ranked} >= {"c:1", "c:2"}
    whole = Conversation(id="d", messages=[Message(text="a telescope")])
    assert (await retriever.writer().conversation(whole)).messages == 1


async def test_a_message_without_a_time_gets_none_unless_it_is_said_now(
    store: Store, retriever: GraphRetriever, driver: neo4j.AsyncDriver, scope: str
) -> None:
    before = NOON - timedelta(days=400)
    messages = [
        Message(text="the harbour is frozen"),
        Message(text="the harbour is open", created_at=before),
        Message(text="the harbour is full"),
    ]
    whole = Conversation(id="old", messages=messages)
    await writer(store, scope).write([whole])
    context = (await retriever.recall("harbour")).context.text
    days = {line for line in context.splitlines() if line.endswith(":")}
    assert days >= {"2025-01-25:"}
    for said in ("frozen", "open", "full"):
        assert f"] user: the harbour is {said}" in context
    await writer(store, scope).append("now", [Message(text="the harbour is empty")])
    nodes, _ = await graph_of(driver, scope)
    times = {node[0]: node[4] for node in nodes}
    assert (times["old:1"], times["old:3"]) == (None, None)
    assert times["old:2"] == before
    assert times["now:1"] == times["@session:old:1"] == NOON

    again = Memory(id="old:1", kind="UserRequest", text="the harbour is frozen", tags=["ice"])
    await GraphWriter(store, scope=scope).write([again])
    nodes, _ = await graph_of(driver, scope)
    assert {node[0]: node[4] for node in nodes}["old:1"] is None


async def test_a_topic_shows_the_shortest_form_of_its_word_whatever_comes_first(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    said = ["of two deliveries", "the delivery", "DELIVERIES", "so many deliveries"]
    for turn, texts in enumerate([said, said[::-1], said[1:] + said[:1]]):
        for place in (f"{scope}-{turn}", f"{scope}-{turn}"):  # the second time changes nothing
            talks = [Conversation(id=text, messages=[Message(text=text)]) for text in texts]
            if turn < 2:
                await writer(store, place).write(talks)
            else:
                await asyncio.gather(*(writer(store, place).write([each]) for each in talks))
            nodes, _ = await graph_of(driver, place)
            assert {n[0]: n[1] for n in nodes}["@topic:deliveri"] == "delivery"
