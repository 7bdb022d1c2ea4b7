"""Raise what stands beside likely memories in one text: the turns of a talk, the parts of a note.

In: the sums of candidates, and which of them stand side by side. Out: sums. Touches nothing.

What answers a question is often a run of turns, and few of them hold the words of the question or
say much alone. The features of links give such a turn little, because it matches little itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memoria.ranking.substance import substance

Array = NDArray[np.float64]

#: A relation joins what stands side by side if its name holds one of these: `next`, `NEXT_CHUNK`,
#: `REPLY`.
ORDER_WORDS = ("next", "reply")
# What a memory hands on of its odds, over one edge and over two. Constants, not a fit, as only two
# sets have an order; docs/quality.md says what other shares do.
_SHARES = (0.1, 0.05)

#: Id -> id of each candidate beside it -> share of the other's odds that it gets, > 0.
Shares = Mapping[str, Mapping[str, float]]


def beside_of(
    texts: Mapping[str, str], joined: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return what each candidate gets of the odds of those that stand one or two places away.

    A text of courtesies, such as "Thanks!", follows an answer and gets nothing of its odds.

    Parameters
    ----------
    texts
        Id -> text of each candidate.
    joined
        Id -> ids right before and after it.
    """
    near = {id_: texts.keys() & joined.get(id_, ()) for id_ in texts}
    found: dict[str, dict[str, float]] = {}
    for id_, one in near.items():
        if one and (said := substance(texts[id_])):
            two = {far for other in one for far in near[other]}
            found[id_] = {
                **dict.fromkeys(sorted(two - one - {id_}), _SHARES[1] * said),
                **dict.fromkeys(sorted(one), _SHARES[0] * said),
            }
    return found


def with_beside(sums: Array, ids: Sequence[str], shares: Shares) -> Array:
    """Return the sums of candidates, each with what it gets from those beside it.

    The odds of a memory, e to the power of its sum, grow by the most that one of the others hands
    on: its share of that one's odds.

    Parameters
    ----------
    sums
        Sum of each candidate; (N,).
    ids
        Their ids.
    shares
        As `beside_of` returns them.

    Returns
    -------
    Array
        (N,), nowhere below ``sums``, and the same where nothing has an order.
    """
    if not shares:
        return sums
    sum_of = dict(zip(ids, sums.tolist(), strict=True))
    handed = [
        max(
            (sum_of[other] + math.log(share) for other, share in shares.get(id_, {}).items()),
            default=-math.inf,
        )
        for id_ in ids
    ]
    found: Array = np.logaddexp(sums, handed)
    return found
