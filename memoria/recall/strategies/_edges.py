"""The strongest edges at given memories: a step that several strategies use.

In: memories with energies. Out: a step to send, then the `Edge`s of its answer. Touches nothing.
Query: ``strategies.edges``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoria.recall.strategies.base import RunInput, Step
from memoria.types import Direction

#: The most edges of a connector whose edges are followed both ways. They have no direction: what is
#: joined to a topic is joined to all that speaks of it. But a strategy that does not divide energy
#: by the number of edges would pass on all of it to each message of a speaker.
CONNECTOR_EDGES = 60
#: A query's limit lies slightly below the smallest signal, so that rounding in the database loses
#: no edge; Python then decides exactly.
SLACK = 1 - 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """An edge as a strategy follows it, from ``source`` to ``target``.

    ``direction`` is ``out`` if the edge is stored in this direction; ``degree`` is the degree of
    the source.
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
        """Sort key that starts with ids, so that sums do not depend on the order of the answer."""
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
    """Ask for the strongest edges at these memories; `edges_of` reads the answer.

    Parameters
    ----------
    frontier
        Id of each memory -> its energy, >= 0.
    limit
        Largest number of edges in all; those with the highest energy * weight are kept.
    floor
        Edges with a lower energy * weight are left out.
    both_ways
        Relations that are also followed against their stored direction; None for all relations.
        The edges of connectors are, if a connector has `CONNECTOR_EDGES` at most.
    max_lif_weight
        ``lif_weight`` counts up to this value, instead of ``weight``; None to use only ``weight``.
    """
    parameters = {
        "both_ways": None if both_ways is None else list(both_ways),
        "connector_edges": CONNECTOR_EDGES,
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
    """Read the edges from an answer to `edges_step`."""
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
