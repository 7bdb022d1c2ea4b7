"""The time of a scope: its hours of use, and how near two moments are to each other.

In: hours. Out: hours, or a proximity in (0, 1].
"""

from __future__ import annotations

import math

SIGMA_HOURS = 8.0
MAX_PAUSE_HOURS = 1.0


def temporal_proximity(one: float, other: float, *, sigma: float = SIGMA_HOURS) -> float:
    """Return the Gaussian of a time difference: 1 at the same hour, 0.61 at ``sigma`` hours.

    Parameters
    ----------
    one, other
        Moments on the scope's clock; hours of use.
    sigma
        Distance at which the proximity is exp(-1/2); hours of use, > 0.

    Notes
    -----
    Source: 002, section 5.

    >>> temporal_proximity(3.0, 3.0), round(temporal_proximity(0.0, 8.0), 4)
    (1.0, 0.6065)
    """
    apart = one - other
    return math.exp(-(apart * apart) / (2.0 * sigma * sigma))


def active_hours_after(
    hours: float, elapsed: float, *, max_pause: float = MAX_PAUSE_HOURS
) -> float:
    """Advance a scope's clock by the time since its last use, of which at most an hour counts.

    The clock never goes back, even if the wall clock does. The query ``graph.advance_clock``
    computes the same in the database; this function is the reference for its tests.

    Parameters
    ----------
    hours
        Reading of the clock at the last use; hours of use, >= 0.
    elapsed
        Wall-clock hours since the last use; negative if the wall clock was set back.

    >>> active_hours_after(5.0, 0.25), active_hours_after(5.0, 100.0), active_hours_after(5.0, -3.0)
    (5.25, 6.0, 5.0)
    """
    return hours + min(max(elapsed, 0.0), max_pause)
