"""Fit weights to the user's own questions: ``tune``."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from memoria._support.progress import ProgressCallback
from memoria._support.wording import number_of
from memoria.cli.choices import Weights
from memoria.cli.common import Json, one_line, out, print_json
from memoria.cli.datasets import (
    EmbeddedDataset,
    Ks,
    Limit,
    OwnConnection,
    Raw,
    Reading,
    Split,
    UseVectors,
    on_dataset,
    read_subjects,
    retriever_config,
)
from memoria.cli.embedders import EmbedderName
from memoria.cli.figures import percent, print_notes, print_titled
from memoria.cli.output import check_file
from memoria.evaluation import (
    FIRST,
    MEAN,
    Answers,
    CalibrationFigures,
    EvaluationConfig,
    Question,
    TunedSet,
    Tuning,
    ask_features,
    check_features,
    check_folds,
    foreign_questions,
    tune_weights,
)
from memoria.recall.ranking.config import RelevanceConfig
from memoria.store import Store

Folders = Annotated[
    list[Path],
    typer.Argument(metavar="DATASET_DIR", help="Folders with a graph or messages, and questions."),
]
Out = Annotated[str, typer.Option("--out", help="File for the weights.")]
Folds = Annotated[
    int, typer.Option(min=2, help="Number of folds; the fit leaves each fold out once.")
]
Excluded = Annotated[
    list[str] | None,
    typer.Option(help="Category to leave out, also from the fit; may be repeated."),
]
Without = Annotated[
    list[str] | None, typer.Option(help="Feature that gets no weight; may be repeated.")
]
Ablation = Annotated[bool, typer.Option("--ablation", help="Also show the gain of each feature.")]


def tune(
    context: typer.Context,
    dataset_dir: Folders,
    out_file: Out = "relevance.json",
    split: Split = "dev",
    raw: Raw = False,
    folds: Folds = 5,
    k: Ks = None,
    exclude_category: Excluded = None,
    without: Without = None,
    ablation: Ablation = False,
    limit: Limit = None,
    use_vectors: UseVectors = False,
    relevance: Weights = "default",
    embedder: EmbedderName = None,
    *,
    connection: OwnConnection,
    as_json: Json = False,
) -> None:
    """Fit the weights of relevance to the questions of datasets, and write them to a file.

    Asks the questions as evaluate does, and prints recall@k before (with the weights of
    --relevance) and after (each question is ranked by weights that were fitted without its fold).
    All datasets count equally. Use the file with evaluate --relevance and RelevanceConfig.load.

    A throw-away server is started for each dataset. With --uri or NEO4J_URI, your database is
    used; the scopes stay there for the next run.

    Examples
    --------
    memoria tune data/notes
    memoria tune data/notes data/talks --use-vectors --out weights.json
    memoria tune data/notes data/chats data/talks --raw
    memoria tune data/talks --use-vectors --exclude-category unanswerable --json
    """
    config = EvaluationConfig(
        ks=tuple(k or EvaluationConfig().ks),
        excluded=tuple(exclude_category or ()),
        limit=limit,
        retriever=retriever_config(relevance),
    )
    path = check_file(out_file, "--out")
    if len({folder.resolve() for folder in dataset_dir}) < len(dataset_dir):
        raise typer.BadParameter("a folder is named twice", param_hint="DATASET_DIR")
    check_features(without or ())
    how = Reading(split=split, raw=raw, use_vectors=use_vectors, embedder=embedder)
    subjects = read_subjects(context, dataset_dir, how, connection)
    check_folds([subject.dataset for subject in subjects], config, folds)
    answers = asyncio.run(_ask_each(subjects, connection, config))
    tuning = tune_weights(
        answers, ks=config.ks, folds=folds, without=without or (), ablation=ablation
    )
    tuning.weights.save(path)
    if as_json:
        print_json({"out": out_file, **tuning.plain()})
    else:
        _print(tuning, config.retriever.relevance)
        wrote = f"wrote {out_file}, for memoria evaluate --relevance and RelevanceConfig.load"
        out.print(one_line(wrote), markup=False)


async def _ask_each(
    subjects: Sequence[EmbeddedDataset], connection: OwnConnection, config: EvaluationConfig
) -> list[Answers]:
    foreign = foreign_questions([subject.dataset for subject in subjects], config)
    return [
        await _ask(subject, connection, config, questions)
        for subject, questions in zip(subjects, foreign, strict=True)
    ]


async def _ask(
    subject: EmbeddedDataset,
    connection: OwnConnection,
    config: EvaluationConfig,
    foreign: Sequence[Question],
) -> Answers:
    async def ask(store: Store, progress: ProgressCallback) -> Answers:
        return await ask_features(
            store,
            subject.dataset,
            embedder=subject.embedder,
            config=config,
            foreign=foreign,
            progress=progress,
        )

    return await on_dataset(subject, connection, ask)


def _print(tuning: Tuning, before: RelevanceConfig | None) -> None:
    """Print the figures of each dataset, the weights, and whether the new weights are better."""
    out.print("percent of the evidence, and its interval of 95 %", style="dim")
    for each in tuning.sets:
        _print_set(each, tuning.ks)
    old = {} if before is None else before.weights
    _print_weights("weights, fitted to all questions", "feature", old, tuning.weights.weights)
    if tuning.weights.calibration is not None:
        old = {} if before is None or before.calibration is None else asdict(before.calibration)
        _print_weights("calibration", "term", old, asdict(tuning.weights.calibration))
    out.print()
    for each in tuning.sets:
        out.print(one_line(f"{each.dataset}: {_verdict(each)}"), markup=False)


def _print_weights(
    title: str, head: str, before: Mapping[str, float], after: Mapping[str, float]
) -> None:
    lines = [
        (name, f"{before[name]:.3f}" if before else "", f"{weight:.3f}")
        for name, weight in after.items()
    ]
    print_titled(title, (head, "before", "after"), lines)


def _print_set(each: TunedSet, ks: Sequence[int]) -> None:
    names = [*(f"recall@{k}" for k in ks), MEAN]
    lines = []
    for row in each.rows:
        lines.append((row.name, "recall", *(percent(row.figures[name]) for name in names)))
        if row.gain:
            lines.append((row.name, "gain", *(percent(row.gain[name], "+") for name in names)))
    print_titled(
        f"{each.dataset}, {each.split}: {number_of(each.questions, 'question')}, "
        f"embedder {each.embedder or 'none'}",
        ("weights", "", *(f"@{k}" for k in ks), MEAN),
        lines,
    )
    evidence = f"found {100 * each.found:.1f} % of the evidence, some for {each.fitted} questions"
    out.print(evidence, style="dim", markup=False)
    if each.calibration is not None:
        out.print(_calibration(each.calibration), style="dim", markup=False)
    print_notes(each.notes)


def _calibration(found: CalibrationFigures) -> str:
    """Return in words how true the probabilities are."""
    said = (
        f"relevance is off by {100 * found.error:.1f} points on average, by "
        f"{100 * found.error_first:.1f} among the first {FIRST}"
    )
    if found.separation is None:
        return f"{said}; with a second dataset it also learns when nothing is relevant"
    asked = number_of(found.foreign, "foreign question")
    return f"{said}; above that of {asked}: {100 * found.separation:.1f} %"


def _verdict(each: TunedSet) -> str:
    """Return in words whether the fit helps, judged by questions that it has not seen."""
    gain = each.gain
    shown = f"{percent(gain, '+')} points of mean recall on questions not seen by the fit"
    if gain.low > 0:
        return f"better: {shown}"
    if gain.mean > 0:
        return f"perhaps better: {shown}; it may be chance, and more questions would show it"
    worse = "worse" if gain.high < 0 else "no better"
    return f"{worse}: {shown}; keep the weights that you have"
