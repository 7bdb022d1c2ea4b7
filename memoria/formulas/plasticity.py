"""How weights change with use: the terms of Oja's rule, decay, and the numbers of the sources.

In: weights, energies, hours. Out: weights. Touches nothing. The queries in ``cypher/learn`` apply
the terms; ``tests/oracle/learning.py`` is the reference for what they compute.
"""

from __future__ import annotations

import math

#: Amount that one use adds to the weight of an edge (source: 000).
INCREMENT = 0.1
#: The highest weight, and the highest ``lif_weight`` (source: 000).
MAX_WEIGHT, MAX_LIF_WEIGHT = 1.0, 2.0
#: Learning rate of Oja's rule; weight under which a learned edge is pruned (source: 003).
ETA, MIN_WEIGHT = 0.05, 0.01
#: Number of co-activations that create an edge, and the days within which they must happen
#: (source: 003).
CO_ACTIVATIONS, WINDOW_DAYS = 3, 7.0
#: Rate at which a learned gain decays exponentially; per hour without use (source: 003, rho).
DECAY_PER_HOUR = 0.01

DAY_S = 86_400.0


def oja_terms(earlier: float, later: float, *, eta: float = ETA) -> tuple[float, float]:
    """Return the gain and the loss of one update by Oja's rule, ``gain - loss * weight``.

    The activations are those of two memories, 0 to 1, of which the later one was activated later.
    The loss grows with the weight, which keeps the weight bounded. Source: 003, Oja's rule.

    >>> gain, loss = oja_terms(0.8, 0.4)
    >>> round(gain - loss * 0.5, 6)
    0.012
    """
    return eta * (earlier * later), eta * (later * later)


def decayed(weight: float, base: float, hours: float, *, rate: float = DECAY_PER_HOUR) -> float:
    """Let the learned part of a weight, which is above its base, fade exponentially.

    Parameters
    ----------
    weight, base
        The weight now, and the weight that a writer gave; a weight at or below its base stays.
    hours
        Time since the last use; hours, >= 0.
    rate
        Per hour, >= 0.

    Notes
    -----
    Source: 003, temporal decay with rho = 0.01. That only the learned part decays is
    memoria's own rule.

    >>> round(decayed(1.0, 0.6, 24.0), 6), decayed(0.5, 0.6, 24.0), decayed(0.7, 0.6, 0.0)
    (0.914651, 0.5, 0.7)
    """
    gain = weight - base
    if gain <= 0 or hours <= 0:
        return weight
    return base + gain * math.exp(-rate * hours)
