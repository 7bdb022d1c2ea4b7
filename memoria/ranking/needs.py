"""Raise what likely memories need: a relation may say that one can't do without the other.

In: the sums of candidates, and which of them needs which. Out: sums. Touches nothing.

A tool that calls another, a rule that rests on a definition: who asks for the first has to have the
second, whatever its text says. No feature of links can say so much, because most relations only say
that two memories have to do with each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: A relation says that its source needs its target if its name holds one of these: `depends_on`,
#: `REQUIRES`. The passive, as in `required_by`, says the opposite, and is no need of its source.
NEED_WORDS = ("depends", "requires", "needs")
# What a memory is needed for may itself be wrong: of its odds, half are handed on. A constant, not
# a fit, as hardly a set has such relations; docs/quality.md says what other shares do.
_SHARE = 0.5
#: Edges over which needs are followed.
HOPS = 4

#: Id -> id of each memory that it needs -> weight of the edge, > 0.
Needs = Mapping[str, Mapping[str, float]]


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
