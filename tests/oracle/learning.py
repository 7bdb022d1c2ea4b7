"""Learning in plain Python: the oracle of the queries in ``cypher/learn`` and of a scope's clock.

In: weights, activations, hours. Out: weights, hours.
"""

from __future__ import annotations

from memoria.formulas.plasticity import ETA, MAX_WEIGHT, oja_terms
from memoria.formulas.recency import MAX_PAUSE_HOURS


def strengthened(weight: float, increment: float, *, cap: float = MAX_WEIGHT) -> float:
    """Add to a weight, up to ``cap``; a weight above ``cap`` stays (source: 000)."""
    return max(weight, min(cap, weight + increment))


def oja(weight: float, earlier: float, later: float, *, eta: float = ETA) -> float:
    """Update a weight by ``W + eta * (A_i * A_j - A_j**2 * W)``, kept in [0, 1] (source: 003)."""
    gain, loss = oja_terms(earlier, later, eta=eta)
    return min(max(weight + (gain - loss * weight), 0.0), MAX_WEIGHT)


def active_hours_after(hours: float, elapsed: float) -> float:
    """Advance a clock by the time since its last use, of which at most an hour counts."""
    return hours + min(max(elapsed, 0.0), MAX_PAUSE_HOURS)
