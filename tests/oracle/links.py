"""Linking in plain Python: the oracle of the linkers.

In: memories, and which of them are linked, call by call. Out: the edges. Written for the eye, from
the definitions alone: all pairs, no index, no batches. Sources: 002, sections 5, 6 and 10; 004,
graph link creation. Where they are open:

- cosines are rounded to six decimals, which is what the server's single precision carries;
- a memory that was never linked stands at hour 0 of the scope's clock;
- a missing category is an empty one;
- a pair that both ends find is one edge; what is found again never gets weaker.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

Pair = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Item:
    """A memory; ``hours`` is None until it is linked."""

    id: str
    vector: Sequence[float]
    tags: frozenset[str] = frozenset()
    category: str | None = None
    topics: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    hours: float | None = None


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    dot = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return round(dot / (math.hypot(*one) * math.hypot(*other)), 6)


def composite(one: Item, other: Item) -> float:
    near = max(0.0, cosine(one.vector, other.vector))
    if near < 0.30:
        return 0.0
    every = one.tags | other.tags
    tags = len(one.tags & other.tags) / len(every) if every else 0.0
    category = 1.0 if (one.category or "") == (other.category or "") else 0.30
    apart = (one.hours or 0.0) - (other.hours or 0.0)
    return 0.55 * near + 0.20 * tags + 0.15 * category + 0.10 * math.exp(-(apart**2) / 128)


class LinkedScope:
    """A scope whose memories link themselves: its edges by pair, smaller id first."""

    def __init__(self) -> None:
        self.items: dict[str, Item] = {}
        self.edges: dict[Pair, float] = {}

    def add(self, items: Collection[Item]) -> None:
        self.items |= {item.id: item for item in items}

    def link_composite(self, ids: Collection[str], hours: float) -> None:
        self._learn(ids, hours)
        for id_ in ids:
            scored = self._scored(id_, composite)
            for other, score in scored[:5]:
                if score >= 0.40:
                    pair = (min(id_, other), max(id_, other))
                    self.edges[pair] = max(self.edges.get(pair, 0.0), score)

    def link_similarity(self, ids: Collection[str], hours: float) -> None:
        before = {id_ for id_ in ids if self.items[id_].hours is not None}
        self._learn(ids, hours)
        found: dict[Pair, float] = {}
        again: set[Pair] = set()
        for id_ in ids:
            for other, weight in self._similar(id_):
                pair = (min(id_, other), max(id_, other))
                found[pair] = max(found.get(pair, 0.0), weight)
                if id_ in before:
                    again.add(pair)
        for pair, weight in found.items():
            if pair in self.edges and pair in again:
                self.edges[pair] = min(1.0, self.edges[pair] + 0.1)
            else:
                self.edges[pair] = max(self.edges.get(pair, 0.0), weight)

    def _similar(self, id_: str) -> list[tuple[str, float]]:
        """The three nearest from 0.6 on; then three that share something."""
        nearest = self._scored(id_, lambda one, other: cosine(one.vector, other.vector))
        taken = [(other, near) for other, near in nearest[:3] if near >= 0.6]
        rest = {other: near for other, near in nearest if (other, near) not in taken}
        shared = {
            other: max(near, share)
            for other, near in rest.items()
            if (share := shared_share(self.items[id_], self.items[other])) > 0
        }
        return taken + [(o, w) for o, w in _strongest(shared)[:3] if w >= 0.10]

    def _scored(self, id_: str, score: object) -> list[tuple[str, float]]:
        assert callable(score)
        one = self.items[id_]
        return _strongest({o.id: score(one, o) for o in self.items.values() if o.id != id_})

    def _learn(self, ids: Collection[str], hours: float) -> None:
        for id_ in ids:
            if self.items[id_].hours is None:
                self.items[id_] = replace(self.items[id_], hours=hours)


def shared_share(one: Item, other: Item) -> float:
    """Jaccard of topics and entities."""
    mine = {("topic", topic) for topic in one.topics} | {("entity", e) for e in one.entities}
    theirs = {("topic", topic) for topic in other.topics} | {("entity", e) for e in other.entities}
    return len(mine & theirs) / len(mine | theirs) if mine & theirs else 0.0


def _strongest(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
