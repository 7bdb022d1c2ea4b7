"""Fit the weights of a linear model that ranks candidates.

In: the candidates of questions, with features and gold. Out: a weight for each feature.
Touches nothing; the same input gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memoria.errors import InvalidInputError

L2 = 1e-3
MAX_STEPS = 100
MIN_STEP = 1e-6
# A step is halved if it brings less than this share of the decrease that the slope promises
# (Armijo).
SUFFICIENT = 1e-4
# The fit ends when the slope promises a smaller decrease of the loss than this.
TOLERANCE = 1e-12

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """The candidates of one question.

    Attributes
    ----------
    features
        A row for each candidate, a column for each feature; (N, F).
    gold
        Whether each candidate is evidence; (N,).
    """

    features: Array
    gold: NDArray[np.bool_]


class Loss:
    """How badly weights rank the candidates, over all questions.

    Notes
    -----
    For a question with candidates x_i, of which g are gold, the loss under weights w is::

        -sum over gold i of (1/g) log p_i,    p_i = exp(w x_i) / sum over j of exp(w x_j)

    The loss of a question is multiplied by 1 / (questions of its set * sets), so that each set
    counts the same; a question without gold among its candidates has no loss. ``l2`` / 2 times w w
    is added, so that there is only one minimum. With one gold candidate, this is the conditional
    logit; with several, the cross entropy of ListNet with the shares of the gold as target.

    Source: D. McFadden, "Conditional Logit Analysis of Qualitative Choice Behavior", 1974; Z. Cao
    et al., "Learning to Rank: From Pairwise Approach to Listwise Approach", ICML 2007, top one
    probabilities and their cross entropy.
    """

    def __init__(self, sets: Sequence[Sequence[Example]], *, l2: float = L2) -> None:
        used = [
            (example, 1 / (len(sets) * len(examples)))
            for examples in sets
            for example in examples
            if example.gold.any()
        ]
        if not used:
            asked = sum(map(len, sets))
            raise InvalidInputError(
                f"for none of {asked} questions was any evidence found, so there is nothing to "
                "fit: ask more questions, or make fewer folds"
            )
        sizes = [len(example.gold) for example, _ in used]
        self._features = np.concatenate([example.features for example, _ in used])
        self._target = np.concatenate([n * e.gold / e.gold.sum() for e, n in used])
        self._importance = np.array([importance for _, importance in used])
        self._of = np.repeat(np.arange(len(used)), sizes)
        self._starts = np.cumsum([0, *sizes[:-1]])
        self._l2 = l2

    def value(self, weights: Array) -> float:
        """Return the loss."""
        penalty = self._l2 / 2 * (weights @ weights)
        return float(penalty - self._target @ self._log_shares(weights))

    def slopes(self, weights: Array) -> tuple[Array, Array]:
        """Return the gradient of the loss, (F,), and its second derivatives, (F, F)."""
        shares = np.exp(self._log_shares(weights))
        weighed = shares * self._importance[self._of]
        gradient = (weighed - self._target) @ self._features + self._l2 * weights
        means = np.add.reduceat(shares[:, None] * self._features, self._starts)
        curvature = (self._features.T * weighed) @ self._features
        curvature -= (means.T * self._importance) @ means
        return gradient, curvature + self._l2 * np.eye(len(weights))

    def _log_shares(self, weights: Array) -> Array:
        scores = self._features @ weights
        scores -= np.maximum.reduceat(scores, self._starts)[self._of]
        totals = np.add.reduceat(np.exp(scores), self._starts)
        shares: Array = scores - np.log(totals)[self._of]
        return shares


def fit_weights(
    sets: Sequence[Sequence[Example]], *, l2: float = L2, signs: Array | None = None
) -> Array:
    """Return the weights with the smallest `Loss` among those with the given signs; (F,).

    A feature that is the same for all candidates of a question, in every question, gets 0.

    Parameters
    ----------
    sets
        The questions of each set; each set counts the same. There must be at least one candidate,
        and all candidates must have the same features.
    l2
        Strength of the pull towards 0; > 0, or 0 if no feature can be derived from the others.
    signs
        For each feature 1 if its weight must not be below 0, -1 if not above 0, 0 if free; (F,).
        None: all are free.

    Raises
    ------
    InvalidInputError
        No question has gold among its candidates.

    Notes
    -----
    See `smallest`; O(N F^2) per step for N candidates in total.

    Examples
    --------
    In three of four questions the gold has the feature: the odds are 3 to 1, and the weight is
    their logarithm.

    >>> told = Example(features=np.array([[1.0], [0.0]]), gold=np.array([True, False]))
    >>> missed = Example(features=np.array([[1.0], [0.0]]), gold=np.array([False, True]))
    >>> float(np.exp(fit_weights([[told, told, told, missed]], l2=0.0)).round(6)[0])
    3.0
    """
    count = next((e.features.shape[1] for examples in sets for e in examples), 0)
    return smallest(Loss(sets, l2=l2), np.zeros(count) if signs is None else signs)


class Convex(Protocol):
    """A convex function of weights."""

    def value(self, weights: Array, /) -> float:
        """Return the value."""

    def slopes(self, weights: Array, /) -> tuple[Array, Array]:
        """Return the gradient, (F,), and the second derivatives, (F, F)."""


def smallest(loss: Convex, signs: Array) -> Array:
    """Return the weights of the given signs with the smallest loss; (F,).

    Parameters
    ----------
    signs
        For each weight 1 if it must not be below 0, -1 if not above 0, 0 if it is free; (F,).

    Notes
    -----
    Newton's method from 0, with the weights that stand at 0 and would leave their side held there;
    a step that does not lower the loss enough is halved. Source: D. Bertsekas, "Projected Newton
    Methods for Optimization Problems with Simple Constraints", 1982.
    """
    weights = np.zeros_like(signs)
    for _ in range(MAX_STEPS):
        gradient, curvature = loss.slopes(weights)
        moving = (weights != 0) | (gradient * signs <= 0)
        if not moving.any():
            return weights
        step = np.zeros_like(weights)
        step[moving] = np.linalg.solve(curvature[np.ix_(moving, moving)], gradient[moving])
        promised = float(gradient @ step)
        if promised <= TOLERANCE:
            return _on_side(weights - step, signs)
        size, value = 1.0, loss.value(weights)
        after = _on_side(weights - step, signs)
        while loss.value(after) > value - SUFFICIENT * size * promised and size > MIN_STEP:
            size /= 2
            after = _on_side(weights - size * step, signs)
        if size <= MIN_STEP:  # held back by its side alone: nothing is left to gain
            return weights
        weights = after
    return weights


def _on_side(weights: Array, signs: Array) -> Array:
    """Put weights that left their side back to 0."""
    return np.where(weights * signs < 0, 0.0, weights)
