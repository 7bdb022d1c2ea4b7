"""Fit the weights of relevance to questions, and measure them on questions not used in the fit.

In: `Answers` of one or several datasets. Out: a `Tuning`: weights, and figures before and after.
Touches nothing; the same input gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from memoria.errors import ConfigError, InvalidInputError
from memoria.evaluation.answers import Answer, Answers, Array
from memoria.evaluation.config import EvaluationConfig
from memoria.evaluation.dataset import Dataset
from memoria.evaluation.fit import fit_weights
from memoria.evaluation.metrics import Interval, bootstrap, score
from memoria.evaluation.relevance import (
    CalibrationFigures,
    figures,
    fit_calibration,
    relevance_of,
    rounded,
)
from memoria.evaluation.report import check_excluded, headline_questions
from memoria.recall.ranking.config import FEATURES, RelevanceConfig

#: The figure that says whether a fit is better: recall@k, averaged over all k.
MEAN = "mean"
BEFORE, AFTER, OTHER_SETS, OWN_SET = "before", "after", "other sets", "own set"

# What a weight must not say: that a match or an edge speaks against a memory. A fit that may say it
# sets two large weights against each other, which breaks where the two differ from what it saw.
_SIGNS = np.array([-1.0 if name == "echo" else 1.0 for name in FEATURES])

Rankings = list[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneRow:
    """How well some weights rank the questions of a dataset.

    Attributes
    ----------
    name
        ``before``: the weights with which the questions were asked. ``after``: weights fitted to
        all datasets, without the fold of the question. With several datasets also ``other sets``:
        fitted to the other datasets only; and ``own set``: fitted to this dataset only, without the
        fold of the question. With an ablation also ``without`` each feature: like ``after``, but
        without that feature.
    figures
        ``recall@k`` for each k, and ``mean`` over all k -> mean over the questions, and interval.
    gain
        The same for the difference from ``before``, question by question; above 0 if better.
    """

    name: str
    figures: Mapping[str, Interval]
    gain: Mapping[str, Interval]


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedSet:
    """The figures of one dataset.

    Attributes
    ----------
    dataset, split, embedder
        Names; that of the embedder is None if the questions were asked by words only.
    questions
        Number of questions that were asked.
    fitted
        Number of questions for which some evidence was found; a fit learns nothing from the others.
    found
        Share of the evidence that was found, averaged over the questions; a perfect order would
        have this recall.
    rows
        ``before`` and ``after``; with several datasets, or an ablation, also the other rows.
    calibration
        How true the probabilities are, by weights and a calibration fitted to the other datasets;
        with one dataset, without the fold of the question. None without vectors.
    notes
        Text of a degradation -> number of answers that had it.
    """

    dataset: str
    split: str
    embedder: str | None
    questions: int
    fitted: int
    found: float
    rows: tuple[TuneRow, ...]
    calibration: CalibrationFigures | None
    notes: Mapping[str, int]

    @property
    def gain(self) -> Interval:
        """How much better the fitted weights rank questions that were not used in the fit."""
        return next(row.gain[MEAN] for row in self.rows if row.name == AFTER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Fitted weights, and how well they rank.

    Attributes
    ----------
    weights
        The weights fitted to all questions, with their calibration; rounded.
    folds, ks
        The arguments of `tune_weights`.
    sets
        The figures of each dataset.
    """

    weights: RelevanceConfig
    folds: int
    ks: tuple[int, ...]
    sets: tuple[TunedSet, ...]

    def plain(self) -> dict[str, Any]:
        """Return it as plain data for JSON; the weights as in a file of `RelevanceConfig`."""
        return {**asdict(self), "weights": self.weights.plain()}


def check_folds(datasets: Sequence[Dataset], config: EvaluationConfig, folds: int) -> None:
    """Raise unless each dataset has at least one question for each fold.

    Raises
    ------
    ConfigError
        A dataset has too few questions, or there are fewer than 2 folds; or as `check_excluded`.
    """
    check_excluded(datasets, config)
    if folds < 2:
        raise ConfigError(f"folds must be at least 2, got {folds}", field="folds")
    for dataset in datasets:
        asked = len(headline_questions(dataset, config))
        if asked < folds:
            raise ConfigError(f"{dataset.name}: {asked} questions are too few for {folds} folds")


def check_features(names: Sequence[str]) -> None:
    """Raise unless each name is that of a feature.

    Raises
    ------
    ConfigError
        A feature of that name does not exist; the message lists the features.
    """
    for name in names:
        if name not in FEATURES:
            raise ConfigError(f"no feature {name!r}; there are: {', '.join(FEATURES)}")


def tune_weights(
    sets: Sequence[Answers],
    *,
    ks: Sequence[int],
    folds: int,
    without: Sequence[str] = (),
    ablation: bool = False,
) -> Tuning:
    """Fit weights to the answers, each set counting the same, and cross-validate them.

    Parameters
    ----------
    folds
        Number of parts into which each set is divided; questions i, i + folds, i + 2 folds, ... are
        one part. At most as many as the smallest set has questions.
    without
        Features that get no weight.
    ablation
        Whether to fit again without each of the features, which shows how much each is worth.

    Raises
    ------
    InvalidInputError
        No evidence was found, or no feature distinguishes evidence from other memories.
    ConfigError
        As `check_features`.
    """
    check_features(without)
    kept = np.array([name not in without for name in FEATURES], dtype=np.float64)
    answers = [each.answers for each in sets]
    rankings = {AFTER: _held_out(answers, folds, kept)}
    if len(sets) > 1:
        rankings[OTHER_SETS] = [
            _ranked(own, fit_answers([each for each in answers if each is not own], kept))
            for own in answers
        ]
        rankings[OWN_SET] = [_held_out([own], folds, kept)[0] for own in answers]
    if ablation:
        for place in np.flatnonzero(kept):
            fewer = kept.copy()
            fewer[place] = 0.0
            rankings[f"without {FEATURES[place]}"] = _held_out(answers, folds, fewer)
    weights = _rounded(fit_answers(answers, kept))
    calibration = fit_calibration(sets, np.array(list(weights.weights.values())))
    return Tuning(
        weights=replace(weights, calibration=calibration),
        folds=folds,
        ks=tuple(ks),
        sets=tuple(
            _tuned(
                each,
                {name: found[place] for name, found in rankings.items()},
                _calibration(sets, place, folds, kept),
                ks,
            )
            for place, each in enumerate(sets)
        ),
    )


def _calibration(
    sets: Sequence[Answers], place: int, folds: int, kept: Array
) -> CalibrationFigures | None:
    """Judge probabilities of a dataset's answers, by fits that have not seen the question."""
    own = sets[place]
    if others := [each for each in sets if each is not own]:
        found = _probabilities(others, (*own.answers, *own.foreign), kept)
        return None if found is None else figures(own, found)
    answers = (*own.answers, *own.foreign)
    count, by_answer = len(own.answers), dict[int, Array]()
    for fold in range(folds):
        out = {*range(fold, count, folds), *range(count + fold, len(answers), folds)}
        rest = replace(
            own,
            answers=tuple(one for i, one in enumerate(own.answers) if i not in out),
            foreign=tuple(one for i, one in enumerate(own.foreign) if count + i not in out),
        )
        found = _probabilities([rest], [answers[i] for i in sorted(out)], kept)
        if found is None:
            return None
        by_answer |= dict(zip(sorted(out), found, strict=True))
    return figures(own, [by_answer[i] for i in range(len(answers))])


def _probabilities(
    sets: Sequence[Answers], answers: Sequence[Answer], kept: Array
) -> list[Array] | None:
    """Fit weights and a calibration to some datasets, and return the probabilities of answers."""
    weights = fit_answers([each.answers for each in sets], kept)
    calibration = fit_calibration(sets, weights)
    if calibration is None:
        return None
    return [relevance_of(one, weights, calibration) for one in answers]


def fit_answers(sets: Sequence[Sequence[Answer]], kept: Array) -> Array:
    """Fit weights to the answers of each set; those of features whose ``kept`` is 0 are 0; (F,)."""
    examples = [[answer.example(kept) for answer in answers] for answers in sets]
    return fit_weights(examples, signs=_SIGNS)


def _ranked(answers: Sequence[Answer], weights: Array) -> Rankings:
    return [answer.ranked(weights) for answer in answers]


def _held_out(sets: Sequence[Sequence[Answer]], folds: int, kept: Array) -> list[Rankings]:
    """Rank each question by the weights fitted to the other folds."""
    found: list[Rankings] = [[() for _ in answers] for answers in sets]
    for fold in range(folds):
        rest = [[a for i, a in enumerate(s) if i % folds != fold] for s in sets]
        weights = fit_answers(rest, kept)
        for rankings, answers in zip(found, sets, strict=True):
            rankings[fold::folds] = _ranked(answers[fold::folds], weights)
    return found


def _rounded(weights: Array) -> RelevanceConfig:
    written = rounded(FEATURES, weights)
    if not any(written.values()):
        raise InvalidInputError(
            "no feature distinguishes the evidence from the other memories that were found, so no "
            "weights can be fitted to these questions"
        )
    return RelevanceConfig(weights=written)


def _tuned(
    asked: Answers,
    rankings: Mapping[str, Rankings],
    calibration: CalibrationFigures | None,
    ks: Sequence[int],
) -> TunedSet:
    before = _scored(asked.answers, [answer.before for answer in asked.answers], ks)
    rows = [TuneRow(name=BEFORE, figures=_figures(before, ks), gain={})]
    for name, found in rankings.items():
        after = _scored(asked.answers, found, ks)
        rows.append(
            TuneRow(name=name, figures=_figures(after, ks), gain=_figures(after - before, ks))
        )
    golds = [set(answer.question.gold) for answer in asked.answers]
    shares = [
        len(gold.intersection(answer.items)) / len(gold)
        for gold, answer in zip(golds, asked.answers, strict=True)
    ]
    return TunedSet(
        dataset=asked.dataset,
        split=asked.split,
        embedder=asked.embedder,
        questions=len(shares),
        fitted=sum(share > 0 for share in shares),
        found=float(np.mean(shares)),
        rows=tuple(rows),
        calibration=calibration,
        notes=asked.notes,
    )


def _scored(answers: Sequence[Answer], rankings: Rankings, ks: Sequence[int]) -> Array:
    """Return recall@k of each question, one column per k, then their mean."""
    gold = {answer.question.id: answer.question.gold for answer in answers}
    recall = score(gold, dict(zip(gold, rankings, strict=True)), ks).recall
    return np.column_stack([recall, recall.mean(axis=1)])


def _figures(values: Array, ks: Sequence[int]) -> dict[str, Interval]:
    names = [*(f"recall@{k}" for k in ks), MEAN]
    return dict(zip(names, bootstrap(values), strict=True))
