"""Spreading activation with suppression: what passes, fades, competes, and is on (source: 003).

In: numbers. Out: numbers. Touches nothing.
"""

from __future__ import annotations

import math

MAX_STEPS = 3
DECAY_FACTOR = 0.5
SPREAD_FACTOR = 0.8
MIN_ACTIVATION = 0.01
TEMPORAL_DECAY_RATE = 0.01
# The source names inhibition without figures; these are the design's.
INHIBITION_THRESHOLD = 0.5
INHIBITION_STRENGTH = 0.15
SIGMOID_SLOPE = 10.0
SIGMOID_CENTRE = 0.3


def faded(weight: float, age_hours: float, rate: float = TEMPORAL_DECAY_RATE) -> float:
    """Return what is left of an edge's weight: weight * e^(-rate * age).

    Parameters
    ----------
    age_hours
        Hours since the edge was last used; below 0, as of a clock that is behind, counts as 0.
    rate
        Share lost per hour of age; >= 0.

    Notes
    -----
    Source: 003, parameter TemporalDecayRate (rho).

    >>> round(faded(0.8, 0.0), 3), round(faded(0.8, 100.0), 3), faded(0.8, -5.0)
    (0.8, 0.294, 0.8)
    """
    return weight * math.exp(-rate * max(0.0, age_hours))


def passed_on(
    energy: float,
    weight: float,
    count: int,
    *,
    decay: float = DECAY_FACTOR,
    spread: float = SPREAD_FACTOR,
) -> float:
    """Return what one edge takes of a memory's energy: its share of one of the four pools.

    Parameters
    ----------
    energy
        Energy that the source passes on; >= 0.
    weight
        Weight of the edge, as it has `faded`; 0 to 1.
    count
        Edges of the same category at the source, >= 1: positive, conflict, directional
        suppression or affinity. The others never count (source: 003, "Why four denominators?").

    >>> passed_on(1.0, 1.0, 1), passed_on(1.0, 0.5, 2)
    (0.4, 0.1)
    """
    return (((energy * spread) * decay) * weight) / count


def inhibited(
    activation: float,
    strongest: float,
    *,
    threshold: float = INHIBITION_THRESHOLD,
    strength: float = INHIBITION_STRENGTH,
) -> float:
    """Return what lateral inhibition leaves of an activation.

    Parameters
    ----------
    activation
        Of the memory; >= 0.
    strongest
        Highest activation among its neighbours; one above the threshold damps what is weaker.

    Notes
    -----
    A share of the activation is taken, not that much of it: subtracted, the difference to a seed of
    1 would put out all that the seed reaches over more than three edges.

    >>> round(inhibited(0.4, 1.0), 3), inhibited(0.4, 0.5), inhibited(0.9, 0.8)
    (0.364, 0.4, 0.9)
    """
    difference = strongest - activation
    if strongest <= threshold or difference <= 0:
        return activation
    return activation * max(0.0, 1.0 - strength * difference)


def squashed(activation: float) -> float:
    """Return 1 / (1 + e^(-10 * (x - 0.3))): nearly 0 for what is off, nearly 1 for what is on.

    Source: 003, sigmoid squashing.

    >>> squashed(0.3), round(squashed(0.0), 3), round(squashed(1.0), 3)
    (0.5, 0.047, 0.999)
    """
    return 1.0 / (1.0 + math.exp(-SIGMOID_SLOPE * (activation - SIGMOID_CENTRE)))
