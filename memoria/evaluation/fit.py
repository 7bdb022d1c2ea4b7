"""Fit the weights of a linear model that ranks candidates.

In: the candidates of questions, with features and gold, by set. Out: a weight for each feature.
Touches nothing; the same input gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memoria.errors import InvalidInputError

L2 = 3e-4
MAX_STEPS = 100
MIN_STEP = 1e-6
# A step is halved if it brings less than this share of the decrease that the slope promises
# (Armijo).
SUFFICIENT = 1e-4
# The fit ends when the slope promises a smaller decrease of the loss than this.
TOLERANCE = 1e-12
# Where all sets agree no regret is left, and the second derivatives would have no inverse.
LEAST_REGRET = 1e-9

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
    """How badly weights rank the candidates of a set's questions.

    Notes
    -----
    For a question with candidates x_i, of which g are gold, the loss under weights w is::

        -sum over gold i of (1/g) log p_i,    p_i = exp(w x_i) / sum over j of exp(w x_j)

    The losses of the questions are averaged; a question without gold among its candidates has none.
    ``l2`` / 2 times w w is added, so that there is only one minimum. With one gold candidate, this
    is the conditional logit; with several, the cross entropy of ListNet with the shares of the gold
    as target.

    Source: D. McFadden, "Conditional Logit Analysis of Qualitative Choice Behavior", 1974; Z. Cao
    et al., "Learning to Rank: From Pairwise Approach to Listwise Approach", ICML 2007, top one
    probabilities and their cross entropy.

    Raises
    ------
    InvalidInputError
        No question has gold among its candidates.
    """

    def __init__(self, examples: Sequence[Example], *, l2: float = L2) -> None:
        used = [example for example in examples if example.gold.any()]
        if not used:
            raise _nothing_to_fit(len(examples))
        sizes = [len(example.gold) for example in used]
        self._features = np.concatenate([example.features for example in used])
        self._target = np.concatenate([e.gold / e.gold.sum() for e in used]) / len(examples)
        self._importance = 1 / len(examples)
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
        weighed = shares * self._importance
        gradient = (weighed - self._target) @ self._features + self._l2 * weights
        means = np.add.reduceat(shares[:, None] * self._features, self._starts)
        curvature = (self._features.T * weighed) @ self._features
        curvature -= self._importance * means.T @ means
        return gradient, curvature + self._l2 * np.eye(len(weights))

    def _log_shares(self, weights: Array) -> Array:
        scores = self._features @ weights
        scores -= np.maximum.reduceat(scores, self._starts)[self._of]
        totals = np.add.reduceat(np.exp(scores), self._starts)
        shares: Array = scores - np.log(totals)[self._of]
        return shares


class Regret:
    """How much worse weights rank each set than weights of its own do: squared, and added up.

    Notes
    -----
    The regret of a set is its `Loss` less the smallest loss that weights of the same signs reach on
    it. Squares keep any one set from paying much for the others: by the mean loss, several sets of
    one kind outvote the only one of another kind, and what the fit has not seen is of another kind
    again. The sum is convex, as no regret is below 0.

    Source: A. Agarwal & T. Zhang, "Minimax Regret Optimization for Robust Machine Learning under
    Distribution Shift", COLT 2022, whose greatest regret is softened to squares here.
    """

    def __init__(self, losses: Sequence[Loss], signs: Array) -> None:
        self._losses = [(loss, loss.value(smallest(loss, signs))) for loss in losses]

    def value(self, weights: Array) -> float:
        """Return the sum of the squares."""
        return sum(_regret(loss, least, weights) ** 2 for loss, least in self._losses)

    def slopes(self, weights: Array) -> tuple[Array, Array]:
        """Return the gradient of the sum, (F,), and its second derivatives, (F, F)."""
        gradient = np.zeros_like(weights)
        curvature = np.zeros((len(weights), len(weights)))
        for loss, least in self._losses:
            regret = _regret(loss, least, weights)
            slope, bend = loss.slopes(weights)
            gradient += 2 * regret * slope
            curvature += 2 * (regret * bend + np.outer(slope, slope))
        return gradient, curvature


def fit_weights(
    sets: Sequence[Sequence[Example]], *, l2: float = L2, signs: Array | None = None
) -> Array:
    """Return the weights of the given signs with the smallest `Loss`; of several sets, `Regret`.

    A feature that is the same for all candidates of a question, in every question, gets 0.

    Parameters
    ----------
    sets
        The questions of each set; each set counts the same, however many questions it has. There
        must be at least one candidate, and all candidates must have the same features.
    l2
        Strength of the pull towards 0; > 0, or 0 if in no set a feature can be derived from the
        others.
    signs
        For each feature 1 if its weight must not be below 0, -1 if not above 0, 0 if free; (F,).
        None: all are free.

    Returns
    -------
    array
        A weight for each feature; (F,).

    Raises
    ------
    InvalidInputError
        No question has gold among its candidates; or ``l2`` is 0, and many weights fit a set alike.

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
    known = [examples for examples in sets if any(example.gold.any() for example in examples)]
    if not known:
        raise _nothing_to_fit(sum(map(len, sets)))
    if signs is None:
        signs = np.zeros(known[0][0].features.shape[1])
    losses = [Loss(examples, l2=l2) for examples in known]
    return smallest(losses[0] if len(losses) == 1 else Regret(losses, signs), signs)


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

    Raises
    ------
    InvalidInputError
        The second derivatives have no inverse: many weights have the same loss.

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
        try:
            step[moving] = np.linalg.solve(curvature[np.ix_(moving, moving)], gradient[moving])
        except np.linalg.LinAlgError as exc:
            raise InvalidInputError(
                "many weights fit equally well, as a feature tells nothing, or nothing that the "
                "others do not tell: l2 must be > 0, or the feature left out"
            ) from exc
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


def _regret(loss: Loss, least: float, weights: Array) -> float:
    return max(loss.value(weights) - least, LEAST_REGRET)


def _nothing_to_fit(asked: int) -> InvalidInputError:
    return InvalidInputError(
        f"for none of {asked} questions was any evidence found, so there is nothing to fit: ask "
        "more questions, or make fewer folds"
    )


def _on_side(weights: Array, signs: Array) -> Array:
    """Put weights that left their side back to 0."""
    return np.where(weights * signs < 0, 0.0, weights)
