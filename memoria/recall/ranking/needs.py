"""Raise what likely memories need: a relation may say that one can't do without the other.

In: the sums of candidates, and which of them needs which. Out: sums. Touches nothing.

A tool that calls another, a rule that rests on a definition: who asks for the first has to have the
second, whatever its text says. No feature of links can say so much, because most relations only say
that two memories have to do with each other.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoria.types import Path
from memoria.types.roles import usual_names

Array = NDArray[np.float64]

#: Endings of relation names that say "the source needs the target". They apply if the scope
#: declares no needs, unless the shape of the graph contradicts them.
USUAL_NEED = usual_names(
    *("depends on", "depends upon", "requires", "needs"),
    *("abhängig von", "hängt ab von", "benötigt", "erfordert"),
    *("dépend de", "nécessite", "requiert", "depende de", "requiere", "necesita"),
)
# With fewer edges of a relation, a recall can't judge its shape.
_TELLING = 6
# Dependencies are shared: for five memories that need something, at most four are needed.
_SHARED = 1.25
# What a memory is needed for may itself be wrong: of its odds, half are handed on. A constant, not
# a fit, as hardly a set has such relations; docs/project/ranking.md says what other shares do.
_SHARE = 0.5
#: Edges over which needs are followed.
HOPS = 4

#: Id -> id of each memory that it needs -> weight of the edge, > 0.
Needs = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MayNeed:
    """An edge of a scope that declares no needs.

    Attributes
    ----------
    source, relation
        Id of the edge's source, and the edge's relation.
    incoming
        Number of edges of this relation that lead to the edge's target, >= 1.
    """

    source: str
    relation: str
    incoming: int


def undeclared_needs(edges: Iterable[MayNeed], *, perhaps: bool = False) -> set[str]:
    """Return the relations that seem to say needs, judged by the edges that a recall followed.

    Dependencies are shared: many tools need the same few. So a relation counts if there are at most
    four needed memories for every five that need something. The recall has seen only a part of the
    graph, so each edge counts only a fraction of the needed memory: one over its incoming edges.
    Calls in a code graph fail this test, because they lead to more functions than they come from.
    With fewer than six edges, only the usual names count. The usual names are judged together.

    Parameters
    ----------
    perhaps
        Whether to include relations that may turn out to say needs once more edges are known.

    Examples
    --------
    >>> tools = [MayNeed(source=f"tool {n}", relation="USES", incoming=9) for n in range(9)]
    >>> undeclared_needs(tools)
    {'USES'}
    >>> undeclared_needs(tools[:3])
    set()
    """
    groups: defaultdict[str, list[MayNeed]] = defaultdict(list)
    for edge in edges:
        groups["" if is_usual(edge.relation) else edge.relation].append(edge)
    found: set[str] = set()
    for name, group in groups.items():
        needing = len({edge.source for edge in group})
        needed = sum(1 / edge.incoming for edge in group)
        if len(group) < _TELLING:
            says = perhaps or not name
        else:
            # Relations without a usual name must pass from the first hop on, because each hop costs
            # a round trip.
            says = needing >= needed * (1 / _SHARED if perhaps and not name else _SHARED)
        if says:
            found |= {edge.relation for edge in group}
    return found


def is_usual(relation: str) -> bool:
    """Tell whether a relation's name says a need, for a scope that declares none.

    >>> is_usual("TOOL_DEPENDS_ON"), is_usual("USES")
    (True, False)
    """
    return relation.lower().endswith(USUAL_NEED)


def followed(paths: Iterable[Path], tags: Collection[str]) -> Needs:
    """Return the edges of paths that have one of some tags, each as a need of its start.

    A question that asks for these edges wants what they lead to.
    """
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    asked = frozenset(tags)
    for path in paths if asked else ():
        for hop in path.hops:
            if not asked.isdisjoint(hop.tags):
                found[hop.source][hop.target] = 1.0
    return dict(found)


def with_needs(sums: Array, ids: Sequence[str], needs: Needs) -> Array:
    """Return the sums of candidates, each with what it gets from those that need it.

    The odds of a memory, e to the power of its sum, grow by what the best of the others hands it
    over at most four edges: its odds, and for each edge half of them times its weight. Edges may
    lead over memories that are no candidates. Nothing comes back to where it came from, so memories
    that need each other don't lift themselves.

    Parameters
    ----------
    sums
        Sum of each candidate; (N,).
    ids
        Their ids.
    needs
        Who needs whom; a weight above 1 counts as 1.

    Returns
    -------
    Array
        (N,), nowhere below ``sums``, and the same where nothing is needed.

    Notes
    -----
    O(E S) for E edges and S candidates that need something.
    """
    place = {id_: row for row, id_ in enumerate(ids)}
    edges = [
        (
            place.setdefault(id_, len(place)),
            place.setdefault(other, len(place)),
            math.log(_SHARE) + math.log(min(weight, 1.0)),
        )
        for id_, others in needs.items()
        for other, weight in others.items()
    ]
    origins = np.array(sorted({edge[0] for edge in edges if edge[0] < len(ids)}), np.int64)
    if not origins.size:
        return sums
    source, target = np.array([edge[:2] for edge in edges], np.int64).T
    left = np.array([edge[2] for edge in edges])
    rows = np.arange(len(origins))
    reached = np.full((len(origins), len(place)), -np.inf)  # by chains of so many edges
    reached[rows, origins] = sums[origins]
    best = np.full(len(place), -np.inf)
    for _ in range(HOPS):
        handed = np.full_like(reached, -np.inf)
        np.maximum.at(handed.T, target, (reached[:, source] + left).T)
        handed[rows, origins] = -np.inf
        best = np.maximum(best, handed.max(axis=0))
        reached = handed
    found: Array = np.logaddexp(sums, best[: len(ids)])
    return found


def needed_by(ids: Iterable[str], needs: Needs) -> set[str]:
    """Return the ids of what memories need, over at most four edges; themselves only in a cycle."""
    found: set[str] = set()
    level = {*ids}
    for _ in range(HOPS):
        level = {other for id_ in level for other in needs.get(id_, ())}
        found |= level
    return found


def turned(needs: Needs) -> dict[str, dict[str, float]]:
    """Return who is needed by whom, from who needs whom; and the other way round.

    >>> turned({"a": {"b": 0.5}})
    {'b': {'a': 0.5}}
    """
    found: dict[str, dict[str, float]] = {}
    for id_, others in needs.items():
        for other, weight in others.items():
            found.setdefault(other, {})[id_] = weight
    return found
