"""Turn runs into figures: recall by category, differences from baselines, latency.

In: a dataset and its runs. Out: a `Report`, and the same as plain data. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from memoria.errors import ConfigError
from memoria.evaluation.asking import Run, chosen_questions
from memoria.evaluation.config import EvaluationConfig
from memoria.evaluation.dataset import Dataset, Question
from memoria.evaluation.methods import BASELINES
from memoria.evaluation.metrics import Interval, Scores, bootstrap, score

ALL = "all"
MEASURES = ("recall", "full")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRow:
    """The figures of some questions.

    Attributes
    ----------
    category
        The questions of the row: one category, ``all``, or ``all but`` the excluded categories.
    questions
        Number of questions.
    figures
        ``recall@k`` and ``full@k`` for each k -> mean and interval.
    """

    category: str
    questions: int
    figures: Mapping[str, Interval]


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodReport:
    """The figures of one method.

    Attributes
    ----------
    method
        Name of the method.
    rows
        One row per category, by name, then the totals; the last row is the headline.
    p50_s, p95_s
        Median time of an answer, and 95th percentile; seconds.
    notes
        Text of a degradation -> number of answers that had it.
    """

    method: str
    rows: tuple[ReportRow, ...]
    p50_s: float
    p95_s: float
    notes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much better a method is than a baseline, question by question.

    Attributes
    ----------
    method, baseline
        Names of the two methods.
    figures
        Differences of the figures of a `ReportRow`, over the questions of the headline; above 0 if
        the method is better.
    """

    method: str
    baseline: str
    figures: Mapping[str, Interval]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All figures of an evaluation.

    Attributes
    ----------
    dataset, split
        Names of the dataset and of its split.
    questions
        Number of questions that were asked.
    scopes, memories, items, edges
        Size of the dataset; items are the ranked memories. For chats, items are the messages, and
        memories and edges are None: their numbers are not known. All three are None for a graph
        that was in the database already.
    ks
        The k of recall@k.
    excluded
        Categories that the headline leaves out.
    methods, differences
        The figures.
    left_out
        Reason -> number of lines of the dataset that were left out for it.
    """

    dataset: str
    split: str
    questions: int
    scopes: int
    memories: int | None
    items: int | None
    edges: int | None
    ks: tuple[int, ...]
    excluded: tuple[str, ...]
    methods: tuple[MethodReport, ...]
    differences: tuple[Difference, ...]
    left_out: Mapping[str, int]

    def plain(self) -> dict[str, Any]:
        """Return the report as plain data for JSON."""
        return asdict(self)


def check_excluded(datasets: Sequence[Dataset], config: EvaluationConfig) -> None:
    """Raise if an excluded category does not exist, or if no question of a dataset is left.

    Raises
    ------
    ConfigError
        One of these is the case; the message names the categories.
    """
    known = {
        question.category
        for dataset in datasets
        for question in (*dataset.questions, *dataset.unanswerable)
    }
    shown = ", ".join(sorted(name for name in known if name is not None)) or "none"
    for name in config.excluded:
        if name not in known:
            raise ConfigError(f"no question has the category {name!r}; there are: {shown}")
    for dataset in datasets:
        if not headline_questions(dataset, config):
            raise ConfigError(f"{dataset.name}: every question is of an excluded category")


def headline_questions(dataset: Dataset, config: EvaluationConfig) -> tuple[Question, ...]:
    """Return the questions that are asked, without those of excluded categories."""
    asked = chosen_questions(dataset.questions, config.limit)
    return tuple(question for question in asked if question.category not in config.excluded)


def make_report(dataset: Dataset, runs: Sequence[Run], config: EvaluationConfig) -> Report:
    """Score the runs.

    Raises
    ------
    ConfigError
        See `check_excluded`.
    """
    check_excluded([dataset], config)
    asked = chosen_questions(dataset.questions, config.limit)
    gold = {question.id: question.gold for question in asked}
    scores = {run.method: score(gold, run.rankings, config.ks) for run in runs}
    groups = _groups(asked, config.excluded)
    memories, items, edges = _sizes(dataset)
    return Report(
        dataset=dataset.name,
        split=dataset.split,
        questions=len(asked),
        scopes=len(dataset.memories),
        memories=memories,
        items=items,
        edges=edges,
        ks=config.ks,
        excluded=config.excluded,
        methods=tuple(_method(run, scores[run.method], groups) for run in runs),
        differences=_differences(runs, scores, groups[-1][1]),
        left_out=dataset.left_out,
    )


def _sizes(dataset: Dataset) -> tuple[int | None, int | None, int | None]:
    """Return the numbers of memories, ranked items and edges."""
    if dataset.chats:
        return None, sum(len(chat.ids) for chat in dataset.chats.values()), None
    memories = [memory for found in dataset.memories.values() for memory in found]
    if not memories:
        return None, None, None  # a graph that was in the database already
    items = sum(memory.kind in dataset.item_kinds for memory in memories)
    return len(memories), items, sum(map(len, dataset.relations.values()))


def _groups(asked: Sequence[Question], excluded: Sequence[str]) -> list[tuple[str, list[int]]]:
    """Return the rows' names with the places of their questions; the headline comes last."""
    names = sorted({question.category for question in asked if question.category is not None})
    groups = [(name, [n for n, q in enumerate(asked) if q.category == name]) for name in names]
    groups.append((ALL, list(range(len(asked)))))
    if excluded:
        kept = [n for n, q in enumerate(asked) if q.category not in excluded]
        groups.append((f"{ALL} but {', '.join(excluded)}", kept))
    return groups


def _method(run: Run, scores: Scores, groups: Iterable[tuple[str, list[int]]]) -> MethodReport:
    p50_s, p95_s = np.percentile(run.latencies_s, [50, 95])
    rows = tuple(
        ReportRow(category=name, questions=len(places), figures=_figures(scores, places))
        for name, places in groups
    )
    return MethodReport(
        method=run.method, rows=rows, p50_s=float(p50_s), p95_s=float(p95_s), notes=run.notes
    )


def _differences(
    runs: Sequence[Run], scores: Mapping[str, Scores], places: list[int]
) -> tuple[Difference, ...]:
    """Compare each strategy with each baseline, over the same questions."""
    names = [run.method for run in runs]
    found = []
    for method in (name for name in names if name not in BASELINES):
        for baseline in (name for name in names if name in BASELINES):
            ours, theirs = scores[method], scores[baseline]
            gain = Scores(
                ks=ours.ks, recall=ours.recall - theirs.recall, full=ours.full - theirs.full
            )
            figures = _figures(gain, places)
            found.append(Difference(method=method, baseline=baseline, figures=figures))
    return tuple(found)


def _figures(scores: Scores, places: list[int]) -> dict[str, Interval]:
    names = [f"{measure}@{k}" for measure in MEASURES for k in scores.ks]
    values = np.hstack([scores.recall, scores.full])[places]
    return dict(zip(names, bootstrap(values), strict=True))
