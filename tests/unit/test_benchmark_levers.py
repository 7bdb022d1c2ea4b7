"""The levers of the benchmark: the truth that searches are compared with, and the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from scripts.benchmark.cases import make_questions
from scripts.benchmark.graphs import CHUNK, power_law
from scripts.benchmark.lever_report import markdown, save
from scripts.benchmark.load import memories
from scripts.benchmark.nearest import nearest


def test_the_true_nearest_are_those_of_a_sort_of_all() -> None:
    graph = power_law(5 * (CHUNK + 200), embedded=CHUNK + 100)
    written = [memory for chunk in memories(graph) for memory in chunk][: graph.embedded]
    vectors = np.array([memory.embedding for memory in written])
    questions = make_questions(graph, 5)
    for count in (40, 7_000, CHUNK + 50):
        for question, found in zip(questions, nearest(graph, questions, count), strict=True):
            order = np.argsort(-(vectors[:count] @ question.vector), kind="stable")[:5]
            assert found == {written[node].id for node in order.tolist()}


def test_fewer_memories_than_five_are_all_nearest() -> None:
    graph = power_law(1_000, embedded=200)
    [found] = nearest(graph, make_questions(graph, 1), 3)
    assert found == {"m0000000", "m0000001", "m0000002"}


def test_the_report_has_every_table(tmp_path: Path) -> None:
    search = {"way": "one", "limit": 5, "hits": 5.0, "found": 0.99, "p50_ms": 2.5}
    record: dict[str, Any] = {
        "levers": [
            {
                "kept": "ours",
                "against": "theirs",
                "ours_ms": 1.0,
                "other_ms": 2.0,
                "ratio": "2 (1.5 to 2.5)",
            }
        ],
        "profiles": [
            {"query": "one", "operators": [{"operator": "Filter", "hits": 75, "rows": 4}]}
        ],
        "searches": {
            "memories": 2_000,
            "small": 40,
            "large_scope": [search],
            "small_scope": [{**search, "way": "another"}],
            "index_mb": {"plain": 4.0, "quantised": 5.5},
        },
        "ingest": [
            {"what": "edges", "batch": 1_000, "first": 900.4, "per_s": 12_000.0, "best": 13_000.0}
        ],
        "delays": [
            {"delay_ms": 5, "round_trip_ms": 5.5, "recall_ms": 60.0, "trips": 4.0}
            | {"single_ms": 45.0, "ratio": "0.75 (0.7 to 0.8)"}
        ],
    }
    lines = markdown(record).splitlines()
    for line in (
        "| ours | 1.0 | theirs | 2.0 | 2 (1.5 to 2.5) |",
        "| one | Filter | 75 | 100 % | 4 |",
        "| one | 5 | 5 | 0.990 | 2.5 |",
        "| another | 5 | 5 | 0.990 | 2.5 |",
        "The index takes 4.0 MB on disk, quantised 5.5 MB.",
        "| edges | 1,000 | 900 | 12,000 | 13,000 |",
        "| 5 | 5.5 | 60.0 | 4 | 45.0 | 0.75 (0.7 to 0.8) |",
    ):
        assert line in lines
    rows = [line.count("|") for line in lines if line.startswith("|")]
    heads = [lines[at - 1].count("|") for at, line in enumerate(lines) if line.startswith("|---")]
    assert heads == [6, 6, 6, 6, 6, 7]
    assert len(rows) == 3 * len(heads)
    record["searches"]["index_mb"] = None  # what was written only is not on disk yet
    assert "on disk" not in markdown(record)
    save(record, tmp_path)
    assert json.loads((tmp_path / "levers.json").read_text()) == record
    assert (tmp_path / "levers.md").read_text() == markdown(record)
