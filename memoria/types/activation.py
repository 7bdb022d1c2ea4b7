"""How memories came by their energy, where many edges bring energy to one memory.

Energies have no unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Direction = Literal["out", "in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """The energy that one edge brought to a memory in one step.

    Attributes
    ----------
    step
        Step of the run, from 1.
    source
        Id of the memory that the energy came from.
    relation
        Relation of the edge; "" for an edge without one.
    direction
        ``out`` when the stored edge points away from the source, else ``in``.
    weight
        Weight of the edge that was used in the calculation.
    energy_in, energy_out
        Energy that the source passed on, and the part of it that arrived; an ``energy_out`` below 0
        means that the source suppressed the memory.
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
        Id of the memory.
    energy
        Energy at the end of the run: that of the hops that lead to the memory.
    source
        What activated the memory, in a word of the strategy such as ``synaptic``; ``seed`` for a
        seed.
    shares
        The parts that add up to the energy, by name, such as ``start`` and ``received``.
    contributions
        The contributions that arrived, by step, then by source.
    """

    id: str
    energy: float
    source: str
    shares: Mapping[str, float] = field(default_factory=dict)
    contributions: tuple[Contribution, ...] = ()
