"""How near two moments of a scope's clock, which counts hours of use, are to each other.

In: hours. Out: a proximity in (0, 1].
"""

from __future__ import annotations

import math

SIGMA_HOURS = 8.0
#: Of the time between two uses, the clock counts at most so much.
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
