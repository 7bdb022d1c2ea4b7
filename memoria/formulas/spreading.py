"""Spreading activation from anchors: what an edge passes on, and the final score (source: 004).

In: numbers. Out: numbers. Touches nothing.
"""

from __future__ import annotations

SPREADING_STRENGTH = 0.85
ITERATIONS = 3
WEIGHT_SIMILARITY = 0.5
WEIGHT_ACTIVATION = 0.3
WEIGHT_STRUCTURAL = 0.2
ANCHOR_TOP_K_EPISODES = 10
ANCHOR_TOP_K_FACTS = 10
MAX_EDGES = 500


def passed_on(activation: float, weight: float, strength: float = SPREADING_STRENGTH) -> float:
    """Return the activation that one edge adds to its end in one round.

    >>> round(passed_on(0.8, 0.5), 2)
    0.34
    >>> passed_on(0.8, 0.5, 0.0)
    0.0
    """
    return activation * weight * strength


def share_of_most(value: float, most: float) -> float:
    """Divide by the highest value, which gives a share in [0, 1]; 0 if the highest is 0.

    >>> share_of_most(1.5, 2.0), share_of_most(0.0, 0.0)
    (0.75, 0.0)
    """
    return value / most if most > 0 else 0.0
