"""Prefer memories from the time that a question is about.

In: the sums or the ranking of candidates, and the window. Out: new sums or a new ranking. Touches
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from memoria.recall.ranking.candidates import Candidate
from memoria.types import RankedMemory
from memoria.types.window import TimeWindow

Array = NDArray[np.float64]

# The odds of a memory inside the window are multiplied by e to the power of this, about 7. Not
# fitted: with less, another month often comes first; with more, another subject of the same month.
LIFT = 2.0
# In order of time, the logarithm of the score drops by this much from each memory to the next.
_STEP = 0.005


def with_window(sums: Array, times: Sequence[datetime | None], window: TimeWindow | None) -> Array:
    """Return the sums of candidates, plus `LIFT` for each memory made inside the window.

    If all or none are inside, the sums stay as they are.
    """
    if window is None:
        return sums
    inside = np.array([window.has(time) for time in times])
    return sums if inside.all() else sums + LIFT * inside


def in_order_of_time(candidates: Iterable[Candidate]) -> tuple[RankedMemory, ...]:
    """Rank candidates from the earliest to the latest, without a relevance."""
    earliest = datetime.min.replace(tzinfo=UTC)
    found = sorted(candidates, key=lambda one: (one.memory.created_at or earliest, one.memory.id))
    return tuple(
        RankedMemory(
            memory=one.memory,
            path=one.path,
            score=math.exp(-_STEP * place),
            features={"in_window": 1.0},
            shares={"in_window": -_STEP * place},
        )
        for place, one in enumerate(found)
    )
