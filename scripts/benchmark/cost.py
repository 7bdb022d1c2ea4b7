"""What an exploration costs, as a sum of few terms, fitted to the explorations of a run.

    time = queries * (round trip + overhead) + memories * per memory + edges * per edge

Queries are the levels and one for the texts; edges are those at memories that are expanded. The
size of the graph is no term: what it does to the time is what the model leaves unexplained.

In: a record. Out: a `CostModel`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scripts.benchmark.figures import percentile
from scripts.benchmark.names import MEMORIA, ROUND_TRIP

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """Terms of the sum; milliseconds.

    Attributes
    ----------
    overhead_ms
        Of each query, beyond the round trip.
    memory_ms, edge_ms
        Of each memory reached, and of each edge read.
    """

    overhead_ms: float
    memory_ms: float
    edge_ms: float

    def predict(self, terms: Floats, trip_ms: float) -> Floats:
        """Say how long explorations take; milliseconds, (N,).

        Parameters
        ----------
        terms
            As from `terms_of`; (N, 3).
        trip_ms
            The round trip; milliseconds.
        """
        found: Floats = terms @ [trip_ms + self.overhead_ms, self.memory_ms, self.edge_ms]
        return found


def terms_of(graph: Mapping[str, Any]) -> Floats:
    """Count queries, memories and edges of each exploration of all seeds; (N, 3)."""
    one = graph["contenders"][MEMORIA]
    queries = [levels + 1 for levels in one["levels"]]
    return np.column_stack([queries, one["nodes"], one["edges_read"]]).astype(float)


def fit_cost(graphs: Sequence[Mapping[str, Any]]) -> CostModel:
    """Fit the sum by least squares of the relative errors; no term is negative."""
    terms = np.concatenate([terms_of(graph) for graph in graphs])
    walls = np.concatenate([graph["contenders"][MEMORIA]["wall_ms"] for graph in graphs])
    trips = np.concatenate(
        [np.full(len(graph["contenders"][MEMORIA]["wall_ms"]), trip_of(graph)) for graph in graphs]
    )
    rest = walls - trips * terms[:, 0]
    kept = [0, 1, 2]
    found = np.zeros(3)
    while kept:
        solved = np.linalg.lstsq(terms[:, kept] / walls[:, None], rest / walls, rcond=None)[0]
        if (solved >= 0).all():
            found[kept] = solved
            break
        del kept[int(solved.argmin())]
    return CostModel(overhead_ms=found[0], memory_ms=found[1], edge_ms=found[2])


def trip_of(graph: Mapping[str, Any]) -> float:
    """Median of the smallest query; milliseconds."""
    return percentile(graph["contenders"][ROUND_TRIP]["wall_ms"], 50)
