"""Chats end to end: written like a host's chats, asked at their time, ranked by message."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from memoria.evaluation import (
    METHODS,
    Dataset,
    EvaluationConfig,
    Question,
    Run,
    ask_all,
    ask_features,
    foreign_questions,
    load_dataset,
    prepare,
    read_dataset,
)
from memoria.graph.stats import scope_stats
from memoria.recall.ranking.config import RelevanceConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store
from tests.integration.alone import driver, store, target
from tests.integration.cli.test_commands import Call, call, secret
from tests.integration.evaluation.test_evaluation import EMBED, where

__all__ = ["call", "driver", "secret", "store", "target", "where"]  # fixtures

DATA = Path(__file__).parents[2] / "data"
ONCE = EvaluationConfig(methods=METHODS, warm_up=0)
BEGIN = datetime(2026, 3, 1, 9, tzinfo=UTC)
# Longer than one memory may be, so it is split into parts; only the last part names the heron.
LONG = "\n\n".join(
    [
        "Here is a plan for the garden. "
        + "Dig a bed and put manure on it before the frost. " * 30,
        "Then the pond. " + "Line the hollow with clay and tread it until it holds water. " * 25,
        "A net over the pond keeps the heron from the fish.",
    ]
)
ANN = [  # session, role, text
    ("a", "user", "My sister Berta keeps bees behind the mill."),
    ("a", "assistant", "Bees behind a mill need water near by."),
    ("b", "user", "How do I lay out a garden with a pond?"),
    ("b", "assistant", LONG),
    ("c", "user", "Berta sold her bees and keeps geese now."),
    ("c", "assistant", "Geese are loud, but they eat the grass."),
]
BOB = [
    ("a", "user", "The rudder of my boat Petrel is cracked."),
    ("a", "assistant", "Oak and epoxy mend a cracked rudder."),
    ("b", "user", "I painted the hull of Petrel green."),
    ("b", "assistant", "Green hulls are easy to see in fog."),
]


def messages(chat: str, said: Sequence[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """The messages of a chat, whose sessions are a day apart."""
    return [
        {
            "chat": chat,
            "id": f"m{number}",
            "session": session,
            "role": role,
            "text": text,
            "created_at": at(session, number),
        }
        for number, (session, role, text) in enumerate(said)
    ]


def at(session: str, minutes: int = 0) -> str:
    return (BEGIN + timedelta(days="abc".index(session), minutes=minutes)).isoformat()


def question(id_: str, chat: str, text: str, *evidence: str, **more: Any) -> dict[str, Any]:
    return {"id": id_, "chat": chat, "question": text, "evidence": evidence, **more}


QUESTIONS = [
    question("bees", "ann", "Who keeps bees behind the mill?", "m0", category="fact"),
    question("now", "ann", "What does Berta keep now?", "m4", category="fact"),
    question("then", "ann", "What does Berta keep now?", "m0", asked_at=at("c"), category="time"),
    question("heron", "ann", "Which net keeps the heron from the fish?", "m3", category="fact"),
    question("hull", "bob", "Which colour is the hull of Petrel?", "m2", category="fact"),
    question("rudder", "bob", "What is cracked?", "m0", asked_at=at("b"), category="time"),
    question("cat", "bob", "What is the name of the cat?", answerable=False, category="none"),
]


@pytest.fixture
def chats(tmp_path: Path, scope: str) -> Path:
    """Two chats in a folder of this test, and so in scopes of its own."""
    return written(tmp_path / scope)


def written(folder: Path) -> Path:
    folder.mkdir()
    said = [*messages("ann", ANN), *messages("bob", BOB)]
    for name, rows in (("messages", said), ("questions", QUESTIONS)):
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text)
    return folder


@pytest.fixture(scope="module")
async def dataset(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Two chats that were loaded, for tests that change nothing."""
    found = read_dataset(written(tmp_path_factory.mktemp("chats") / uuid4().hex))
    await prepare(store, EMBED)
    await load_dataset(store, found, embedder=EMBED)
    return found


@pytest.fixture(scope="module")
async def runs(store: Store, dataset: Dataset) -> dict[str, Run]:
    """Method -> its answers."""
    found = await ask_all(store, dataset, embedder=EMBED, config=ONCE)
    return {run.method: run for run in found}


def retriever(store: Store, question: Question) -> GraphRetriever:
    """A retriever with the settings of an evaluation: the defaults, with enough time."""
    config = EvaluationConfig().retriever
    return GraphRetriever(store, scope=question.scope, embedder=EMBED, config=config)


async def test_a_load_writes_sessions_and_parts_and_a_second_one_nothing(
    store: Store, chats: Path
) -> None:
    dataset = read_dataset(chats)
    ann, bob = dataset.chats
    await prepare(store, EMBED)
    seen: list[tuple[str, int, int | None]] = []
    first = await load_dataset(
        store, dataset, embedder=EMBED, progress=lambda *state: seen.append(state)
    )
    assert (first.written, first.there) == ((ann, bob), ())
    assert seen[-1] == ("messages", 10, 10)
    found = await scope_stats(store, ann)
    assert found.kinds == {"UserRequest": 3, "AgentAnswer": 5}, "the long answer has three parts"
    assert found.connectors["Session"] == 3
    assert found.embedded == 8
    assert (await scope_stats(store, bob)).connectors["Session"] == 2
    again = await load_dataset(store, dataset, embedder=EMBED)
    assert (again.written, again.there) == ((), (ann, bob))
    assert await scope_stats(store, ann) == found


async def test_what_was_written_without_vectors_gets_them(store: Store, chats: Path) -> None:
    dataset = read_dataset(chats)
    ann, bob = dataset.chats
    await prepare(store, EMBED)
    await load_dataset(store, dataset, embedder=None)
    assert (await scope_stats(store, ann)).embedded == 0
    report = await load_dataset(store, dataset, embedder=EMBED)
    assert report.there == (ann, bob)
    assert (await scope_stats(store, ann)).embedded == 8


def test_every_method_ranks_messages_once_and_finds_their_parts(runs: dict[str, Run]) -> None:
    assert list(runs) == list(METHODS)
    for run in runs.values():
        assert list(run.rankings) == ["bees", "now", "then", "heron", "hull", "rudder"], (
            "the question without an answer is not asked"
        )
        for ranked in run.rankings.values():
            assert len(set(ranked)) == len(ranked)
            assert set(ranked) <= {f"m{number}" for number in range(6)}
        assert run.rankings["heron"][0] == "m3", run.method
        assert run.rankings["bees"][0] == "m0", run.method


def test_a_question_finds_nothing_that_was_said_after_it(runs: dict[str, Run]) -> None:
    for run in runs.values():
        assert "m4" in run.rankings["now"], run.method
        assert set(run.rankings["then"]) <= {"m0", "m1", "m2", "m3"}, run.method
        assert run.rankings["then"], run.method
        assert set(run.rankings["rudder"]) <= {"m0", "m1"}, run.method


async def test_topics_take_part_at_the_time_of_any_question(store: Store, dataset: Dataset) -> None:
    found = await store.driver.execute_query(
        "MATCH (t:Topic {scope: $scope}) RETURN t.connector_name AS name, t.created_at AS at",
        scope=next(iter(dataset.chats)),
    )
    assert "berta" in {record["name"] for record in found.records}
    # A recall as of a time only sees what was made by then, so topics date from the first message.
    assert {record["at"].to_native() for record in found.records} == {BEGIN}


async def test_engine_order_is_that_of_a_recall_as_a_host_asks(
    store: Store, dataset: Dataset, runs: dict[str, Run]
) -> None:
    run = runs["transfer"]
    [heron] = [one for one in dataset.questions if one.id == "heron"]
    recall = await retriever(store, heron).recall(heron.text)
    whole = [entry.id.partition("#")[0].rpartition(":")[2] for entry in recall.ranked]
    ranked = list(dict.fromkeys(whole))
    assert run.rankings["heron"][: len(ranked)] == tuple(ranked)


async def test_features_are_asked_for_parts_and_scored_by_message(
    store: Store, dataset: Dataset
) -> None:
    # Other weights rank the features again, but not what a newer statement may replace.
    recalls = replace(ONCE.retriever, time_phrases=False)
    config = replace(ONCE, methods=("transfer",), retriever=recalls)
    [run] = await ask_all(store, dataset, embedder=EMBED, config=config)
    [foreign] = foreign_questions([dataset], config)
    found = await ask_features(store, dataset, embedder=EMBED, config=config, foreign=foreign)
    default = recalls.relevance
    assert default is not None
    for answer in found.answers:
        assert answer.before == run.rankings[answer.question.id]
        weights = np.array([*default.weights.values()])
        assert answer.ranked(weights) == answer.before[: len(set(answer.items))]
    assert found.foreign[0].question.id == "cat"
    assert not any(answer.is_gold.any() for answer in found.foreign)


def test_command_counts_messages_and_leaves_questions_without_an_answer_out(
    call: Call, chats: Path, where: list[str], tmp_path: Path
) -> None:
    run_out = ["--run-out", str(tmp_path / "run.jsonl")]
    done = call("evaluate", str(chats), "--k", "1", *where, *run_out)
    assert done.code == 0, done.err
    assert "6 questions, 10 messages, 2 chats, embedder none" in done.out
    assert "left out: question without an answer, for the calibration only (1)" in done.out
    assert re.search(r"^fact +4 +recall +\d", done.out, re.MULTILINE)
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == [one["id"] for one in QUESTIONS[:-1]]
    found = json.loads(call("evaluate", str(chats), "--json", *where).out)
    assert (found["items"], found["memories"], found["edges"]) == (10, None, None)


def test_tune_mixes_chats_and_graphs(
    call: Call, chats: Path, where: list[str], tmp_path: Path
) -> None:
    names = ("harbour", "talks")
    graphs = [shutil.copytree(DATA / name, tmp_path / name / chats.name) for name in names]
    file = tmp_path / "mine.json"
    folders = [str(folder) for folder in (chats, *graphs)]
    done = call("tune", *folders, "--raw", "--folds", "2", "--json", *where, "--out", str(file))
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert [each["questions"] for each in found["sets"]] == [6, 8, 8]
    assert all(each["fitted"] for each in found["sets"])
    assert RelevanceConfig.load(file).weights


def test_raw_without_utterances_is_refused(call: Call) -> None:
    done = call("evaluate", str(DATA / "harbour"), "--raw", "--embedder", "none")
    assert done.code == 2
    assert "--raw" in done.err
