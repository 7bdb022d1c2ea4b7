"""The four categories of edges that `synapse` knows: three are stored, affinity is not.

In: the answer to ``strategies.synapse``. Out: edges, and whether each activates or suppresses.
Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memoria.formulas.synapse import faded
from memoria.graph.vocabulary import AFFINITY
from memoria.recall.strategies._edges import Edge


def signed_edges(record: Mapping[str, Any], rate: float) -> Iterator[tuple[Edge, int]]:
    """Read the edges of an answer, each with 1 if it activates or -1 if it suppresses.

    The degree of an edge is the number of edges of the same category at its source (source: 003,
    "Why four denominators?"). Only edges that activate fade: a superseded memory does not come back
    because time has passed.

    Parameters
    ----------
    rate
        Share of its weight that an edge loses per hour since its last use; >= 0.
    """
    for source, target, relation, direction, weight, hours, tags, count in record["edges"]:
        edge = Edge(
            source=source,
            target=target,
            relation=relation,
            direction=direction,
            weight=faded(weight, hours, rate),
            tags=tuple(map(str, tags)),
            degree=count,
        )
        yield edge, 1
    for source, target, kind, direction, weight, count in record["suppressions"]:
        edge = Edge(
            source=source,
            target=target,
            relation=kind,
            direction=direction,
            weight=weight,
            degree=count,
        )
        yield edge, -1
    for source, target, overlap, tags, count in record["affinities"]:
        edge = Edge(
            source=source,
            target=target,
            relation=AFFINITY,
            direction="out",
            weight=overlap,
            tags=tuple(tags),
            degree=count,
        )
        yield edge, 1
