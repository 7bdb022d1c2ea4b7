"""Leaky integrate and fire: the signal that a neuron passes on, and when it fires (source: 000).

In: numbers. Out: numbers. Touches nothing.
"""

from __future__ import annotations

INITIAL_CHARGE = 1.0
FIRE_THRESHOLD = 0.5
LEAK_RATE = 0.85
MIN_SIGNAL = 0.02
MAX_HOPS = 3
MAX_WEIGHT = 2.0


def transmitted(
    signal: float,
    weight: float,
    *,
    leak_rate: float = LEAK_RATE,
    min_signal: float = MIN_SIGNAL,
) -> float:
    """Return the signal that arrives over an edge; 0 if it is below ``min_signal``.

    >>> round(transmitted(1.0, 0.9), 3)  # beach yoga to fitness
    0.765
    >>> transmitted(0.1, 0.2)  # 0.017
    0.0
    """
    signal = (signal * weight) * leak_rate
    return signal if signal >= min_signal else 0.0


def fires(potential: float, threshold: float = FIRE_THRESHOLD) -> bool:
    """Tell whether a potential has reached the threshold; a potential equal to it fires.

    >>> fires(0.5), fires(0.49)
    (True, False)
    """
    return potential >= threshold
