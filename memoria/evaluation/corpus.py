"""The memories and edges of a scope, which baselines rank; read from the store once.

In: a store, a scope, kinds. Out: `Items`, `Graph`. Reads only, page by page.
Queries: ``evaluation.items``, ``evaluation.edges``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoria.graph.server_facts import current_facts
from memoria.recall.examples import unit_vectors
from memoria.store import Store
from memoria.store.queries import load

ITEM_PAGE = 1_000
SOURCE_PAGE = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """The ranked memories of a scope.

    Attributes
    ----------
    ids, texts
        Ids and texts, sorted by id; N of each.
    vectors
        One row per memory, (N, D), of length 1; zeros for a memory without a vector.
    made_ms
        Time of each memory, (N,); milliseconds since 1970, infinite if it has no time.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    vectors: NDArray[np.float64]
    made_ms: NDArray[np.float64]

    def before(self, time: datetime | None) -> NDArray[np.bool_]:
        """Tell which memories were made before ``time``; all of them if it is None; (N,)."""
        if time is None:
            return np.ones(len(self.ids), dtype=bool)
        return self.made_ms < 1_000 * time.timestamp()


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A scope's edges, in both directions.

    Attributes
    ----------
    ids
        Ids of all memories, sorted; M of them.
    sources, targets
        Places in ``ids``; two entries for each edge.
    shares
        Weight of each entry, divided by the sum of the weights that leave its source.
    """

    ids: tuple[str, ...]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    shares: NDArray[np.float64]


class Corpus:
    """Reads the memories and edges of scopes, each scope once."""

    def __init__(self, store: Store, kinds: Sequence[str]) -> None:
        self._store = store.patient()
        self._kinds = list(kinds)
        self._items: dict[str, Items] = {}
        self._graphs: dict[str, Graph] = {}

    async def items(self, scope: str) -> Items:
        """Read the ranked memories of a scope."""
        if scope not in self._items:
            more = {"scope": scope, "kinds": self._kinds, "limit": ITEM_PAGE}
            self._items[scope] = _items(await self._pages("evaluation.items", more))
        return self._items[scope]

    async def graph(self, scope: str) -> Graph:
        """Read the edges of a scope."""
        if scope not in self._graphs:
            more = {"scope": scope, "limit": SOURCE_PAGE}
            self._graphs[scope] = _graph(await self._pages("evaluation.edges", more))
        return self._graphs[scope]

    async def _pages(self, name: str, parameters: dict[str, Any]) -> list[Any]:
        rows: list[Any] = []
        after = ""
        query = load(name).at((await current_facts(self._store)).generation)
        while True:
            found = await self._store.run(query, {**parameters, "after": after})
            if not (page := found[0]["rows"]):
                return rows
            rows += page
            after = page[-1][0]


def _items(rows: Sequence[Sequence[Any]]) -> Items:
    size = max((len(row[2]) for row in rows if row[2] is not None), default=0)
    vectors = np.zeros((len(rows), size))
    for place, (_, _, vector, _) in enumerate(rows):
        if vector is not None and len(vector) == size:
            vectors[place] = vector
    return Items(
        ids=tuple(row[0] for row in rows),
        texts=tuple(row[1] for row in rows),
        vectors=unit_vectors(vectors),
        made_ms=np.array([np.inf if row[3] is None else row[3] for row in rows], dtype=np.float64),
    )


def _graph(rows: Sequence[Sequence[Any]]) -> Graph:
    ids = tuple(row[0] for row in rows)
    place = {id_: number for number, id_ in enumerate(ids)}
    edges = sorted(
        (place[source], place[target], float(weight))
        for source, leaving in rows
        for target, weight in leaving
        if target in place
    )
    starts = np.array([edge[0] for edge in edges], dtype=np.int64)
    ends = np.array([edge[1] for edge in edges], dtype=np.int64)
    weights = np.array([edge[2] for edge in edges], dtype=np.float64)
    sources = np.concatenate([starts, ends])
    both = np.concatenate([weights, weights])
    sums = np.bincount(sources, weights=both, minlength=len(ids))[sources]
    return Graph(
        ids=ids,
        sources=sources,
        targets=np.concatenate([ends, starts]),
        shares=np.divide(both, sums, out=np.zeros_like(both), where=sums > 0),
    )
