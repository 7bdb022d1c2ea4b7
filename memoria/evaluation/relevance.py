"""Fit the calibration that belongs to weights, and measure how true its probabilities are.

In: `Answers` of one or several datasets, weights. Out: a `Calibration`, or figures. Touches
nothing; the same input gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memoria.evaluation.answers import Answer, Answers, Array
from memoria.evaluation.calibrating import (
    Flags,
    Judged,
    area_under_curve,
    calibration_error,
    fit_terms,
)
from memoria.evaluation.foreign import SMALL_TALK
from memoria.recall.ranking.calibration import (
    KEEP_ORDER,
    Calibration,
    answer_terms,
    asks_terms,
    evidence_terms,
    probabilities,
)

# To so many digits a fit rounds what it writes.
DIGITS = 3
FIRST = 10
# How often a message of small talk counts. Agents send more of it than questions, and each context
# that it gets costs tokens; docs/project/ranking-notes.md has figures of other numbers.
_TALK = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationFigures:
    """How true the probabilities of a calibration are, for questions that its fit has not seen.

    Attributes
    ----------
    foreign
        Number of foreign questions, which nothing in the dataset answers.
    separation
        How often the best memory of a question has a higher relevance than that of a foreign
        question; 0 to 1 (AUROC). None without foreign questions.
    error, error_first
        Expected calibration error over all candidates, and over the first ten of each question,
        foreign questions included; 0 to 1.
    """

    foreign: int
    separation: float | None
    error: float
    error_first: float


def fit_calibration(sets: Sequence[Answers], weights: Array) -> Calibration | None:
    """Fit the calibration that belongs to weights; its own are rounded.

    Whether a message asks for anything is learned from questions and small talk, whether there is
    an answer from own and foreign questions, which candidate is evidence from own questions.
    Without any vector a calibration can't be fitted: None.
    """
    if all(not one.likeness for each in sets for one in each.answers):
        return None
    asked, answered, evident = ([list[Judged]() for _ in sets] for _ in range(3))
    for place, each in enumerate(sets):
        for one in (*each.answers, *each.foreign):
            if not one.likeness:
                continue
            values, sums = one.summed(weights)
            is_talk, is_own = one.question.category == SMALL_TALK, bool(one.question.gold)
            times = _TALK if is_talk else 1
            asked[place] += [_judged(asks_terms(values), np.array([not is_talk]))] * times
            if not is_talk:
                answered[place].append(_judged(answer_terms(values, sums), np.array([is_own])))
            if is_own:
                evident[place].append(_judged(evidence_terms(sums), one.is_gold))
    return Calibration(**_fitted(asked), **_fitted(answered), **_fitted(evident))


def _fitted(sets: Sequence[Sequence[Judged]]) -> dict[str, float]:
    names = next(one.names for judged in sets for one in judged)
    signs = np.array([1.0 if name in KEEP_ORDER else 0.0 for name in names])
    return rounded(names, fit_terms(sets, signs))


def rounded(names: Sequence[str], weights: Array) -> dict[str, float]:
    """Return weights by name as a fit writes them."""
    return {
        name: round(float(weight), DIGITS) + 0.0  # no negative zeros
        for name, weight in zip(names, weights, strict=True)
    }


def figures(asked: Answers, found: Sequence[Array]) -> CalibrationFigures:
    """Compare probabilities with the evidence.

    Parameters
    ----------
    found
        Probabilities of the candidates of each answer, then of each foreign one, in their order.
    """
    answers = (*asked.answers, *asked.foreign)
    golds = [answer.is_gold for answer in answers]
    firsts = [np.argsort(-each, kind="stable")[:FIRST] for each in found]
    best = np.array([each.max(initial=0.0) for each in found])
    count = len(asked.answers)
    return CalibrationFigures(
        foreign=len(asked.foreign),
        separation=area_under_curve(best[:count], best[count:]) if asked.foreign else None,
        error=calibration_error(np.concatenate(found), np.concatenate(golds)),
        error_first=calibration_error(
            np.concatenate([each[rows] for each, rows in zip(found, firsts, strict=True)]),
            np.concatenate([gold[rows] for gold, rows in zip(golds, firsts, strict=True)]),
        ),
    )


def relevance_of(answer: Answer, weights: Array, calibration: Calibration) -> Array:
    """Return the probability of each candidate of an answer; (N,)."""
    if not answer.likeness:
        return np.zeros(len(answer.ids))
    values, sums = answer.summed(weights)
    return probabilities(values, sums, calibration)


def _judged(terms: Mapping[str, Array], gold: Array | Flags) -> Judged:
    return Judged(
        names=tuple(terms), terms=np.column_stack(list(terms.values())), gold=gold.astype(bool)
    )
