"""Reading chats: messages, sessions and questions, and the errors with their places."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memoria.errors import InvalidInputError
from memoria.evaluation import (
    Answer,
    Dataset,
    EvaluationConfig,
    Question,
    check_excluded,
    foreign_questions,
    make_report,
    read_dataset,
)
from memoria.recall.ranking.config import FEATURES
from tests.unit.evaluation.test_evaluation import run_of

DATA = Path(__file__).parents[2] / "data"
MESSAGES: list[dict[str, Any]] = [
    {"chat": "ann", "id": "1", "role": "user", "text": "I moved to Lund.", "session": "a"},
    {"chat": "ann", "id": "2", "role": "assistant", "text": "How is it?", "session": "a"},
    {"chat": "ann", "id": "3", "role": "user", "text": "It rains.", "session": "b"},
    {"chat": "bob", "id": 1, "role": "user", "text": "I sail.", "speaker": "Bob"},
]
QUESTIONS: list[dict[str, Any]] = [
    {"chat": "ann", "id": "q1", "question": "Where do I live?", "evidence": ["1"]},
    {"chat": "bob", "id": "q2", "question": "What do I do?", "evidence": ["1"], "category": "sea"},
    {"chat": "bob", "id": "q3", "question": "What is my boat called?", "answerable": False},
]


def folder(
    path: Path,
    messages: list[dict[str, Any]] = MESSAGES,
    questions: list[dict[str, Any]] = QUESTIONS,
) -> Path:
    for name, rows in (("messages", messages), ("questions", questions)):
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (path / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    return path


def chats(dataset: Dataset) -> dict[str, list[tuple[str, list[str | None]]]]:
    """The conversations of each chat, with the ids of their messages."""
    return {
        scope.rpartition("/")[2]: [(c.id, [m.id for m in c.messages]) for c in chat.conversations]
        for scope, chat in dataset.chats.items()
    }


def test_a_session_is_a_conversation_and_a_chat_without_sessions_is_one(tmp_path: Path) -> None:
    dataset = read_dataset(folder(tmp_path))
    assert chats(dataset) == {
        "ann": [("a", ["1", "2"]), ("b", ["3"])],
        "bob": [("bob", ["1"])],
    }
    assert dataset.memories.keys() == dataset.relations.keys() == dataset.chats.keys()
    assert dataset.item_kinds == ("AgentAnswer", "UserRequest")
    [_, bob] = dataset.chats.values()
    [said] = bob.conversations[0].messages
    assert (said.text, said.role, said.speaker) == ("I sail.", "user", "Bob")


def test_questions_with_evidence_are_asked_and_the_others_kept_apart(tmp_path: Path) -> None:
    dataset = read_dataset(folder(tmp_path))
    ann, bob = dataset.chats
    assert [(q.id, q.gold, q.category, q.scope) for q in dataset.questions] == [
        ("q1", ("1",), None, ann),
        ("q2", ("1",), "sea", bob),
    ]
    assert [(q.id, q.gold, q.scope) for q in dataset.unanswerable] == [("q3", (), bob)]
    assert dataset.left_out == {"question without an answer, for the calibration only": 1}


def test_a_question_that_says_it_has_an_answer_is_no_example_of_one_without(
    tmp_path: Path,
) -> None:
    asked = [QUESTIONS[0], {"chat": "bob", "id": "q", "question": "Why?", "answerable": True}]
    dataset = read_dataset(folder(tmp_path, questions=asked))
    assert [q.id for q in dataset.questions] == ["q1"]
    assert not dataset.unanswerable
    assert dataset.left_out == {"answerable question without evidence": 1}


def test_times_without_a_zone_are_in_utc(tmp_path: Path) -> None:
    messages = [
        MESSAGES[0] | {"created_at": "2026-01-02T03:04:05"},
        MESSAGES[1] | {"created_at": "2026-01-02T03:04:06+01:00"},
    ]
    asked = [QUESTIONS[0] | {"asked_at": "2026-01-03T00:00:00"}]
    dataset = read_dataset(folder(tmp_path, messages, asked))
    [chat] = dataset.chats.values()
    first, second = chat.conversations[0].messages
    assert first.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert second.created_at == datetime(2026, 1, 2, 2, 4, 6, tzinfo=UTC)
    assert dataset.questions[0].asked_at == datetime(2026, 1, 3, tzinfo=UTC)


def test_parts_count_as_their_message(tmp_path: Path) -> None:
    messages = [MESSAGES[0] | {"id": "a:1#2", "session": "50%"}]
    asked = [QUESTIONS[0] | {"evidence": ["a:1#2"]}]
    dataset = read_dataset(folder(tmp_path, messages, asked))
    [(scope, chat)] = dataset.chats.items()
    [memory] = chat.ids
    assert dataset.items_of(scope, [memory, f"{memory}#2", f"{memory}#3"]) == ("a:1#2",) * 3
    assert dataset.items_of("elsewhere", ["a#2"]) == ("a#2",)


@pytest.mark.parametrize(
    ("file", "line", "change", "message"),
    [
        ("messages", 2, {"chat": None}, "chat is missing or blank"),
        ("messages", 2, {"id": " "}, "id is missing or blank"),
        ("messages", 2, {"id": "1"}, "id '1' is also that of an earlier message"),
        ("messages", 2, {"text": ""}, "text is missing or blank"),
        ("messages", 2, {"role": "boss"}, "role must be one of user, "),
        ("messages", 2, {"role": 7}, "role must be a string, got an int"),
        ("messages", 2, {"session": ["a"]}, "session must be a string, got "),
        ("messages", 2, {"created_at": "soon"}, "created_at must be in ISO 8601, got 'soon'"),
        ("messages", 2, {"text": "x" * 2_000_000}, "text "),
        ("questions", 2, {"chat": "eve"}, "chat must be one that messages have, got 'eve'"),
        ("questions", 2, {"id": "q1"}, "id 'q1' is also the id of an earlier question"),
        ("questions", 2, {"question": None}, "question is missing or blank"),
        ("questions", 2, {"asked_at": "now"}, "asked_at must be in ISO 8601, got 'now'"),
        ("questions", 2, {"answerable": "no"}, "answerable must be true or false"),
        ("questions", 2, {"evidence": "1"}, "evidence must be a list of strings"),
        ("questions", 2, {"evidence": ["2"]}, "evidence: chat 'bob' has no message '2'"),
    ],
)
def test_error_names_file_line_and_field(
    tmp_path: Path, file: str, line: int, change: dict[str, Any], message: str
) -> None:
    rows = {"messages": [*MESSAGES], "questions": [*QUESTIONS]}
    rows[file][line - 1] = rows[file][line - 1] | change
    place = re.escape(f"{file}.jsonl.gz, line {line}: {message}")
    with pytest.raises(InvalidInputError, match=place) as caught:
        read_dataset(folder(tmp_path, **rows))
    assert caught.value.field == next(iter(change))


def test_a_folder_without_questions_or_messages_in_it_is_refused(tmp_path: Path) -> None:
    folder(tmp_path, questions=QUESTIONS[2:])
    with pytest.raises(InvalidInputError, match="no question with evidence was found to ask"):
        read_dataset(tmp_path)
    (tmp_path / "questions.jsonl.gz").unlink()
    with pytest.raises(InvalidInputError, match=r"questions\.jsonl\.gz was not found"):
        read_dataset(tmp_path)
    with pytest.raises(InvalidInputError, match=r"messages\.jsonl\.gz: holds no message"):
        read_dataset(folder(tmp_path, messages=[]))
    (tmp_path / "messages.jsonl.gz").write_bytes(gzip.compress(b"{}")[:-3])
    with pytest.raises(InvalidInputError, match=r"messages\.jsonl\.gz: the gzip data are damaged"):
        read_dataset(tmp_path)


def test_other_messages_get_other_scopes_and_other_questions_do_not(tmp_path: Path) -> None:
    first = read_dataset(folder(tmp_path))
    assert (
        read_dataset(folder(tmp_path, questions=QUESTIONS[:2])).chats.keys() == first.chats.keys()
    )
    assert not read_dataset(folder(tmp_path, MESSAGES[1:], QUESTIONS[1:])).chats.keys() & (
        first.chats.keys()
    )


def test_utterances_of_a_graph_can_be_read_as_messages() -> None:
    graph = read_dataset(DATA / "talks")
    dataset = read_dataset(DATA / "talks", raw=True)
    assert not graph.chats
    assert dataset.item_kinds == ("Event",)
    assert set(dataset.chats) == {f"{scope}/raw" for scope in graph.memories}
    assert [q.gold for q in dataset.questions] == [q.gold for q in graph.questions]
    assert {q.scope for q in dataset.questions} <= dataset.chats.keys()
    for scope, memories in graph.memories.items():
        chat = dataset.chats[f"{scope}/raw"]
        [conversation] = chat.conversations
        texts = {m.id: m.text for m in memories if m.kind in graph.item_kinds}
        assert set(chat.ids.values()) == set(texts)
        for message in conversation.messages:
            assert message.role == "other"
            assert f"{message.speaker}: {message.text}" == texts[message.id or ""]
            assert message.created_at is not None


def test_a_graph_of_documents_stays_a_graph() -> None:
    dataset = read_dataset(DATA / "harbour", raw=True)
    assert not dataset.chats
    assert dataset.memories == read_dataset(DATA / "harbour").memories


def test_report_counts_messages_and_not_what_becomes_of_them(tmp_path: Path) -> None:
    dataset = read_dataset(folder(tmp_path))
    run = run_of("transfer", q1=["1"], q2=["1"])
    report = make_report(dataset, [run], EvaluationConfig(ks=(1,)))
    assert (report.scopes, report.items, report.memories, report.edges) == (2, 4, None, None)
    assert [row.questions for row in report.methods[0].rows] == [1, 2]


def test_unanswerable_questions_are_foreign_ones_of_their_own_chat(tmp_path: Path) -> None:
    asked = [
        *(QUESTIONS[0] | {"id": f"a{i}", "asked_at": "2026-01-01"} for i in range(4)),
        *(QUESTIONS[2] | {"id": f"b{i}", "category": "void"} for i in range(4)),
    ]
    dataset = read_dataset(folder(tmp_path, questions=asked))
    _, bob = dataset.chats
    [found] = foreign_questions([dataset], EvaluationConfig())
    assert [(q.id, q.scope) for q in found[:4]] == [(f"b{i}", bob) for i in range(4)]
    # The rest come from the other chat, so they have no time in this one.
    assert [(q.id, q.scope, q.asked_at) for q in found[4:6]] == [
        ("foreign 0: a0", bob, None),
        ("foreign 1: a2", bob, None),
    ]
    assert [q.id for q in found[6:]] == ["small talk 0", "small talk 1"]
    assert not any(q.gold for q in found)
    [half] = foreign_questions([dataset], EvaluationConfig(limit=2))
    assert [q.id for q in half] == ["b0", "b2", "foreign 0: a0", "small talk 0"]
    config = EvaluationConfig(excluded=("void",))
    check_excluded([dataset], config)
    [none] = foreign_questions([dataset], config)
    assert [q.id for q in none] == [q.id for q in found[4:]]


ASKED = Question(id="q", text="?", gold=("m",), category=None, scope="s")


def found(*cosines: float, messages: dict[str, str]) -> Answer:
    """Candidates a, b, ... with their cosines; the parts of each message are already joined."""
    features = np.zeros((len(cosines), len(FEATURES)))
    features[:, FEATURES.index("cosine")] = cosines
    ids = tuple("abcdef"[: len(cosines)])
    return Answer(question=ASKED, before=(), ids=ids, features=features, messages=messages)


def test_the_part_that_was_found_counts_as_its_message() -> None:
    weights = np.array([float(name == "cosine") for name in FEATURES])
    part = found(0.1, 0.9, 0.5, messages={"b": "m"})
    assert part.items == ("a", "m", "c")
    assert part.is_gold.tolist() == [False, True, False]
    assert part.ranked(weights) == ("m", "c", "a")


def test_the_part_of_a_gold_message_is_an_example_of_evidence() -> None:
    example = found(0.2, 0.6, messages={"a": "m", "b": "n"}).example(np.ones(len(FEATURES)))
    assert example.gold.tolist() == [True, False]
    assert example.features[:, FEATURES.index("cosine")].tolist() == [0.2, 0.6]


def test_weights_are_tried_with_what_a_message_gets_from_its_session() -> None:
    weights = np.array([float(name == "cosine") for name in FEATURES])
    alone = found(3.0, 0.0, 0.5, messages={})
    assert alone.ranked(weights) == ("a", "c", "b")
    # b gets a fifth of a's odds, divided by the root of 2: 1 + 0.14 * e^3 = 3.84 > e^0.5 = 1.65.
    together = replace(alone, sessions={"a": ("s", 2), "b": ("s", 2)})
    assert together.ranked(weights) == ("a", "b", "c")
