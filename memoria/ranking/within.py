"""Prefer what was made in the time that a question is about.

In: the sums or the ranking of candidates, and the window. Out: the same, moved. Touches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from memoria.ranking.candidates import Candidate
from memoria.types import RankedMemory
from memoria.types.window import TimeWindow

Array = NDArray[np.float64]

# The odds of a memory inside grow by e to the power of this, seven times. Not fitted: with less,
# another month often comes first; with more, another subject of the month.
LIFT = 2.0
# In order of time, each memory has so much less than the one before it, as a logarithm.
_STEP = 0.005


def with_window(sums: Array, times: Sequence[datetime | None], window: TimeWindow | None) -> Array:
    """Return the sums of candidates, with `LIFT` more for each that was made in a window.

    Where all or none were, the sums stay as they are.
    """
    if window is None:
        return sums
    inside = np.array([window.has(time) for time in times])
    return sums if inside.all() else sums + LIFT * inside


def in_order_of_time(candidates: Iterable[Candidate]) -> tuple[RankedMemory, ...]:
    """Rank candidates from the earliest to the latest; how likely each is remains unknown."""
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
