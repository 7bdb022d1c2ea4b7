"""Percentiles, and ratios with intervals.

In: numbers of one run. Out: fewer numbers. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAMPLES = 2_000

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """One number over another, with the interval that holds 95 % of its bootstrap."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3g} ({self.low:.3g} to {self.high:.3g})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One lever's times; ms, p50 and each, and the median of theirs over ours, case by case."""

    kept: str
    against: str
    ours_ms: float
    other_ms: float
    times: Ratio
    each_ours_ms: list[float]
    each_other_ms: list[float]


def percentile(values: Sequence[float], share: float) -> float:
    """Percentile of values, of which there must be some."""
    return float(np.percentile(np.array(values, dtype=float), share))


def share_of(percent: float) -> Statistic:
    """Return the function that takes this percentile of each row."""
    return lambda rows: np.percentile(rows, percent, axis=-1)


def ratio(
    above: Sequence[float],
    below: Sequence[float],
    *,
    of: Statistic | None = None,
    paired: bool = True,
) -> Ratio:
    """Compare a statistic, the median by default, of two lists.

    Parameters
    ----------
    paired
        Whether both lists answer the same cases in the same order: these are drawn together.
    """
    statistic = of or share_of(50)
    rng = np.random.default_rng(9)
    a, b = np.array(above, dtype=float), np.array(below, dtype=float)
    picks_a = rng.integers(len(a), size=(SAMPLES, len(a)))
    picks_b = picks_a if paired else rng.integers(len(b), size=(SAMPLES, len(b)))
    drawn = statistic(a[picks_a]) / statistic(b[picks_b])
    low, high = np.percentile(drawn, [2.5, 97.5])
    value = statistic(a[None, :])[0] / statistic(b[None, :])[0]
    return Ratio(value=float(value), low=float(low), high=float(high))


def ratio_of_each(above: Sequence[float], below: Sequence[float]) -> Ratio:
    """Take the median of each case's ratio: cases are shallow or deep, with few in between."""
    shares = [one / other for one, other in zip(above, below, strict=True)]
    return ratio(shares, [1.0] * len(shares))


def measured(
    kept: str, against: str, ours_ms: Sequence[float], other_ms: Sequence[float]
) -> Measured:
    """Compare two ways, whose times for the same cases are ms."""
    return Measured(
        kept=kept,
        against=against,
        ours_ms=percentile(ours_ms, 50),
        other_ms=percentile(other_ms, 50),
        times=ratio_of_each(other_ms, ours_ms),
        each_ours_ms=[round(value, 3) for value in ours_ms],
        each_other_ms=[round(value, 3) for value in other_ms],
    )


def common(
    first: Mapping[str, Any], second: Mapping[str, Any], column: str = "wall_ms"
) -> tuple[list[float], list[float]]:
    """Values of two contenders on the cases that both answered."""
    mine = dict(zip(first["case"], first[column], strict=True))
    theirs = dict(zip(second["case"], second[column], strict=True))
    cases = sorted(mine.keys() & theirs.keys())
    return [mine[case] for case in cases], [theirs[case] for case in cases]
