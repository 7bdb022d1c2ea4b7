"""Remember: one text is one memory, whoever says it; what is new about it is never lost."""

from __future__ import annotations

import asyncio
import re
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import numpy as np
import pytest

from memoria import (
    CallableEmbedder,
    GraphRetriever,
    InvalidInputError,
    Learner,
    Memory,
    Relation,
    Remembered,
    ScopeError,
    SimilarityLinkConfig,
)
from memoria.remember.statement import content_id
from memoria.store import Store
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.effort import effort
from tests.integration.doctor.test_doctor import run_statement

FILLERS = {"the", "really", "so", "is"}
VAN = "The van is at Tullgatan."


def vector(text: str) -> list[float]:
    """A vector by the words of a text, without fillers: each adds one at a place of its own."""
    found = np.zeros(DIMENSIONS)
    for word in re.findall(r"\w+", text.lower()):
        if word not in FILLERS:
            found[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    return [float(number) for number in found / max(float(np.linalg.norm(found)), 1e-9)]


EMBED = CallableEmbedder(
    lambda texts: [vector(text) for text in texts], dimensions=DIMENSIONS, name=EMBEDDER
)


@pytest.fixture
def retriever(driver: neo4j.AsyncDriver, scope: str) -> GraphRetriever:
    return GraphRetriever(driver, scope=scope, embedder=EMBED)


@pytest.fixture
def writer(retriever: GraphRetriever) -> GraphWriter:
    return retriever.writer()


async def stored(store: Store, scope: str) -> dict[str, dict[str, Any]]:
    """Id -> properties and labels of each memory of the scope."""
    rows = await run_statement(
        store,
        "MATCH (m:Memory {scope: $scope}) RETURN properties(m) AS found, labels(m) AS labels",
        scope=scope,
    )
    return {row["found"]["id"]: {**row["found"], "labels": set(row["labels"])} for row in rows}


async def edges(store: Store, scope: str) -> list[tuple[str, str, str, float, str]]:
    """All RELATES edges of the scope: source, relation, target, weight, origin."""
    rows = await run_statement(
        store,
        "MATCH (a:Memory {scope: $scope})-[r:RELATES]->(b) RETURN a.id AS a, r.relation AS "
        "relation, b.id AS b, r.weight AS weight, r.origin AS origin ORDER BY a, relation, b",
        scope=scope,
    )
    return [tuple(row[key] for key in ("a", "relation", "b", "weight", "origin")) for row in rows]


async def test_a_text_becomes_a_memory_with_its_edges(
    writer: GraphWriter, store: Store, scope: str
) -> None:
    await writer.write([Memory(id="van", kind="DataSource", text="The van, a white Iveco.")])
    cause = await writer.remember("Petter forgot the keys.", kind="Event")
    done = await writer.remember(
        VAN, tags=["van"], about=["van"], because_of=[cause.id], kind="DataSource"
    )
    assert done == Remembered(
        id=content_id(scope, VAN), created=True, edges=2, similar=done.similar
    )
    assert done.similar[0].id == "van"
    memory = (await stored(store, scope))[done.id]
    assert (memory["text"], memory["tags"]) == (VAN, ["van"])
    assert memory["labels"] == {"Memory", "DataSource"}
    assert len(memory["embedding"]) == DIMENSIONS
    assert await edges(store, scope) == [
        (done.id, "about", "van", 0.7, "remembered"),
        (done.id, "caused_by", cause.id, 0.9, "remembered"),
    ]


async def test_the_same_words_are_one_memory_which_gains_what_is_new(
    writer: GraphWriter, store: Store, scope: str
) -> None:
    first = await writer.remember(VAN, tags=["van"], kind="DataSource")
    other = await writer.remember("Petter forgot the keys.")
    again = await writer.remember("The  van is at Tullgatan. ", tags=["town"], about=[other.id])
    assert again == Remembered(id=first.id, created=False, duplicate_of=first.id, edges=1)
    found = await stored(store, scope)
    assert set(found) == {first.id, other.id}
    assert found[first.id]["tags"] == ["town", "van"]
    assert found[first.id]["text"] == VAN
    assert found[first.id]["labels"] == {"Memory", "DataSource"}
    assert await edges(store, scope) == [(first.id, "about", other.id, 0.7, "remembered")]
    assert (await writer.remember(VAN, about=[other.id])).edges == 0


async def test_nearly_the_same_words_are_named_and_not_written(
    writer: GraphWriter, store: Store, scope: str
) -> None:
    first = await writer.remember(VAN)
    again = await writer.remember("the van really is at Tullgatan", tags=["town"])
    assert (again.id, again.created, again.duplicate_of) == (first.id, False, first.id)
    assert again.similar[0].vector_score == pytest.approx(1.0, abs=1e-6)
    assert (await stored(store, scope))[first.id]["tags"] == ["town"]
    kept = await writer.remember("the van really is at Tullgatan", duplicates="keep")
    assert kept.created
    assert len(await stored(store, scope)) == 2


NEW_FACTS = [
    (VAN, "The van is not at Tullgatan."),
    ("A ticket costs 5 euro.", "A ticket costs 6 euro."),
    ("We meet Anna on 3 May.", "We meet Anna on 4 May."),
    ("Anna pays Bert.", "Bert pays Anna."),
]


@pytest.mark.parametrize(("first", "second"), NEW_FACTS)
@pytest.mark.parametrize("embedder", [EMBED, None], ids=["vectors", "words"])
async def test_a_negation_number_date_or_order_is_a_new_fact(
    driver: neo4j.AsyncDriver, scope: str, embedder: Any, first: str, second: str
) -> None:
    writer = GraphWriter(driver, scope=scope, embedder=embedder)
    one, other = await writer.remember(first), await writer.remember(second)
    assert one.created
    assert other.created
    assert one.id != other.id


async def test_without_an_embedder_words_tell_what_is_nearly_the_same(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    writer = GraphWriter(driver, scope=scope)
    first = await writer.remember(VAN)
    again = await writer.remember("the van really is at Tullgatan")
    assert again.duplicate_of == first.id
    assert again.similar[0].text_score > 0  # type: ignore[operator]


async def test_a_text_that_was_written_under_another_id_is_known(
    writer: GraphWriter,
) -> None:
    await writer.write([Memory(id="evt-1", kind="Event", text=VAN)])
    assert (await writer.remember(VAN)).duplicate_of == "evt-1"


async def test_what_is_superseded_leaves_the_next_recall(
    writer: GraphWriter, retriever: GraphRetriever
) -> None:
    old = await writer.remember(VAN)
    new = await writer.remember("The van is at Storgatan.", supersedes=[old.id])
    assert new.superseded == (old.id,)
    found = await retriever.recall("Where is the van?")
    assert {entry.memory.id for entry in found.ranked} == {new.id}


async def test_supersession_leaves_what_the_learner_leaves(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    now = datetime(2026, 5, 1, tzinfo=UTC)
    marks = []
    for name in ("remembered", "learned"):
        tenant = f"{scope}-{name}"
        writer = GraphWriter(driver, scope=tenant, clock=lambda: now)
        old = await writer.remember(VAN, id="old")
        if name == "remembered":
            await writer.remember("The van is at Storgatan.", id="new", supersedes=[old.id])
        else:
            await writer.remember("The van is at Storgatan.", id="new")
            learner = Learner(driver, scope=tenant, clock=lambda: now)
            await learner.suppress("new", "old", kind="overrides")
        rows = await run_statement(
            store,
            "MATCH (a:Memory {scope: $scope})-[s:SUPPRESSES]->(b) RETURN a.id, properties(s), "
            "b.id, b.superseded_by, b.superseded_at, a.superseded_by",
            scope=tenant,
        )
        marks.append([list(row.values()) for row in rows])
    assert marks[0] == marks[1] != []


async def test_what_was_superseded_says_so_until_it_supersedes_in_its_turn(
    writer: GraphWriter, retriever: GraphRetriever
) -> None:
    old = await writer.remember(VAN)
    new = await writer.remember("The van is at Storgatan.", supersedes=[old.id])
    assert (await writer.remember(VAN)).superseded_by == new.id
    for current, before in ((old, new), (new, old), (old, new)):
        text = VAN if current is old else "The van is at Storgatan."
        back = await writer.remember(text, supersedes=[before.id])
        assert (back.id, back.superseded, back.superseded_by) == (current.id, (before.id,), None)
        found = await retriever.recall("Where is the van?")
        assert {entry.memory.id for entry in found.ranked} == {current.id}


async def test_a_near_repeat_still_supersedes(writer: GraphWriter) -> None:
    first = await writer.remember(VAN)
    wrong = await writer.remember("The van is in the harbour.")
    again = await writer.remember("The van really is at Tullgatan", supersedes=[wrong.id])
    assert (again.id, again.superseded) == (first.id, (wrong.id,))


async def test_what_the_caller_names_is_another_memory(writer: GraphWriter) -> None:
    old = await writer.remember("The van is at Tullgatan!")
    new = await writer.remember("the van is at Tullgatan", supersedes=[old.id])
    assert new.created
    assert new.superseded == (old.id,)


async def test_what_was_outdated_holds_again_when_it_is_said_again(
    writer: GraphWriter, store: Store, scope: str
) -> None:
    past = datetime.now(UTC) - timedelta(days=1)
    done = await writer.remember(VAN, valid_until=past)
    assert (await stored(store, scope))[done.id]["valid_until"].to_native() == past
    await writer.remember(VAN)
    assert "valid_until" not in (await stored(store, scope))[done.id]
    soon = datetime.now(UTC) + timedelta(days=1)
    await writer.remember(VAN, valid_until=soon)
    await writer.remember(VAN)
    assert (await stored(store, scope))[done.id]["valid_until"].to_native() == soon


@pytest.mark.parametrize("field", ["about", "because_of", "supersedes"])
async def test_missing_ids_are_named_and_nothing_is_written(
    writer: GraphWriter, store: Store, scope: str, field: Any
) -> None:
    known = await writer.remember("Petter forgot the keys.")
    before = await stored(store, scope)
    named: dict[str, Any] = {field: [known.id, "lost", "gone"]}
    with pytest.raises(InvalidInputError, match="'gone', 'lost'; nothing was written"):
        await writer.remember(VAN, **named)
    assert await stored(store, scope) == before


async def test_a_memory_that_goes_before_the_write_is_named_and_nothing_is_written(
    driver: neo4j.AsyncDriver, scope: str, store: Store
) -> None:
    async def forget(texts: list[str]) -> list[list[float]]:
        if VAN in texts:
            await GraphWriter(driver, scope=scope).forget(["cause"])
        return [vector(text) for text in texts]

    embedder = CallableEmbedder(forget, dimensions=DIMENSIONS, name=EMBEDDER)
    writer = GraphWriter(driver, scope=scope, embedder=embedder)
    await writer.remember("Petter forgot the keys.", id="cause")
    with pytest.raises(InvalidInputError, match="'cause'; nothing was written"):
        await writer.remember(VAN, because_of=["cause"])
    assert await stored(store, scope) == {}


async def test_an_id_is_that_of_one_text(writer: GraphWriter) -> None:
    assert (await writer.remember(VAN, id="van")).id == "van"
    assert not (await writer.remember(VAN, id="van")).created
    with pytest.raises(InvalidInputError, match="'van' is that of a memory with another text"):
        await writer.remember("The van is at Storgatan.", id="van")


async def test_wrong_arguments_are_refused(writer: GraphWriter) -> None:
    for arguments, text in [
        ({"text": " \n"}, "text is blank"),
        ({"text": 5}, "text must be a string"),
        ({"text": VAN, "about": VAN}, "about must be a list of ids"),
        ({"text": VAN, "kind": "Note"}, "kind must be one of"),
        ({"text": VAN, "duplicates": "all"}, "duplicates must be skip or keep"),
        ({"text": VAN, "after": "trace"}, "after must be the Trace of a recall"),
        ({"text": VAN, "id": "a", "supersedes": ["a"]}, "supersedes names the memory itself"),
    ]:
        with pytest.raises(InvalidInputError, match=text):
            await writer.remember(**arguments)  # type: ignore[arg-type]


async def test_what_only_repeats_a_recalled_memory_is_an_echo(
    writer: GraphWriter, retriever: GraphRetriever, store: Store, scope: str
) -> None:
    known = await writer.remember(VAN)
    trace = (await retriever.recall("Where is the van?")).trace
    echo = await writer.remember("the van is at Tullgatan", kind="AgentAnswer", after=trace)
    assert echo == Remembered(id=known.id, created=False, echo_of=known.id)
    assert set(await stored(store, scope)) == {known.id}
    more = await writer.remember("The van is at Tullgatan 4.", kind="AgentAnswer", after=trace)
    assert more.created
    await writer.forget([known.id])
    assert (await writer.remember("the van is at Tullgatan", after=trace)).created


async def test_a_trace_of_another_scope_is_refused(
    writer: GraphWriter, retriever: GraphRetriever
) -> None:
    await writer.remember(VAN)
    trace = (await retriever.recall("Where is the van?")).trace
    with pytest.raises(ScopeError, match="another scope"):
        await retriever.for_scope("elsewhere").writer().remember(VAN, after=trace)


async def test_a_question_is_joined_to_what_answered_it(
    writer: GraphWriter, retriever: GraphRetriever, store: Store, scope: str
) -> None:
    texts = [VAN, "The van is white.", "The van has a tow bar.", "The van needs oil.", "A van."]
    ids = [(await writer.remember(text)).id for text in texts]
    question = "Where is the van?"
    found = await retriever.recall(question)
    assert {*found.trace.packed} == {*ids}
    learner = retriever.learner()
    await learner.feedback(found.trace, confirmed=ids[-1:], overridden=[ids[1]])
    done = await writer.remember(question, kind="UserRequest", after=found.trace)
    best = [id_ for id_ in found.trace.packed if id_ not in (ids[-1], ids[1])]
    assert done.edges == 3
    assert {edge[1:] for edge in await edges(store, scope)} == {
        ("answered_by", id_, 0.25, "remembered") for id_ in (ids[-1], *best[:2])
    }
    again = await writer.remember(question, kind="UserRequest", after=found.trace)
    assert (again.id, again.created, again.edges) == (done.id, False, 0)


async def test_an_answer_to_many_questions_becomes_no_hub(
    writer: GraphWriter, retriever: GraphRetriever, store: Store, scope: str
) -> None:
    van = await writer.remember(VAN)
    for place in ("street", "town", "country", "shop", "garage"):
        question = f"In which {place} is the van at Tullgatan?"
        found = await retriever.recall(question)
        assert van.id in found.trace.packed
        await writer.remember(question, kind="UserRequest", after=found.trace)
    assert len(await edges(store, scope)) == 1
    crates = [Memory(id=f"c{n}", kind="Event", text=f"Crate {n}.") for n in range(9)]
    await writer.write(crates, [Relation(source=each.id, target=van.id) for each in crates])
    for place in ("yard", "port", "lane"):
        question = f"In which {place} is the van at Tullgatan?"
        found = await retriever.recall(question)
        await writer.remember(question, kind="UserRequest", after=found.trace)
    asked = [edge for edge in await edges(store, scope) if edge[1] == "answered_by"]
    assert [edge[2] for edge in asked].count(van.id) == 2  # 8 * 1 < 9, but not 8 * 2


async def test_earlier_questions_take_no_seed_from_what_answers_them(
    writer: GraphWriter, retriever: GraphRetriever
) -> None:
    question = "Where is the white van of the shop?"
    facts = [Memory(id=f"f{n}", kind="Event", text=f"The white van {n}") for n in range(6)]
    await writer.write(facts, [Relation(source=f"f{n}", target="f5") for n in range(5)])
    first = await retriever.recall(question)
    asked = [Memory(id=f"q{n}", kind="UserRequest", text=question) for n in range(4)]
    reworded = Memory(id="r", kind="UserRequest", text="Tell where the white van of the shop is!")
    await writer.write([*asked, reworded])
    again = await retriever.recall(question)
    assert [seed.id for seed in again.seeds.seeds if seed.id.startswith("f")] == [
        seed.id for seed in first.seeds.seeds
    ]
    assert {seed.id for seed in again.seeds.echoes} == {"q0", "q1", "q2", "q3"}
    shown = {item.id for item in again.context.items}
    assert shown == {item.id for item in first.context.items} | {"r"}
    assert not {entry.memory.id for entry in again.ranked} & {"q0", "q1", "q2", "q3"}


async def test_two_agents_that_say_the_same_at_once_write_one_memory(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    sentences = [f"Crate {n} stands in row {n % 7}." for n in range(effort().sentences)]
    agents = [GraphWriter(driver, scope=scope, embedder=EMBED) for _ in range(2)]

    async def speak(agent: GraphWriter, tag: str) -> list[Remembered]:
        return [await agent.remember(text, tags=[tag]) for text in sentences]

    said = await asyncio.gather(speak(agents[0], "one"), speak(agents[1], "two"))
    found = await stored(store, scope)
    assert len(found) == len(sentences)
    assert {memory["text"] for memory in found.values()} == set(sentences)
    assert all(memory["tags"] == ["one", "two"] for memory in found.values())
    for pair in zip(*said, strict=True):
        assert pair[0].id == pair[1].id
        assert [done.created for done in pair].count(True) == 1


async def test_agents_that_name_each_others_memories_do_not_stop_each_other(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    texts = ["The oven is cold.", "The dough does not rise."]
    agents = [GraphWriter(driver, scope=scope) for _ in texts]
    one, other = [await agents[0].remember(text) for text in texts]
    for _ in range(effort().uses):
        await asyncio.gather(
            agents[0].remember(texts[0], about=[other.id], supersedes=[other.id]),
            agents[1].remember(texts[1], about=[one.id], supersedes=[one.id]),
        )
    assert {edge[:3] for edge in await edges(store, scope)} == {
        (one.id, "about", other.id),
        (other.id, "about", one.id),
    }


async def test_a_linker_links_what_is_new(
    retriever: GraphRetriever, store: Store, scope: str
) -> None:
    linker = retriever.linker(config=SimilarityLinkConfig())
    writer = retriever.writer(linker=linker)
    await writer.remember("The white van is at Tullgatan.")
    done = await writer.remember("The white van is at Tullgatan in Lund.")
    assert done.created
    assert done.edges == 1
    assert [edge[1] for edge in await edges(store, scope)] == ["similar"]


async def test_remembered_again_a_text_gets_the_links_that_it_lacks(
    retriever: GraphRetriever, store: Store, scope: str
) -> None:
    await retriever.writer().remember("The white van is at Tullgatan.")
    text = "The white van is at Tullgatan in Lund."
    await retriever.writer().remember(text)  # as if it had been killed before its links
    linker = retriever.linker(config=SimilarityLinkConfig())
    done = await retriever.writer(linker=linker).remember(text)
    assert (done.created, done.edges) == (False, 1)
    assert [edge[1] for edge in await edges(store, scope)] == ["similar"]
