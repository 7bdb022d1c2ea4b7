"""The ledger of a strategy under which memories are activated by many edges at once.

Energies have no unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Direction = Literal["out", "in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What one edge brought to a memory in one step.

    Attributes
    ----------
    step
        Step of the run, from 1.
    source
        Id of the memory it came from.
    relation
        What the edge says; "" where it says nothing.
    direction
        ``out`` when the stored edge points away from the source, else ``in``.
    weight
        Weight that counted.
    energy_in, energy_out
        Energy that the source had to pass on, and what of it arrived; below 0: it suppressed.
    """

    step: int
    source: str
    relation: str
    direction: Direction
    weight: float
    energy_in: float
    energy_out: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """How a memory came by its energy.

    Attributes
    ----------
    id
        Of the memory.
    energy
        What it ended with: the energy of the hops that lead to it.
    source
        The strategy's mark of what it activated, such as ``synaptic``; ``seed`` for a seed.
    shares
        What the energy is the sum of, by name, such as ``start`` and ``received``.
    contributions
        What arrived, by step, then source.
    """

    id: str
    energy: float
    source: str
    shares: Mapping[str, float] = field(default_factory=dict)
    contributions: tuple[Contribution, ...] = ()
