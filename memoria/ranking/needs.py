"""Raise what likely memories need: a relation may say that one can't do without the other.

In: the sums of candidates, and which of them needs which. Out: sums. Touches nothing.

A tool that calls another, a rule that rests on a definition: who asks for the first has to have the
second, whatever its text says. No feature of links can say so much, because most relations only say
that two memories have to do with each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

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


def with_needs(sums: Array, ids: Sequence[str], needs: Mapping[str, Mapping[str, float]]) -> Array:
    """Return the sums of candidates, each with what it gets from those that need it.

    The odds of a memory, e to the power of its sum, grow by half of the odds of the likeliest
    memory that needs it, times the weight of the edge; and so on, over at most four edges.

    Parameters
    ----------
    sums
        Sum of each candidate; (N,).
    ids
        Their ids.
    needs
        Id -> id of each memory that it needs -> weight of the edge, > 0; more than 1 counts as 1.

    Returns
    -------
    Array
        (N,), nowhere below ``sums``, and the same where nothing is needed.

    Notes
    -----
    O(E) for E edges.
    """
    place = {id_: row for row, id_ in enumerate(ids)}
    edges = [
        (place[id_], place[other], math.log(_SHARE * min(weight, 1.0)))
        for id_, others in needs.items()
        if id_ in place
        for other, weight in others.items()
        if other in place
    ]
    if not edges:
        return sums
    source, target = np.array([edge[:2] for edge in edges], np.int64).T
    handed_on = np.array([edge[2] for edge in edges])
    found = sums
    for _ in range(HOPS):
        handed = np.full(len(sums), -np.inf)
        np.maximum.at(handed, target, found[source] + handed_on)
        found = np.logaddexp(sums, handed)
    return found
