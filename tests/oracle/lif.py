"""Leaky integrate and fire in plain Python: the oracle of the engine (source: 000).

In: a small graph in memory and seeds. Out: the charge of every memory. Where the source is open:

- a hop carries on what arrived with the hop before it, in sum; each edge's signal is compared
  with the least one;
- parallel edges each transmit; a loop does not; a signal passes through seeds as through others;
- relation ``similar`` has no direction, and neither has an edge of a connector that is not too
  large; ``lif_weight`` counts in place of ``weight``.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator

from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import LeakyIntegrateAndFire
from tests.oracle.transfer import Edge, Graph, Node, counted_weight

MAX_WEIGHT = RetrieverConfig().max_weight
MAX_LIF_WEIGHT = 2.0
CONNECTOR_EDGES = 60


def settings_of(config: RetrieverConfig) -> LeakyIntegrateAndFire:
    """Constants of leaky integrate and fire, the strategy that this reference knows."""
    assert isinstance(config.strategy, LeakyIntegrateAndFire)
    return config.strategy


def weight_of(edge: Edge) -> float | None:
    """The weight that counts, or None for an edge that transmits nothing."""
    if edge.lif_weight is not None:
        return counted_weight(edge.lif_weight, MAX_LIF_WEIGHT)
    return counted_weight(edge.weight, MAX_WEIGHT)


def leads_on(graph: Graph, *nodes: Node) -> bool:
    """Whether one of these nodes is a connector that is not too large."""
    return any(graph.degree(node) <= CONNECTOR_EDGES for node in graph.connectors & {*nodes})


def followed(graph: Graph, scope: str, config: RetrieverConfig) -> Iterator[tuple[str, str, float]]:
    """(from, to, weight) of every edge that transmits, both ways for similar ones."""
    for edge in graph.edges:
        weight = weight_of(edge)
        inside = edge.source.scope == edge.target.scope == scope
        if weight is None or not inside or edge.source == edge.target:
            continue
        if not graph.has(edge.source, config) or not graph.has(edge.target, config):
            continue
        yield edge.source.id, edge.target.id, weight
        if edge.relation == "similar" or leads_on(graph, edge.source, edge.target):
            yield edge.target.id, edge.source.id, weight


def charges(
    graph: Graph, scope: str, seeds: Collection[str], config: RetrieverConfig
) -> dict[str, float]:
    """Id -> charge after the last hop, of seeds that exist and of all that were reached."""
    settings = settings_of(config)
    edges = list(followed(graph, scope, config))
    wave = {seed: 1.0 for seed in seeds if graph.has(Node(scope, seed), config)}
    arrived: defaultdict[str, list[float]] = defaultdict(list)
    for seed in wave:
        arrived[seed].append(1.0)
    for _ in range(settings.max_hops):
        now: defaultdict[str, list[float]] = defaultdict(list)
        for source, target, weight in edges:
            signal = wave.get(source, 0.0) * weight * settings.leak_rate
            if signal >= settings.min_signal:
                now[target].append(signal)
        for node, signals in now.items():
            arrived[node] += signals
        wave = {node: math.fsum(signals) for node, signals in now.items()}
    return {node: math.fsum(signals) for node, signals in arrived.items()}


def strongest_ways(
    graph: Graph, scope: str, seeds: Collection[str], config: RetrieverConfig
) -> dict[str, float]:
    """Id -> the strongest signal that a single way brings, round no circle and past no seed."""
    settings = settings_of(config)
    edges = list(followed(graph, scope, config))
    best: dict[str, float] = {}

    def go(node: str, signal: float, before: frozenset[str]) -> None:
        for source, target, weight in edges:
            if source != node or target in before or target in seeds:
                continue
            arrives = signal * weight * settings.leak_rate
            best[target] = max(best.get(target, 0.0), arrives)
            if len(before) < settings.max_hops:
                go(target, arrives, before | {target})

    for seed in seeds:
        if graph.has(Node(scope, seed), config):
            go(seed, 1.0, frozenset({seed}))
    return best
