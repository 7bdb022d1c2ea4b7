"""The strongest edges at any memories: a step that strategies share.

In: memories with energies. Out: a step to send, then `Edge`s from its answer. Touches nothing.
Query: ``strategies.edges``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoria.strategies.base import RunInput, Step
from memoria.types import Direction


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """An edge as a strategy follows it, from ``source`` to ``target``.

    ``direction`` is ``out`` where it is stored that way; ``degree`` that of the source.
    """

    source: str
    target: str
    relation: str
    direction: Direction
    weight: float
    tags: tuple[str, ...] = ()
    degree: int = 0

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort key: ids first, so that sums do not depend on the order of the answer."""
        return (self.target, self.source, self.relation, self.direction, self.tags, self.weight)


def edges_step(
    run_input: RunInput,
    frontier: Mapping[str, float],
    *,
    limit: int,
    floor: float = 0.0,
    both_ways: Sequence[str] | None = None,
    max_lif_weight: float | None = None,
) -> Step:
    """Ask for the strongest edges at memories; `edges_of` reads the answer.

    Parameters
    ----------
    frontier
        Id -> energy, >= 0.
    limit
        Edges in all, at most; those with most energy * weight.
    floor
        Edges of less energy * weight are left out.
    both_ways
        Relations that are followed against their stored direction too; None: all.
    max_lif_weight
        ``lif_weight`` counts up to this, in place of ``weight``; None: ``weight`` alone.
    """
    parameters = {
        "both_ways": None if both_ways is None else list(both_ways),
        "floor": float(floor),
        "frontier": [[node, float(energy)] for node, energy in frontier.items()],
        "held": run_input.validity.held,
        "limit": limit,
        "max_lif_weight": max_lif_weight,
        "max_weight": float(run_input.max_weight),
        "scope": run_input.scope,
    }
    return Step(query="strategies.edges", parameters=parameters)


def edges_of(record: Mapping[str, Any]) -> list[Edge]:
    """Read the edges of an answer to `edges_step`."""
    return [
        Edge(
            source=source,
            target=target,
            relation=relation,
            direction=direction,
            weight=weight,
            tags=tuple(map(str, tags)),
            degree=degree,
        )
        for source, target, relation, direction, weight, tags, degree in record["edges"]
    ]
