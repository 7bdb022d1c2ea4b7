"""The sample's questions, asked again and again: what is asked does not hide what answers it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from memoria import GraphRetriever, Message, OnnxEmbedder, Recall, apply_schema
from memoria.evaluation.sample import QUESTIONS, SampleQuestion, sample_path
from memoria.ingest import ingest_files
from memoria.local import EphemeralNeo4j
from memoria.store import Store, Target, open_driver
from tests.effort import effort
from tests.integration.doctor.test_doctor import wipe
from tests.integration.embed.test_onnx import BGE, embedders, model_home

__all__ = ["embedders", "model_home"]  # fixtures

PARAPHRASES = (
    (
        "How come we had no cinnamon buns left on the first Saturday in May?",
        "What made us run out of cinnamon buns on Saturday, 2 May?",
        "Why were the cinnamon buns sold out on the first Saturday of May?",
        "On the first Saturday of May the cinnamon buns ran out. Why?",
        "What caused the shortage of cinnamon buns on the first Saturday in May?",
        "Do you know why there were no more cinnamon buns that first Saturday of May?",
    ),
    (
        "How did a child come to react to our nut-free oat cookie?",
        "What was the reason a child had a reaction to the nut-free oat cookie?",
        "A child reacted to our nut-free oat cookie: why?",
        "Why was there an allergic reaction to our oat cookie without nuts?",
        "What made a child react to the oat cookie that is sold as nut-free?",
        "Explain why a kid got a reaction from our nut-free oat cookies.",
    ),
    (
        "Why is Hotel Fyren paying less for croissants this spring?",
        "How come Hotel Fyren gets its croissants cheaper this spring?",
        "What is the reason for Hotel Fyren's lower croissant price this spring?",
        "Why did the croissant price for Hotel Fyren go down this spring?",
        "Hotel Fyren pays less for its croissants now. Why is that?",
        "What led to the discount on croissants for Hotel Fyren?",
    ),
)

#: A short question to the sample, with no tags and the default budget, and the memories that are on
#: its story: what led there, what was decided because of it, what it cost and what was learned.
#: Profiles of shops, feeds that are read every day, and other stories with buns are not.
SHORT = "Why did we run out of buns?"
STORY = frozenset(
    """
    req-022 req-044 req-045 req-048 ans-021 ans-044 ans-045 ans-047 ans-049 ans-053
    evt-020 evt-042 evt-052 evt-053 evt-054 evt-055 evt-056 evt-058 evt-060 evt-061 evt-062 evt-063
    evt-066 act-002 act-022 act-025 act-040 act-041 act-045 act-047 act-048
    pref-009 pref-027 pref-037 src-006 src-029
    """.split()  # noqa: SIM905  # ids, not a table
)

ASKED = list(zip(QUESTIONS, PARAPHRASES, strict=True))[: effort().asked_again]


@pytest.fixture(scope="module")
async def sample(
    second_server: EphemeralNeo4j, embedders: dict[str, OnnxEmbedder]
) -> AsyncIterator[GraphRetriever]:
    """The sample in a database of its own."""
    embedder = embedders[BGE]
    async with open_driver(Target(uri=second_server.uri, auth=second_server.auth)) as driver:
        store = Store(driver, database="neo4j")
        await wipe(store)
        await apply_schema(store, embedder=embedder)
        retriever = GraphRetriever(store, scope="bakery", embedder=embedder)
        await ingest_files(retriever.writer(), [str(sample_path())])
        yield retriever


def paths_of(recall: Recall) -> int:
    return sum(len(each.paths) for each in recall.explorations)


def found_of(recall: Recall, question: SampleQuestion) -> set[str]:
    return {item.id for item in recall.context.items} & set(question.expects)


def assert_as_good(again: Recall, first: Recall, question: SampleQuestion) -> None:
    lost = found_of(first, question) - found_of(again, question)
    assert len(lost) <= 1, (again.trace.query, lost)  # the last memory of a full context may change
    assert paths_of(again) >= 0.9 * paths_of(first), again.trace.query
    assert again.trace.query not in {entry.memory.text for entry in again.ranked}


async def test_context_of_a_short_question_is_mostly_on_its_story(sample: GraphRetriever) -> None:
    """An earlier version packed 27 memories of other stories, and 14 of this one."""
    packed = {item.id for item in (await sample.recall(SHORT)).context.items}
    assert len(packed - STORY) <= 13, sorted(packed - STORY)
    assert len(packed & STORY) >= 29, sorted(packed & STORY)


@pytest.mark.timeout(600)
async def test_what_was_asked_before_is_answered_as_well_as_the_first_time(
    sample: GraphRetriever,
) -> None:
    writer = sample.writer()
    wordings = {question: (question.text, *texts) for question, texts in ASKED}
    first = {text: await sample.recall(text) for texts in wordings.values() for text in texts}
    for question in wordings:
        assert found_of(first[question.text], question) == set(question.expects)
        for time in range(5):
            found = await sample.recall(question.text)
            done = await writer.remember(question.text, kind="UserRequest", after=found.trace)
            assert (done.created, done.edges) == ((True, 3) if time == 0 else (False, 0))
        assert_as_good(await sample.recall(question.text), first[question.text], question)
    for question, texts in wordings.items():
        for text in texts[1:]:
            found = await sample.recall(text)
            await writer.remember(text, kind="UserRequest", after=found.trace)
        for text in texts:
            assert_as_good(await sample.recall(text), first[text], question)


@pytest.mark.timeout(600)
async def test_what_was_asked_in_a_conversation_does_not_hide_what_answers_it(
    sample: GraphRetriever,
) -> None:
    chatting = sample.for_scope("chat")
    await ingest_files(chatting.writer(), [str(sample_path())])
    chat = chatting.conversations()
    for question, texts in ASKED:
        first = await chatting.recall(question.text)
        for text in texts:
            turn = [Message(text=text), Message(text="Let me see.", role="assistant")]
            await chat.append(text, turn)
        assert_as_good(await chatting.recall(question.text), first, question)
