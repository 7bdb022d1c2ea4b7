"""How weights change with use: strengthening, Oja's rule, decay, and when a pair counts.

In: weights, energies, hours. Out: weights. Touches nothing. The queries in ``cypher/learn``
compute the same formulas; `strengthened`, `oja` and `counts_as_affinity` are here as the reference
against which tests compare those queries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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


def strengthened(weight: float, increment: float, *, cap: float = MAX_WEIGHT) -> float:
    """Add to a weight, up to ``cap``; a weight that is already above ``cap`` stays.

    Parameters
    ----------
    weight, increment
        No unit, >= 0.

    Notes
    -----
    Source: 000, ``strengthen_edge``.

    >>> strengthened(0.5, 0.1), strengthened(0.95, 0.1), strengthened(1.95, 0.1, cap=2.0)
    (0.6, 1.0, 2.0)
    """
    return max(weight, min(cap, weight + increment))


def oja_terms(earlier: float, later: float, *, eta: float = ETA) -> tuple[float, float]:
    """Return the gain and the loss of one update by Oja's rule; see `oja`."""
    return eta * (earlier * later), eta * (later * later)


def oja(weight: float, earlier: float, later: float, *, eta: float = ETA) -> float:
    """Update a weight by Oja's rule: ``W + eta * (A_i * A_j - A_j**2 * W)``, kept in [0, 1].

    Parameters
    ----------
    weight
        W before the update; 0 to 1.
    earlier, later
        Activations A_i and A_j of the two memories, of which j was activated later; 0 to 1.
    eta
        Learning rate; 0 to 1.

    Returns
    -------
    float
        Between ``weight`` and the fixed point ``A_i / A_j``, and never outside [0, 1].

    Notes
    -----
    Source: 003, Oja's rule. The loss, ``A_j**2 * W``, grows with the weight, which
    keeps the weight bounded.

    >>> round(oja(0.5, 0.8, 0.4), 6), oja(1.0, 0.9, 0.3), round(oja(1.0, 0.2, 1.0), 6)
    (0.512, 1.0, 0.96)
    """
    gain, loss = oja_terms(earlier, later, eta=eta)
    return min(max(weight + (gain - loss * weight), 0.0), MAX_WEIGHT)


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


def counts_as_affinity(
    times: Sequence[float],
    now: float,
    *,
    needed: int = CO_ACTIVATIONS,
    window_days: float = WINDOW_DAYS,
) -> bool:
    """Tell whether a pair was activated together often enough, counting this time.

    Parameters
    ----------
    times, now
        Times of the earlier co-activations and of this one; epoch seconds.

    >>> day = 86_400.0
    >>> counts_as_affinity([0.0, day], 2 * day), counts_as_affinity([0.0, day], 7 * day)
    (True, False)
    """
    return 1 + sum(time > now - window_days * DAY_S for time in times) >= needed
