"""The four categories of edges that `synapse` knows: three that are stored, and one that is not.

In: the answer to ``strategies.synapse``. Out: edges, and whether each activates or suppresses.
Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memoria.formulas.synapse import faded
from memoria.strategies._edges import Edge

#: Relation of the virtual edges between memories that share tags.
AFFINITY = "shared-tags"


def signed_edges(record: Mapping[str, Any], rate: float) -> Iterator[tuple[Edge, int]]:
    """Read the edges of an answer, each with 1, or with -1 where it suppresses.

    The degree of an edge is the number of edges of its own category at its source (source: 003,
    "Why four denominators?"). Only edges that activate fade: what was superseded does not come back
    by waiting.

    Parameters
    ----------
    rate
        Share of a weight lost per hour since its last use; >= 0.
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
