"""Fuse a vector list and a full-text list into one score per memory.

In: two ranked lists of (id, raw score). Out: id -> fused value; divided by the best value, it is R.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Hits = Sequence[tuple[str, float]]


def reciprocal_rank_fusion(lists: Sequence[Hits], *, k: float = 60.0) -> dict[str, float]:
    """Add up ``1 / (k + rank)`` over the lists that contain an id; ranks count from 1.

    Cost: linear in the number of entries. Source: Cormack, Clarke and Buettcher, SIGIR 2009.

    >>> fused = reciprocal_rank_fusion([[("a", 0.9), ("b", 0.8)], [("b", 7.0)]])
    >>> fused["b"] > fused["a"]
    True
    """
    fused: dict[str, float] = {}
    for hits in lists:
        for rank, (node, _) in enumerate(hits, start=1):
            fused[node] = fused.get(node, 0.0) + 1.0 / (k + rank)
    return fused


def linear_fusion(vector: Hits, text: Hits, *, alpha: float = 0.5) -> dict[str, float]:
    """Return ``alpha`` * cosine, clamped to [0, 1], plus ``1 - alpha`` times BM25 / best BM25.

    A list that does not contain an id adds nothing to its value. Ids whose value is 0 are left
    out. Where one list is empty, the other list counts alone, whatever ``alpha`` is.

    >>> linear_fusion([("a", 0.8)], [("a", 6.0), ("b", 3.0)], alpha=0.5)
    {'a': 0.9, 'b': 0.25}
    """
    if not (vector and text):
        alpha = 1.0 if vector else 0.0
    best = max((score for _, score in text), default=0.0)
    fused: dict[str, float] = {}
    for node, cosine in vector:
        fused[node] = alpha * min(max(cosine, 0.0), 1.0)
    for node, score in text:
        fused[node] = fused.get(node, 0.0) + (1 - alpha) * (score / best if best > 0 else 0.0)
    return {node: value for node, value in fused.items() if value > 0}


def scaled(fused: Mapping[str, float]) -> list[tuple[str, float]]:
    """Divide by the best value: return (id, R), R in (0, 1], best first, ties by id.

    >>> scaled({"b": 0.5, "a": 0.5, "c": 0.25})
    [('a', 1.0), ('b', 1.0), ('c', 0.5)]
    """
    best = max(fused.values(), default=1.0)
    return sorted(
        ((node, value / best) for node, value in fused.items()),
        key=lambda item: (-item[1], item[0]),
    )
