"""Spreading activation from anchors in plain Python: the oracle of the engine (source: 004).

In: a small graph in memory, anchors and their cosines. Out: the three parts of every score. Where
the source is open:

- rounds are synchronous: all pass on what they had before the round;
- edges, and in-degrees among the edges loaded, follow the stored direction; ``similar`` has none;
- a loop is not an edge; parallel edges each count;
- a connector that is not too large leads on: the edges at it are loaded, and have no direction; it
  is not a result, and nothing is measured by it;
- without an edge, or at strength 0, the cosine alone is the score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import AnchorSpreading
from tests.oracle.lif import leads_on
from tests.oracle.transfer import Graph, Node, counted_weight

Parts = dict[str, float]


def settings_of(config: RetrieverConfig) -> AnchorSpreading:
    """Constants of spreading from anchors, the strategy that this reference knows."""
    assert isinstance(config.strategy, AnchorSpreading)
    return config.strategy


def scores(
    graph: Graph, scope: str, anchors: Mapping[str, float], config: RetrieverConfig
) -> dict[str, Parts]:
    """Id -> the parts of its score, of anchors that exist and of all that they activate."""
    settings = settings_of(config)
    start = {
        anchor: max(0.0, cosine)
        for anchor, cosine in anchors.items()
        if graph.has(Node(scope, anchor), config)
    }
    edges = loaded(graph, scope, start, config)
    if not edges:
        return {
            anchor: {"cosine": cosine}
            for anchor, cosine in start.items()
            if Node(scope, anchor) not in graph.connectors
        }
    activation = dict(start)
    for _ in range(settings.iterations):
        gained: dict[str, list[float]] = {}
        for source, target, weight in edges:
            passed = activation.get(source, 0.0) * weight * settings.spreading_strength
            if passed > 0:
                gained.setdefault(target, []).append(passed)
        for node, amounts in gained.items():
            activation[node] = math.fsum([activation.get(node, 0.0), *amounts])
    memories = {
        node: value
        for node, value in activation.items()
        if Node(scope, node) not in graph.connectors
    }
    most = max(memories.values(), default=0.0)
    pointed_at = Counter(
        target for _, target, _ in edges if Node(scope, target) not in graph.connectors
    )
    most_in = max(pointed_at.values(), default=1)
    return {
        node: {
            "cosine": settings.weight_similarity * start.get(node, 0.0),
            "spread": settings.weight_activation * (value / most if most else 0.0),
            "structure": settings.weight_structural * pointed_at[node] / most_in,
        }
        for node, value in memories.items()
    }


def loaded(
    graph: Graph, scope: str, anchors: Mapping[str, float], config: RetrieverConfig
) -> list[tuple[str, str, float]]:
    """(from, to, weight) of the strongest edges at anchors, both ways for similar ones."""
    settings = settings_of(config)
    if not settings.use_spreading or settings.spreading_strength == 0:
        return []
    near = {Node(scope, anchor) for anchor in anchors}
    near |= {
        end
        for edge in graph.edges
        for end in (edge.source, edge.target)
        if not near.isdisjoint((edge.source, edge.target)) and leads_on(graph, end)
    }
    at_anchors = []
    for edge in graph.edges:
        weight = counted_weight(edge.weight, RetrieverConfig().max_weight)
        inside = edge.source.scope == edge.target.scope == scope
        ends = (edge.source.id, edge.target.id)
        if (
            weight is not None
            and inside
            and ends[0] != ends[1]
            and graph.has(edge.source, config)
            and graph.has(edge.target, config)
            and not near.isdisjoint((edge.source, edge.target))
        ):
            both = edge.relation == "similar" or leads_on(graph, edge.source, edge.target)
            at_anchors.append((-weight, *ends, edge.relation or "", both))
    followed = []
    for negative, source, target, _, both in sorted(at_anchors)[: settings.max_edges]:
        followed.append((source, target, -negative))
        if both:
            followed.append((target, source, -negative))
    return followed
