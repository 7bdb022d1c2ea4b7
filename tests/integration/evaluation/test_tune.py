"""Weights fitted to questions from end to end: small datasets, the real engine, the real store."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from memoria.evaluation import EvaluationConfig, ask_features, load_dataset, prepare, read_dataset
from memoria.recall.ranking.config import FEATURES, RelevanceConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store
from tests.for_each import for_each
from tests.integration.alone import driver, store, target
from tests.integration.cli.test_commands import Call, call, secret
from tests.integration.evaluation.test_evaluation import EMBED, copied, where

__all__ = ["call", "copied", "driver", "secret", "store", "target", "where"]  # fixtures

DATA = Path(__file__).parents[2] / "data"
NOBODY = "bolt://127.0.0.1:1"
HARBOUR = str(DATA / "harbour")


async def test_answers_are_those_of_the_engine(store: Store, copied: Path) -> None:
    dataset = read_dataset(copied)
    await prepare(store, EMBED)
    await load_dataset(store, dataset, embedder=EMBED)
    config = EvaluationConfig(excluded=("single",), limit=6)
    found = await ask_features(store, dataset, embedder=EMBED, config=config)
    assert (found.dataset, found.split, found.embedder) == (copied.name, "dev", EMBED.name)
    assert [answer.question.id for answer in found.answers] == ["q0", "q1", "q2", "q6"]
    assert not found.notes
    [answer] = [each for each in found.answers if each.question.id == "q0"]
    retriever = GraphRetriever(store.driver, scope=answer.question.scope, embedder=EMBED)
    recall = await retriever.recall(answer.question.text, kinds=["Passage"])
    assert answer.before == tuple(entry.memory.id for entry in recall.ranked)
    by_id = {entry.memory.id: entry for entry in recall.ranked}
    assert answer.ids == tuple(sorted(by_id))
    assert answer.features.tolist() == [
        [by_id[id_].features[name] for name in FEATURES] for id_ in answer.ids
    ]
    weights = RelevanceConfig.default().weights
    assert answer.ranked(np.array([weights[name] for name in FEATURES])) == answer.before


def test_command_fits_prints_and_writes(
    call: Call, copied: Path, where: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.json"
    base = ["tune", str(copied), str(DATA / "talks"), "--folds", "4", "--k", "1", "--k", "3"]
    base += ["--exclude-category", "unanswerable", *where, "--out", str(file)]
    done = call(*base)
    assert done.code == 0, done.err
    assert done.err == ""
    assert f"{copied.name}, dev: 8 questions, embedder none" in done.out
    assert "talks, dev: 7 questions, embedder none" in done.out
    for name in ("before", "after", "other sets", "own set"):
        found = re.findall(rf"^{name} +recall +\d+\.\d \(", done.out, re.MULTILINE)
        assert len(found) == 2, name
        gains = re.findall(rf"^{name} +gain +[+-]\d+\.\d \(", done.out, re.MULTILINE)
        assert len(gains) == (0 if name == "before" else 2), name
    assert "no embedder: searched by words only" in done.out
    assert re.search(r"^talks: .* points of mean recall on questions", done.out, re.MULTILINE)
    assert f"wrote {file}" in done.out
    weights = RelevanceConfig.load(file)
    written = json.loads(file.read_bytes())
    assert written.pop("calibration") is None, "nothing has a vector"
    assert "relevance is off by" not in done.out
    assert weights.weights == written
    for name, weight in written.items():
        assert weight == round(weight, 3)
        assert re.search(rf"^{name} .* {weight:.3f}$", done.out, re.MULTILINE)


def test_two_runs_write_the_same_bytes(
    call: Call, copied: Path, where: list[str], tmp_path: Path
) -> None:
    other = Path(shutil.copytree(DATA / "talks", tmp_path / "talks" / copied.name))
    file, written = tmp_path / "mine.json", []
    # Loaded first: its words must be there already while the first run asks the other dataset.
    load = ["evaluate", str(other), "--method", "bm25", "--limit", "1", *where]
    assert call(*load).code == 0
    for _ in range(2):
        assert call("tune", str(copied), str(other), *where, "--out", str(file)).code == 0
        written.append(file.read_bytes())
    assert written[0] == written[1]


def test_written_weights_rank_and_figures_are_those_of_evaluate(
    call: Call, copied: Path, where: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.json"
    done = call("tune", str(copied), "--json", "--k", "2", "--k", "5", *where, "--out", str(file))
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["out"] == str(file)
    assert found["weights"] == json.loads(file.read_bytes())
    [each] = found["sets"]
    before, after = each["rows"]
    assert (before["name"], after["name"]) == ("before", "after")
    assert set(after["figures"]) == set(after["gain"]) == {"recall@2", "recall@5", "mean"}
    runs = {}
    for relevance in ("default", str(file)):
        run_out = ["--run-out", str(tmp_path / "run.jsonl")]
        options = ["--json", "--relevance", relevance, "--k", "2", "--k", "5", *where, *run_out]
        report = json.loads(call("evaluate", str(copied), *options).out)
        runs[relevance] = (tmp_path / "run.jsonl").read_bytes()
        if relevance == "default":
            for name in ("recall@2", "recall@5"):
                figures = report["methods"][0]["rows"][-1]["figures"]
                assert figures[name] == before["figures"][name]
    assert runs["default"] != runs[str(file)]


def test_without_weights_before_is_the_order_of_energy(
    call: Call, copied: Path, where: list[str], tmp_path: Path
) -> None:
    options = ["--json", "--relevance", "none", "--k", "2", *where]
    done = call("tune", str(copied), *options, "--out", str(tmp_path / "mine.json"))
    assert done.code == 0, done.err
    [each] = json.loads(done.out)["sets"]
    [method] = json.loads(call("evaluate", str(copied), *options).out)["methods"]
    expected = method["rows"][-1]["figures"]["recall@2"]
    assert each["rows"][0]["figures"]["recall@2"] == expected
    assert each["rows"][1]["gain"]["recall@2"]["mean"] == pytest.approx(
        each["rows"][1]["figures"]["recall@2"]["mean"] - expected["mean"]
    )


def test_evidence_out_of_reach_teaches_nothing(
    call: Call, copied: Path, where: list[str], tmp_path: Path
) -> None:
    questions = copied / "questions.dev.jsonl"
    questions.write_text(re.sub(r'"gold": \[[^]]*\]', '"gold": ["nobody"]', questions.read_text()))
    file = tmp_path / "mine.json"
    done = call("tune", str(copied), *where, "--out", str(file))
    assert done.code == 1
    assert re.search(r"memoria: for none of \d questions was any evidence found.*\n", done.err)
    assert not file.exists()


@for_each(
    "arguments, code, named",
    [
        (["no-such-folder"], 1, "no-such-folder: no such folder"),
        ([HARBOUR, "no-such-folder"], 1, "no-such-folder: no such folder"),
        ([HARBOUR, HARBOUR], 2, "named twice"),
        ([HARBOUR, "--folds", "9"], 1, "8 questions are too few for 9 folds"),
        ([HARBOUR, "--folds", "1"], 2, "--folds"),
        ([HARBOUR, "--exclude-category", "hard"], 1, "there are: bridge, single"),
        (
            [HARBOUR, "--exclude-category", "bridge", "--exclude-category", "single"],
            1,
            "every question is of",
        ),
        ([HARBOUR, "--relevance", "nowhere"], 2, "'nowhere' is neither a file"),
        ([HARBOUR, "--out", "nowhere/mine.json"], 2, "--out"),
        ([HARBOUR, "--out", "."], 2, "--out"),
        ([HARBOUR, "--out", "-"], 2, "--out"),
        ([HARBOUR, "--use-vectors"], 1, "lacks the emb_nodes file"),
        ([HARBOUR, "--without", "charm", "--uri", NOBODY], 1, "no feature 'charm'"),
    ],
)
def test_command_refuses_before_it_starts_a_server(
    call: Call, arguments: list[str], code: int, named: str
) -> None:
    done = call("tune", *arguments)
    assert done.code == code
    assert done.out == ""
    assert named in done.err


def test_command_names_the_file_that_it_writes(
    call: Call, where: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("tune", HARBOUR, *where, "--limit", "3", "--folds", "3", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["out"] == "relevance.json"
    assert [each["questions"] for each in found["sets"]] == [3]
    assert RelevanceConfig.load(tmp_path / "relevance.json")
