"""What an exploration costs, as a sum of few terms, fitted to the explorations of a run.

    time = queries * (round trip + overhead) + memories * per memory + edges * per edge

Edges are those at memories that are expanded. The model has no term for the size of the graph: its
effect on the time is a part of what the model leaves unexplained.

In: a record. Out: a `CostModel`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.race.names import BARE, MEMORIA, ROUND_TRIP
from benchmarks.report.figures import percentile

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


def queries_of(graph: Mapping[str, Any]) -> dict[int, int]:
    """Count the queries of an exploration of all seeds, case by case."""
    bare = graph["contenders"][BARE]
    return dict(zip(bare["case"], map(len, bare["took_s"]), strict=True))


def terms_of(graph: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Count queries, memories and edges of each exploration of all seeds, and say how long it took.

    Returns
    -------
    tuple
        Terms, (N, 3), and milliseconds, (N,).
    """
    one, queries = graph["contenders"][MEMORIA], queries_of(graph)
    columns = zip(one["case"], one["nodes"], one["edges_read"], one["wall_ms"], strict=True)
    rows = [(queries[case], *rest) for case, *rest in columns if case in queries]
    found = np.array(rows, dtype=float)
    return found[:, :3], found[:, 3]


def fit_cost(graphs: Sequence[Mapping[str, Any]]) -> CostModel:
    """Fit the sum by least squares of the relative errors; no term is negative."""
    counted = [terms_of(graph) for graph in graphs]
    terms, walls = (np.concatenate(columns) for columns in zip(*counted, strict=True))
    trips = np.repeat([trip_of(graph) for graph in graphs], [len(each) for _, each in counted])
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
