"""Spreading activation with suppression: passing on, fading, inhibition, squashing (source: 003).

In: numbers. Out: numbers. Touches nothing.
"""

from __future__ import annotations

import math

MAX_STEPS = 3
DECAY_FACTOR = 0.5
SPREAD_FACTOR = 0.8
MIN_ACTIVATION = 0.01
TEMPORAL_DECAY_RATE = 0.01
# The source describes inhibition but gives no numbers; these are memoria's own.
INHIBITION_THRESHOLD = 0.5
INHIBITION_STRENGTH = 0.15
SIGMOID_SLOPE = 10.0
SIGMOID_CENTRE = 0.3


def faded(weight: float, age_hours: float, rate: float = TEMPORAL_DECAY_RATE) -> float:
    """Return the part of an edge's weight that is left: weight * e^(-rate * age).

    Parameters
    ----------
    age_hours
        Hours since the edge was last used; a negative age (a clock that is behind) counts as 0.
    rate
        Rate of the decay, per hour of age; >= 0.

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
    """Return the energy that one edge carries: its share of one of the source's four pools.

    Parameters
    ----------
    energy
        Energy that the source passes on; >= 0.
    weight
        Weight of the edge, as it has `faded`; 0 to 1.
    count
        Number of edges of the same category at the source, >= 1. The categories are positive,
        conflict, directional suppression and affinity; edges of other categories are not counted
        (source: 003, "Why four denominators?").

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
    """Return the activation that is left after lateral inhibition.

    Parameters
    ----------
    activation
        Activation of the memory; >= 0.
    strongest
        Highest activation among the neighbours; a neighbour above the threshold weakens memories
        that are less active.

    Notes
    -----
    The activation is multiplied, not reduced by a fixed amount: if the difference to a seed of 1
    were subtracted, every memory more than three edges from the seed would fall to 0.

    >>> round(inhibited(0.4, 1.0), 3), inhibited(0.4, 0.5), inhibited(0.9, 0.8)
    (0.364, 0.4, 0.9)
    """
    difference = strongest - activation
    if strongest <= threshold or difference <= 0:
        return activation
    return activation * max(0.0, 1.0 - strength * difference)


def squashed(activation: float) -> float:
    """Return 1 / (1 + e^(-10 * (x - 0.3))): nearly 0 for a low activation, nearly 1 for a high one.

    Source: 003, sigmoid squashing.

    >>> squashed(0.3), round(squashed(0.0), 3), round(squashed(1.0), 3)
    (0.5, 0.047, 0.999)
    """
    return 1.0 / (1.0 + math.exp(-SIGMOID_SLOPE * (activation - SIGMOID_CENTRE)))
