"""Activation energy in plain Python: the oracle of the engine.

In: a small graph in memory, one seed, a query's tags. Out: the paths that energy takes.
Written for the eye, from the definition alone: no database, nothing cut short for speed.
Source: 001, sections 3 to 7. Where the source is open:

- a weight that is missing counts as 0.01, whatever ``max_weight`` says;
- tags of a query are a set; tags of an edge count as they are stored, duplicates included;
- parallel edges: the highest energy wins, then relation, direction (``in`` first), tags;
- an edge to a memory that does not hold is as one into another scope: it counts in the degree;
- a connector with one edge leads nowhere, and is not a neighbour; its edge counts in the degree;
- a node whose only neighbours above the threshold are visited, claimed or itself is a dead end.

Strings are ordered by Unicode code point, as Python orders them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import TransferEnergy
from memoria.types import EndReason, Hop, Status
from tests.oracle.validity import Span, holds

MISSING_WEIGHT = 0.01


class Node(NamedTuple):
    """A memory: ids are unique within a scope only."""

    scope: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A RELATES edge as any writer may have left it; None where a property is missing."""

    source: Node
    target: Node
    relation: str | None = None
    weight: Any = None
    tags: Sequence[str] | None = None
    lif_weight: Any = None


class Graph:
    """Nodes, and the edges at each of them in either direction: a self loop once.

    ``spans``: what some nodes say of their own time and conditions. ``connectors``: the nodes that
    are topics; they carry energy as others do, if they lead anywhere.
    """

    def __init__(
        self,
        nodes: Iterable[Node],
        edges: Iterable[Edge],
        spans: Mapping[Node, Span] | None = None,
        connectors: Iterable[Node] = (),
    ) -> None:
        self.spans = dict(spans or {})
        self.connectors = frozenset(connectors)
        self.nodes = frozenset(nodes)
        self.edges = tuple(edges)
        self.edges_at: dict[Node, list[Edge]] = {node: [] for node in self.nodes}
        for edge in self.edges:
            for end in {edge.source, edge.target}:
                self.edges_at[end].append(edge)

    def degree(self, node: Node) -> int:
        """Every edge counts: with a bad weight, into another scope, to what does not hold, too."""
        return len(self.edges_at[node])

    def has(self, node: Node, config: RetrieverConfig) -> bool:
        """Whether a node is there, and holds."""
        return node in self.nodes and holds(self.spans.get(node), config)


class ReferencePath(NamedTuple):
    """A branch from the seed to its end; see `memoria.types.Path`."""

    hops: tuple[Hop, ...]
    end_reason: EndReason
    energy: float


class ReferenceExploration(NamedTuple):
    """All paths from one seed, by energy (highest first), then ids."""

    status: Status
    paths: list[ReferencePath]


def counted_weight(raw: Any, max_weight: float) -> float | None:
    """The weight that counts, or None for an edge that carries no energy at all."""
    if raw is None:
        return MISSING_WEIGHT
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return None
    if not math.isfinite(raw) or math.copysign(1.0, raw) < 0:  # for Neo4j, -0.0 is less than 0
        return None
    return min(raw, max_weight)


def tag_similarity(
    edge_tags: Sequence[str] | None, query_tags: Collection[str], floor: float
) -> float:
    """Floored Jaccard of an edge's tags and a query's."""
    query = set(query_tags)
    if not query:
        return 1.0
    if not edge_tags:
        return floor
    inter = len(query & set(edge_tags))
    union = len(edge_tags) + len(query) - inter
    return floor + ((1 - floor) * inter) / union


def transfer_energy(energy: float, weight: float, degree: int, similarity: float) -> float:
    """Energy that passes over one edge."""
    return ((energy * weight) / math.sqrt(degree)) * similarity


def transfer_of(config: RetrieverConfig) -> TransferEnergy:
    """Settings of transfer energy, the strategy that this reference knows."""
    assert isinstance(config.strategy, TransferEnergy)
    return config.strategy


def with_transfer(config: RetrieverConfig, **settings: Any) -> RetrieverConfig:
    """Change settings of transfer energy."""
    return replace(config, strategy=replace(transfer_of(config), **settings))


def explore(
    graph: Graph,
    scope: str,
    seed_id: str,
    score: float,
    query_tags: Collection[str],
    config: RetrieverConfig,
) -> ReferenceExploration:
    """Spread energy from one seed, level by level."""
    if not graph.has(Node(scope, seed_id), config):
        return ReferenceExploration("seed_not_found", [])
    trails: dict[str, tuple[Hop, ...]] = {seed_id: ()}  # the frontier: id -> hops that led there
    visited = {seed_id}
    paths: list[ReferencePath] = []

    def energy_of(node_id: str) -> float:
        return trails[node_id][-1].energy_out if trails[node_id] else score

    def end(node_id: str, reason: EndReason) -> None:
        paths.append(ReferencePath(trails[node_id], reason, energy_of(node_id)))

    strategy = transfer_of(config)
    for _ in range(strategy.max_depth):
        above = {
            node_id: _hops_above(
                graph, Node(scope, node_id), energy_of(node_id), query_tags, config
            )
            for node_id in trails
        }
        candidates = [
            hop for hops in above.values() for hop in hops.values() if hop.target not in visited
        ]
        taken = _select(candidates, strategy.max_branches)
        parents = {hop.source for hop in taken}
        for node_id in trails:
            if node_id not in parents:
                end(node_id, "dead_end" if above[node_id] else "below_threshold")
        trails = {hop.target: (*trails[hop.source], hop) for hop in taken}
        visited |= trails.keys()
    for node_id in trails:
        end(node_id, "max_depth")

    paths.sort(key=lambda path: (-path.energy, [hop.target for hop in path.hops]))
    return ReferenceExploration("complete", paths)


def _hops_above(
    graph: Graph, node: Node, energy: float, query_tags: Collection[str], config: RetrieverConfig
) -> dict[str, Hop]:
    """Best hop to each neighbour of the scope above the threshold, visited or not."""
    strategy = transfer_of(config)
    by_target: defaultdict[str, list[Hop]] = defaultdict(list)
    for edge in graph.edges_at[node]:
        neighbour = edge.target if edge.source == node else edge.source
        weight = counted_weight(edge.weight, config.max_weight)
        if neighbour.scope != node.scope or weight is None or not graph.has(neighbour, config):
            continue
        if neighbour in graph.connectors and graph.degree(neighbour) == 1:
            continue
        degree = graph.degree(node)
        similarity = tag_similarity(edge.tags, query_tags, strategy.tag_sim_floor)
        energy_out = transfer_energy(energy, weight, degree, similarity)
        if energy_out > strategy.min_activation:
            hop = Hop(
                source=node.id,
                target=neighbour.id,
                relation=edge.relation or "",
                direction="out" if edge.source == node else "in",
                weight=weight,
                tags=tuple(edge.tags or ()),
                tag_similarity=similarity,
                degree=degree,
                energy_in=energy,
                energy_out=energy_out,
            )
            by_target[neighbour.id].append(hop)
    return {target: min(hops, key=_edge_order) for target, hops in by_target.items()}


def _edge_order(hop: Hop) -> tuple[float, str, str, tuple[str, ...]]:
    return (-hop.energy_out, hop.relation, hop.direction, hop.tags)


def _select(candidates: Iterable[Hop], max_branches: int) -> list[Hop]:
    """Strongest first: a neighbour goes to one parent, a parent takes ``max_branches`` at most."""
    taken: dict[str, Hop] = {}
    branches: Counter[str] = Counter()
    for hop in sorted(candidates, key=lambda hop: (-hop.energy_out, hop.source, hop.target)):
        if hop.target not in taken and branches[hop.source] < max_branches:
            taken[hop.target] = hop
            branches[hop.source] += 1
    return list(taken.values())
