"""Scores, intervals, baselines and reports: numbers that can be checked by hand."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from memoria.cli import figures
from memoria.errors import ConfigError
from memoria.evaluation import (
    Dataset,
    EvaluationConfig,
    Question,
    Run,
    baselines,
    bootstrap,
    check_excluded,
    check_method,
    corpus,
    make_report,
    metrics,
    run_lines,
    score,
)
from memoria.evaluation.asking import chosen_questions
from memoria.evaluation.baselines import page_rank
from memoria.evaluation.corpus import Graph
from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import STRATEGIES, LeakyIntegrateAndFire

GOLD = {"q1": ["a", "b"], "q2": ["c"], "q3": ["d", "e", "f", "g"]}
RANKINGS = {"q1": ["a", "x", "b"], "q2": ["x", "c"], "q3": ["d", "d", "e", "x", "f"]}


def dataset(*categories: str | None) -> Dataset:
    """Questions q0, q1, ... of these categories; the gold of each is its own name."""
    questions = tuple(
        Question(id=f"q{i}", text=f"What is {i}?", gold=(f"q{i}",), category=category, scope="s")
        for i, category in enumerate(categories)
    )
    return Dataset(
        name="d",
        split="dev",
        memories={"s": ()},
        relations={"s": ()},
        questions=questions,
        item_kinds=("Note",),
        vectors={},
        question_vectors={},
        left_out={},
    )


def run_of(method: str, **rankings: list[str]) -> Run:
    ranked = {id_: tuple(ids) for id_, ids in rankings.items()}
    return Run(method=method, rankings=ranked, latencies_s=(0.1, 0.2, 0.3), notes={})


def test_recall_is_the_share_of_the_gold_among_the_first_k() -> None:
    found = score(GOLD, RANKINGS, [1, 2, 3])
    # q3 ranks d twice: the second counts for nothing, so that its first three are d, e, x.
    assert found.recall.tolist() == [[0.5, 0.5, 1.0], [0.0, 1.0, 1.0], [0.25, 0.5, 0.5]]
    assert found.full.tolist() == [[0, 0, 1], [0, 1, 1], [0, 0, 0]]


def test_a_question_without_a_ranking_scores_nothing() -> None:
    assert score({"q": ["a"]}, {}, [5]).recall.tolist() == [[0.0]]


def test_interval_of_equal_values_is_that_value() -> None:
    [interval] = bootstrap(np.full((10, 1), 0.25))
    assert (interval.mean, interval.low, interval.high) == (0.25, 0.25, 0.25)


def test_interval_is_about_two_standard_errors_on_either_side() -> None:
    # 400 zeros and ones by half: the standard error is 0.5 / 20 = 0.025, 1.96 of it 0.049.
    [interval] = bootstrap(np.array([[0.0], [1.0]] * 200))
    assert interval.mean == 0.5
    assert interval.low == pytest.approx(0.451, abs=0.006)
    assert interval.high == pytest.approx(0.549, abs=0.006)


def test_intervals_are_those_of_the_same_draws_all_at_once() -> None:
    values = np.random.default_rng(1).random((1_000, 2))  # more than are drawn at once
    found = bootstrap(values)
    drawn = np.random.default_rng(metrics.SEED).integers(0, 1_000, size=(metrics.SAMPLES, 1_000))
    low, high = np.percentile(values[drawn].mean(axis=1), [2.5, 97.5], axis=0)
    assert [each.low for each in found] == pytest.approx(low.tolist())
    assert [each.high for each in found] == pytest.approx(high.tolist())
    assert bootstrap(values) == found


def test_headline_leaves_the_excluded_categories_out() -> None:
    asked = dataset("x", "y", "x", None)
    config = EvaluationConfig(ks=(1,), excluded=("y",))
    right = {"q0": ["q0"], "q1": ["no"], "q2": ["q2"], "q3": ["no"]}
    [method] = make_report(asked, [run_of("transfer", **right)], config).methods
    rows = [(row.category, row.questions, row.figures["recall@1"].mean) for row in method.rows]
    assert rows == [
        ("x", 2, 1.0),
        ("y", 1, 0.0),
        ("all", 4, 0.5),
        ("all but y", 3, pytest.approx(2 / 3)),
    ]
    assert method.p50_s == 0.2
    assert method.p95_s == pytest.approx(0.29)


def test_difference_is_taken_question_by_question() -> None:
    asked = dataset("x", "x", "x")
    config = EvaluationConfig(methods=("transfer", "bm25"), ks=(1, 2))
    ours = run_of("transfer", q0=["q0"], q1=["no", "q1"], q2=["q2"])
    theirs = run_of("bm25", q0=["q0"], q1=["q1"], q2=["no"])
    [found] = make_report(asked, [ours, theirs], config).differences
    assert (found.method, found.baseline) == ("transfer", "bm25")
    assert found.figures["recall@1"].mean == 0.0  # one more here, one less there
    assert found.figures["recall@1"].low < 0 < found.figures["recall@1"].high
    assert found.figures["recall@2"].mean == pytest.approx(1 / 3)
    assert found.figures["recall@2"].low == 0.0  # never worse


def test_a_dataset_without_categories_has_the_total_alone() -> None:
    [method] = make_report(
        dataset(None, None), [run_of("bm25", q0=["q0"])], EvaluationConfig(methods=("bm25",))
    ).methods
    assert [row.category for row in method.rows] == ["all"]


def test_excluding_what_is_not_there_or_all_there_is_is_refused() -> None:
    with pytest.raises(ConfigError, match="there are: x, y"):
        check_excluded([dataset("x", "y")], EvaluationConfig(excluded=("z",)))
    with pytest.raises(ConfigError, match="every question"):
        check_excluded([dataset("x")], EvaluationConfig(excluded=("x",)))


def test_limited_questions_are_spread_evenly() -> None:
    asked = dataset(*["x"] * 10).questions
    assert [q.id for q in chosen_questions(asked, 4)] == ["q0", "q2", "q5", "q7"]
    assert chosen_questions(asked, 11) == chosen_questions(asked, None) == asked


def test_run_is_one_line_for_each_question() -> None:
    lines = list(run_lines(run_of("bm25", q0=["å", "b"], q1=[])))
    assert lines == ['{"id": "q0", "ranked": ["å", "b"]}', '{"id": "q1", "ranked": []}']


@pytest.mark.parametrize(
    "wrong",
    [{"ks": ()}, {"ks": (0, 5)}, {"ks": (1001,)}, {"limit": 0}, {"warm_up": -1}],
)
def test_config_refuses_what_is_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        EvaluationConfig(**wrong)


def test_config_sorts_ks_and_keeps_enough_of_a_ranking() -> None:
    config = EvaluationConfig(ks=(200, 5, 5), methods=("rrf", "rrf"))
    assert (config.ks, config.depth, config.methods) == ((5, 200), 200, ("rrf",))


def test_what_is_measured_is_the_strategy_of_the_recalls_unless_methods_are_named() -> None:
    fires = RetrieverConfig(strategy=LeakyIntegrateAndFire())
    assert EvaluationConfig().methods == ("transfer",)
    assert EvaluationConfig(retriever=fires).methods == ("lif",)
    assert EvaluationConfig(retriever=fires, methods=("rrf",)).methods == ("rrf",)


def test_a_method_without_vectors_is_refused() -> None:
    for name in ("dense", "rrf", "ppr"):
        with pytest.raises(ConfigError, match=f"{name} needs vectors"):
            check_method(name, None)
    check_method("bm25", None)
    check_method("transfer", None)
    methods = ", ".join([*STRATEGIES, "dense", "bm25", "rrf", "ppr"])
    with pytest.raises(ConfigError, match=f"{methods}; got 'best'"):
        check_method("best", None)


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rank_bm25", None)
    with pytest.raises(ConfigError, match=r"memoria-graph\[evaluation\]"):
        check_method("bm25", None)


def test_page_rank_of_a_pair_alternates() -> None:
    # a - b, restart at a, damping 1/2: a = 1/2 + b/2 and b = a/2, so a = 2/3 and b = 1/3.
    pair = Graph(
        ids=("a", "b", "c"),
        sources=np.array([0, 1]),
        targets=np.array([1, 0]),
        shares=np.array([1.0, 1.0]),
    )
    assert page_rank(pair, {"a": 7.0}) == pytest.approx([2 / 3, 1 / 3, 0.0])
    # c has no edges: what it holds goes back to the restart, and all of it stays there.
    assert page_rank(pair, {"c": 1.0}) == pytest.approx([0.0, 0.0, 1.0])
    assert page_rank(pair, {"nobody": 1.0}).tolist() == [0.0, 0.0, 0.0]


def test_weights_share_what_leaves_a_memory() -> None:
    rows: list[list[Any]] = [["a", [["b", 0.5], ["c", 1.0], ["nobody", 1.0]]], ["b", []], ["c", []]]
    graph = corpus._graph(rows)
    entries = zip(graph.sources.tolist(), graph.targets.tolist(), graph.shares, strict=True)
    assert sorted(entries) == [
        (0, 1, pytest.approx(1 / 3)),
        (0, 2, pytest.approx(2 / 3)),
        (1, 0, 1.0),
        (2, 0, 1.0),
    ]


def test_best_breaks_ties_by_id_and_takes_the_chosen_only() -> None:
    scores = np.array([0.5, 0.7, 0.5 + 1e-13, 0.9])
    found = baselines.best(("b", "c", "a", "d"), scores, np.array([True, True, True, False]))
    assert [id_ for id_, _ in found] == ["c", "a", "b"]


def test_a_table_too_wide_for_the_terminal_has_its_intervals_below() -> None:
    header, rows = ("category", "@2"), [["bridge", "-54.7 (-59.8..-49.5)"]]
    # Two spaces before each column, and two at the end: 2 + 8 + 2 + 20 + 2.
    assert figures._fitted(header, rows, 34) == rows
    assert figures._fitted(header, rows, 33) == [["bridge", "-54.7\n(-59.8..-49.5)"]]
    assert figures._fitted(header, rows, 27) == [["bridge", "-54.7\n(-60..-50)"]]
