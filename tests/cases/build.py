"""How a case is written: a graph, a question to it, and the whole answer, worked out by hand.

A step from ``a`` to ``b`` is written ``a>b``. Its energy is ``R * w / sqrt(d) * tag_sim``: R what
``a`` received (the seed: its score), d the number of edges at ``a``; tag_sim is 1 in a query
without tags. Nodes live in the scope ``here``, those written ``there/x`` in the scope ``there``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from memoria.recall.config import RetrieverConfig
from memoria.types import EndReason, Status
from tests.oracle.transfer import Edge, Graph, Node

HERE = "here"


class Expected(NamedTuple):
    """A path: ids from the seed on, why it ends, its energy, and the edge of its last hop."""

    ids: tuple[str, ...]
    end_reason: EndReason
    energy: float
    last_edge: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """A graph, a question to it, and the whole answer."""

    name: str
    graph: Graph
    seed_id: str = "s"
    score: float = 1.0
    query_tags: Sequence[str] = ()
    config: RetrieverConfig = field(default_factory=RetrieverConfig)
    status: Status = "complete"
    paths: Sequence[Expected]


def node(name: str) -> Node:
    scope, _, node_id = name.rpartition("/")
    return Node(scope or HERE, node_id)


def edge(source: str, target: str, weight: Any = 1.0, **properties: Any) -> Edge:
    return Edge(source=node(source), target=node(target), weight=weight, **properties)


def graph(*edges: Edge, alone: Sequence[str] = ()) -> Graph:
    nodes = {end for edge in edges for end in (edge.source, edge.target)}
    return Graph(nodes | {node(name) for name in alone}, edges)


def path(names: str, end_reason: EndReason, energy: float, **last_edge: Any) -> Expected:
    return Expected(tuple(names.split(">")), end_reason, energy, last_edge or None)


def chain(*names: str, weight: float = 1.0) -> list[Edge]:
    return [edge(*pair, weight) for pair in pairwise(names)]


def leaves(parent: str, count: int, weight: Any = 1.0) -> list[Edge]:
    return [edge(parent, f"{parent}-leaf{number:04}", weight) for number in range(count)]


def full_tree(children: int, depth: int) -> Graph:
    """A tree below ``s`` in which every node but the last has as many children."""
    edges, level = [], ["s"]
    for _ in range(depth):
        below = [(parent, f"{parent}.{number}") for parent in level for number in range(children)]
        edges += [edge(parent, child) for parent, child in below]
        level = [child for _, child in below]
    return graph(*edges)
