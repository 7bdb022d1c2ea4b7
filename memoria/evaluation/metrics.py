"""Recall at k, with its uncertainty.

In: rankings and the ids of the evidence. Out: means with 95 % bootstrap intervals.
Touches nothing; the same input gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SAMPLES = 5_000
SEED = 0
LEVEL = 0.95
_CELLS_AT_ONCE = 4_000_000

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean over questions, and the interval that holds 95 % of the resampled means.

    Attributes
    ----------
    mean, low, high
        The mean, and both ends of the interval, on the scale of the values.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """The scores of each question.

    Attributes
    ----------
    ks
        The k of recall@k; K of them.
    recall
        Share of the gold that is among the first k, 0 to 1; (questions, K).
    full
        1 if all of the gold is among the first k, else 0; (questions, K).
    """

    ks: tuple[int, ...]
    recall: Array
    full: Array


def score(
    gold: Mapping[str, Sequence[str]], rankings: Mapping[str, Sequence[str]], ks: Sequence[int]
) -> Scores:
    """Score the ranking of each question; a question without a ranking scores 0.

    Parameters
    ----------
    gold
        Id of a question -> ids of its evidence, at least one; in the order of the rows.
    rankings
        Id of a question -> ids, best first; if an id comes twice, the first place counts.

    Examples
    --------
    >>> score({"q": ["a", "b"]}, {"q": ["a", "x", "b"]}, [1, 2, 3]).recall.tolist()
    [[0.5, 0.5, 1.0]]
    """
    recall = np.zeros((len(gold), len(ks)))
    full = np.zeros((len(gold), len(ks)))
    for row, (id_, evidence) in enumerate(gold.items()):
        wanted = set(evidence)
        ranked = list(dict.fromkeys(rankings.get(id_, ())))
        for column, k in enumerate(ks):
            found = len(wanted.intersection(ranked[:k]))
            recall[row, column] = found / len(wanted)
            full[row, column] = found == len(wanted)
    return Scores(ks=tuple(ks), recall=recall, full=full)


def bootstrap(values: Array) -> list[Interval]:
    """Return the mean of each column with its interval, by resampling the rows.

    Parameters
    ----------
    values
        A row for each question, a column for each figure; (N, M), N >= 1.

    Notes
    -----
    Percentiles of the means of `SAMPLES` draws of N rows with replacement. Source: Efron and
    Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.

    Examples
    --------
    >>> bootstrap(np.array([[0.5], [0.5]]))
    [Interval(mean=0.5, low=0.5, high=0.5)]
    """
    rng = np.random.default_rng(SEED)
    count = len(values)
    means = np.empty((SAMPLES, values.shape[1]))
    step = max(1, _CELLS_AT_ONCE // count)
    for start in range(0, SAMPLES, step):
        size = min(step, SAMPLES - start)
        drawn = rng.integers(0, count, size=(size, count))
        drawn += np.arange(size)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        means[start : start + size] = times @ values / count
    tail = 100 * (1 - LEVEL) / 2
    low, high = np.percentile(means, [tail, 100 - tail], axis=0)
    return [
        Interval(mean=float(mean), low=float(low_), high=float(high_))
        for mean, low_, high_ in zip(values.mean(axis=0), low, high, strict=True)
    ]
