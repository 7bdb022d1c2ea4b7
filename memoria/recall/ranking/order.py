"""Raise what stands among likely memories in one text: the turns of a talk, the parts of a note.

In: the sums of candidates, and which of them stand side by side. Out: sums. Touches nothing.

What answers a question is often a run of turns, and few of them hold the words of the question or
say much alone. The features of links give such a turn little, because it matches little itself.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memoria.recall.ranking.substance import substance

Array = NDArray[np.float64]

# Share of the odds of the second best that is passed on: one likely memory may be alone, two make a
# run. Not fitted, but chosen among several shares; see docs/project/ranking.md.
_SHARE = 0.35
# In a row a memory stands between two others.
_IN_A_ROW = 2

#: Id -> ids of the candidates at most two places away from it.
Adjacent = Mapping[str, Sequence[str]]


def adjacent_of(
    texts: Mapping[str, str], joined: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Return the candidates that stand one or two places away from each, by id.

    A text of courtesies, such as "Thanks!", is left out, as it says nothing. So is a memory with
    more than two adjacent ones, such as the first message of a thread: many follow it, and not each
    other.

    Parameters
    ----------
    texts
        Id -> text of each candidate.
    joined
        Id -> ids right before or after it; each pair may be named from one end or both.
    """
    near: defaultdict[str, set[str]] = defaultdict(set)
    for id_, others in joined.items():
        for other in others:
            if id_ in texts and other in texts:
                near[id_].add(other)
                near[other].add(id_)
    rows = {id_: one for id_, one in near.items() if len(one) <= _IN_A_ROW}
    found = {}
    for id_, one in rows.items():
        if substance(texts[id_]) > 0:
            two = {far for other in one for far in rows.get(other, ())}
            found[id_] = tuple(sorted((one | two) - {id_}))
    return found


def with_adjacent(sums: Array, by_query: Array, ids: Sequence[str], adjacent: Adjacent) -> Array:
    """Return the sums of candidates, each with what it gets from the run that it stands in.

    The odds of a memory, e to the power of its sum, grow by a third of the odds of the second best
    memory at most two places away. These other odds come from the query alone, because feedback on
    a memory says nothing about its neighbours.

    Parameters
    ----------
    sums
        Sum of each candidate; (N,).
    by_query
        The same without what learning adds; (N,).
    ids
        Their ids.
    adjacent
        As `adjacent_of` returns it.

    Returns
    -------
    Array
        (N,), nowhere below ``sums``, and the same where nothing has an order.
    """
    if not adjacent:
        return sums
    sum_of = dict(zip(ids, by_query.tolist(), strict=True))
    handed = np.full(len(ids), -np.inf)
    for row, id_ in enumerate(ids):
        if len(others := adjacent.get(id_, ())) > 1:
            handed[row] = math.log(_SHARE) + sorted(sum_of[other] for other in others)[-2]
    found: Array = np.logaddexp(sums, handed)
    return found
