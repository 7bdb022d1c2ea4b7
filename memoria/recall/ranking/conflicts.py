"""Put the newer of two memories that conflict first.

In: the sums of candidates, the candidates, and the edges among them. Out: sums. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from memoria.graph.vocabulary import CONFLICTS
from memoria.types import Edge, MemoryNode

Array = NDArray[np.float64]

# By how much the newer one exceeds the older one: enough for an order.
_MORE = 1e-9


def with_newer_first(
    sums: Array, memories: Mapping[str, MemoryNode], edges: Iterable[Edge]
) -> Array:
    """Give the newer of two conflicting memories at least the sum of the older one.

    Without two different times, the one that matches better stays first. The context shows the
    conflict; see `memoria.recall.context.arrange`.
    """
    pairs = []
    for edge in edges:
        one, other = memories.get(edge.source), memories.get(edge.target)
        if edge.relation != CONFLICTS or one is None or other is None:
            continue
        if one.created_at and other.created_at and one.created_at != other.created_at:
            older, newer = (one, other) if one.created_at < other.created_at else (other, one)
            pairs.append((older.created_at, older.id, newer.id))
    if not pairs:
        return sums
    row_of = {id_: row for row, id_ in enumerate(memories)}
    found = sums.copy()
    for _, older_id, newer_id in sorted(pairs):
        least = found[row_of[older_id]] + _MORE
        found[row_of[newer_id]] = max(found[row_of[newer_id]], least)
    return found
