"""ACT-R base-level activation: how present a memory is, given its uses and its age.

In: uses and hours. Out: an activation, or a share in [0, 1]. Touches nothing.
"""

from __future__ import annotations

import math

DECAY = 0.5
CENTRE = -1.0
NEUTRAL = 0.5
# Younger memories count as one minute old, because the formula has no value at age 0.
MIN_AGE_HOURS = 1 / 60


def base_level(uses: int, age_hours: float, decay: float = DECAY) -> float:
    """Return ``ln(n * L^(-d) / (1 - d))``.

    Parameters
    ----------
    uses
        How often the memory was used (n); >= 1.
    age_hours
        Hours since the memory was made (L); less than a minute counts as a minute.
    decay
        How fast a memory is forgotten (d); at least 0, below 1.

    Notes
    -----
    Source: 003, ACT-R base-level activation; Anderson (2007).

    >>> [round(base_level(uses, age), 3) for uses, age in ((1, 1.0), (9, 1.0), (1, 24 * 365.0))]
    [0.693, 2.89, -3.846]
    """
    age = max(age_hours, MIN_AGE_HOURS)
    return math.log(uses) - decay * math.log(age) - math.log1p(-decay)


def base_level_share(uses: int, age_hours: float | None) -> float:
    """Scale to [0, 1] by a sigmoid around -1; 0.5 for a memory never used or of unknown age.

    >>> base_level_share(0, 5.0), base_level_share(3, None)
    (0.5, 0.5)
    >>> round(base_level_share(1, 1.0), 3)  # 1 / (1 + e^-1.693)
    0.845
    """
    if uses < 1 or age_hours is None:
        return NEUTRAL
    return 1.0 / (1.0 + math.exp(CENTRE - base_level(uses, age_hours)))
