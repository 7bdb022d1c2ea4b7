"""Fit the map from sums to probabilities, and say how true its probabilities are.

In: terms of candidates, and which of them are evidence. Out: weights, and errors. Touches nothing;
the same input gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoria.evaluation.fit import smallest

BINS = 10
# Only so strong that there is one minimum: a stronger pull to 0 would be one to even odds.
L2 = 1e-4

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What one question has to be judged: its candidates, or the question itself.

    Attributes
    ----------
    names
        Names of the terms; T of them.
    terms
        A row for each thing to be judged, a column for each term; (N, T).
    gold
        Whether it is true of each; (N,).
    """

    names: tuple[str, ...]
    terms: Array
    gold: Flags


class LogLoss:
    """How unlikely probabilities make what is true, over all questions.

    Notes
    -----
    Of what has the terms x and is true (y = 1) or not (y = -1), the loss under weights w is
    ``log(1 + exp(-y w x))``. Each set counts the same, and so does each question of a set with
    all of its candidates. ``l2`` / 2 times w w is added, so that there is only one minimum. Source:
    J. Platt, "Probabilistic Outputs for Support Vector Machines", 1999, with more than one term.
    """

    def __init__(self, sets: Sequence[Sequence[Judged]], *, l2: float = L2) -> None:
        used = [
            (one, 1 / (len(sets) * len(questions) * len(one.gold)))
            for questions in sets
            for one in questions
            if len(one.gold)
        ]
        self._terms = np.concatenate([one.terms for one, _ in used])
        self._sides = np.concatenate([np.where(one.gold, 1.0, -1.0) for one, _ in used])
        self._importance = np.repeat([n for _, n in used], [len(one.gold) for one, _ in used])
        self._l2 = l2

    def value(self, weights: Array) -> float:
        """Return the loss."""
        penalty = self._l2 / 2 * (weights @ weights)
        margins = self._sides * (self._terms @ weights)
        return float(penalty + self._importance @ np.logaddexp(0.0, -margins))

    def slopes(self, weights: Array) -> tuple[Array, Array]:
        """Return the gradient of the loss, (T,), and its second derivatives, (T, T)."""
        missed = np.exp(-np.logaddexp(0.0, self._sides * (self._terms @ weights)))
        gradient = -(self._importance * self._sides * missed) @ self._terms + self._l2 * weights
        spread = self._importance * missed * (1.0 - missed)
        curvature = (self._terms.T * spread) @ self._terms
        return gradient, curvature + self._l2 * np.eye(len(weights))


def fit_terms(sets: Sequence[Sequence[Judged]], signs: Array, *, l2: float = L2) -> Array:
    """Return the weights of the given signs with the smallest `LogLoss`; (T,).

    Examples
    --------
    Of four candidates with nothing but a constant one is evidence: the odds are 1 to 3.

    >>> gold = np.array([True, False, False, False])
    >>> one = Judged(names=("constant",), terms=np.ones((4, 1)), gold=gold)
    >>> float(np.exp(fit_terms([[one]], np.zeros(1), l2=0.0)).round(6)[0])
    0.333333
    """
    return smallest(LogLoss(sets, l2=l2), signs)


def calibration_error(probabilities: Array, gold: Flags) -> float:
    """Return how far probabilities are from shares, averaged over the candidates; 0 to 1.

    Notes
    -----
    The candidates are put into ten bins by probability; of each bin the distance of the mean
    probability from the share of evidence counts, times the share of the candidates that it holds.
    Source: M. Naeini et al., "Obtaining Well Calibrated Probabilities Using Bayesian Binning", AAAI
    2015, expected calibration error.

    Examples
    --------
    >>> calibration_error(np.array([0.25, 0.25, 0.9]), np.array([True, False, True])).__round__(3)
    0.2
    """
    if not len(gold):
        return 0.0
    bins = np.minimum((probabilities * BINS).astype(np.int64), BINS - 1)
    off = np.bincount(bins, probabilities - gold, BINS)
    return float(np.abs(off).sum() / len(gold))


def area_under_curve(positive: Array, negative: Array) -> float:
    """Return how often a positive value lies above a negative one; 0 to 1, ties count half.

    The area under the curve of the receiver operating characteristic (AUROC).

    Examples
    --------
    >>> area_under_curve(np.array([0.9, 0.4]), np.array([0.4, 0.1]))
    0.875
    """
    above = positive[:, None] > negative
    ties = positive[:, None] == negative
    return float((above + ties / 2).mean())
