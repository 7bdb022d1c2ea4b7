"""The true nearest memories of a question: all vectors compared, here and not in the server.

In: a graph and questions. Out: ids. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scripts.benchmark.cases import Question
from scripts.benchmark.graphs import CHUNK, Graph

TOP = 5


def nearest(graph: Graph, questions: Sequence[Question], count: int) -> list[set[str]]:
    """Find the nearest five of the first so many memories, for each question."""
    asked = np.stack([question.vector for question in questions])
    best = np.full((len(questions), TOP), -np.inf)
    nodes = np.full((len(questions), TOP), -1)
    for start in range(0, count, CHUNK):
        stop = min(start + CHUNK, graph.embedded)
        cosines = asked @ graph.vectors(start, stop).T
        cosines = cosines[:, : count - start]  # not before: vectors are drawn by chunks
        both = np.concatenate([best, cosines], axis=1)
        here = np.broadcast_to(np.arange(start, start + cosines.shape[1]), cosines.shape)
        names = np.concatenate([nodes, here], axis=1)
        order = np.argsort(-both, axis=1, kind="stable")[:, :TOP]
        best = np.take_along_axis(both, order, axis=1)
        nodes = np.take_along_axis(names, order, axis=1)
    return [{graph.ids[node] for node in row if node >= 0} for row in nodes.tolist()]
