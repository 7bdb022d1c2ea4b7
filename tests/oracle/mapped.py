"""Put oracle graphs into a database as other programs would write them, in several shapes.

In: a generated graph, a shape. Out: nodes and relationships with foreign names; the graph that the
oracle is to explore, with the weights that the mapping makes of theirs, in plain Python.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import neo4j

from memoria.graph.mapping import EdgeMapping, GraphMapping, NodeMapping, WeightOf
from memoria.recall.config import RetrieverConfig
from tests.oracle.transfer import Edge, Graph, Node
from tests.oracle.validity import EARLIER, LATER, PAST, PRESENT, Span

NOWHERE = "\0 no scope"
#: One node in twenty lacks its key, and one relationship in twenty its weight.
MISSING = 0.05


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A graph as another program writes it."""

    name: str
    mapping: GraphMapping
    key_of: Mapping[str, str]  # label -> property
    connector: str | None = None  # label of connectors
    relations: bool = True  # whether a property says the relation; else the type does
    tags: bool = True  # the same, of the tags


def shapes(tag: str) -> list[Shape]:
    """Six shapes, whose labels and types end with a tag."""

    def node(label: str, key: str, **more: Any) -> NodeMapping:
        text = () if more.get("connector") else ("words",)
        return NodeMapping(
            label=f"{label} {tag}", key=key, scope="tenant", text=text, created_at="made",
            valid_until="ends", **more,
        )  # fmt: skip

    def edge(type_: str, **more: Any) -> EdgeMapping:
        return EdgeMapping(type=f"{type_}`{tag}", **more)

    def mapping(nodes: Sequence[NodeMapping], edges: Sequence[EdgeMapping]) -> GraphMapping:
        return GraphMapping(nodes=tuple(nodes), edges=tuple(edges), name=tag)

    said: dict[str, Any] = {"relation": "says", "tags": "about"}
    stored = WeightOf(property="strong")
    made = [
        ("one", [node("One", "uuid")], [edge("LINKS", weight=stored, **said)]),
        (
            "labels",
            [node("A", "id"), node("B", "id"), node("Hub", "id", connector=True)],
            [edge("IS", weight=0.8), edge("HAS", weight=0.3)],
        ),
        (
            "keys",
            [node("C", "uuid"), node("D", "name it"), node("Hub2", "uuid", connector=True)],
            [edge("SCALED", weight=WeightOf(property="strong", low=-1.0, high=2.0), **said)],
        ),
        (
            "counts",
            [node("E", "uuid")],
            [
                edge("MANY", weight=WeightOf(property="strong", half=0.7), **said),
                edge("FEW", weight=WeightOf(property="strong", half=3), **said),
            ],
        ),
        (
            "directed",
            [node("F", "uuid"), node("G", "uuid")],
            [
                edge("OUT", direction="out", weight=stored, **said),
                edge("IN", direction="in", weight=0.6, **said),
                edge("BOTH", weight=stored, **said),
            ],
        ),
        (
            "valid",
            [node("H", "elementId")],
            [edge("FACT", weight=stored, valid_from="from", valid_until=("until", "gone"), **said)],
        ),
    ]
    return [
        Shape(
            name=name,
            mapping=mapping(nodes, edges),
            key_of={label: each.key for each in nodes for label in each.labels},
            connector=next((e.labels[0] for e in nodes if e.connector), None),
            relations=edges[0].relation is not None,
            tags=edges[0].tags is not None,
        )
        for name, nodes, edges in made
    ]


def weight_of(weight: float | WeightOf, raw: Any) -> Any:
    """What the mapping makes of a stored value; what is not a number stays as it is."""
    if not isinstance(weight, WeightOf):
        return weight
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        return raw
    number = float(raw)
    if weight.half is not None:
        if not number >= 0 or math.copysign(1.0, number) < 0:
            return raw
        return number / (number + weight.half) if math.isfinite(number) else math.nan
    if (weight.low, weight.high) == (0.0, 1.0):
        return raw
    return (number - weight.low) / (weight.high - weight.low)


class DirectedGraph(Graph):
    """A graph in which some edges lead one way only: at the other end they are not there."""

    def __init__(self, *args: Any, ways: Sequence[str], **more: Any) -> None:
        super().__init__(*args, **more)
        self.edges_at = {node: [] for node in self.nodes}
        for edge, way in zip(self.edges, ways, strict=True):
            ends = {"out": {edge.source}, "in": {edge.target}, "both": {edge.source, edge.target}}
            for end in ends[way]:
                self.edges_at[end].append(edge)


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """A graph in a foreign shape: rows to write, and what the oracle explores."""

    nodes: Sequence[dict[str, Any]]
    edges: Sequence[dict[str, Any]]
    graph: Callable[[Mapping[Node, str], RetrieverConfig], tuple[Graph, dict[str, str]]]


def foreign(rng: random.Random, graph: Graph, shape: Shape, prefix: str) -> Foreign:
    """Give a graph a shape: labels and types by lot, some keys and weights missing."""
    plain = [label for label in shape.key_of if label != shape.connector]
    order = sorted(graph.nodes)
    joins = {node for node in order if node in graph.connectors} if shape.connector else set()
    labels = {node: shape.connector if node in joins else rng.choice(plain) for node in order}
    keyless = {node for node in order if rng.random() < MISSING}
    types = [rng.choice(shape.mapping.edges) for _ in graph.edges]
    edges = [replace(edge, weight=None) if rng.random() < MISSING else edge for edge in graph.edges]
    times = [_times(rng) if type_.valid_until else {} for type_ in types]
    spans = {
        node: Span(valid_until=span.valid_until, created_at=span.created_at)
        for node, span in graph.spans.items()
    }

    def as_read(ids: Mapping[Node, str], config: RetrieverConfig) -> tuple[Graph, dict[str, str]]:
        """The graph of the oracle, and the ids that the engine has for ours."""

        def renamed(node: Node) -> Node:
            by_key = shape.key_of[labels[node] or ""] != "elementId"
            if node in keyless and by_key:
                return Node(NOWHERE, f"{node.scope} {node.id}")
            return Node(node.scope, node.id if by_key else ids[node])

        read = [
            Edge(
                source=renamed(edge.source),
                target=renamed(edge.target),
                relation=_relation(shape, edge, type_),
                weight=-1.0 if _is_over(own, config) else weight_of(type_.weight, edge.weight),
                tags=edge.tags if shape.tags else (type_.type,),
            )
            for edge, type_, own in zip(edges, types, times, strict=True)
        ]
        found = DirectedGraph(
            [renamed(node) for node in order],
            read,
            {renamed(node): span for node, span in spans.items()},
            [renamed(node) for node in joins],
            ways=[type_.direction for type_ in types],
        )
        return found, {node.id: renamed(node).id for node in order}

    return Foreign(
        nodes=[
            {
                "label": labels[node],
                "place": [prefix, node.scope, node.id],
                "properties": {
                    "tenant": prefix + node.scope,
                    **_span(spans.get(node)),
                    **_key(shape, labels[node] or "", node, keyless),
                },
            }
            for node in order
        ],
        edges=[
            {
                "type": type_.type,
                "source": [prefix, *edge.source],
                "target": [prefix, *edge.target],
                "properties": _properties(edge) | own,
            }
            for edge, type_, own in zip(edges, types, times, strict=True)
        ],
        graph=as_read,
    )


async def write_foreign(
    driver: neo4j.AsyncDriver, graphs: Sequence[Foreign]
) -> dict[tuple[str, ...], str]:
    """Write graphs; return the element id of each node by its place."""
    nodes = [node for graph in graphs for node in graph.nodes]
    edges = [edge for graph in graphs for edge in graph.edges]
    ids: dict[tuple[str, ...], str] = {}
    for start in range(0, len(nodes), 2_000):
        found = await driver.execute_query(
            "UNWIND $rows AS row CREATE (n:$(row.label)) SET n = row.properties "
            "RETURN collect([row.place, elementId(n)]) AS ids",
            rows=nodes[start : start + 2_000],
            database_="neo4j",
        )
        ids |= {tuple(place): id_ for place, id_ in found.records[0]["ids"]}
    rows = [
        {**edge, "source": ids[tuple(edge["source"])], "target": ids[tuple(edge["target"])]}
        for edge in edges
    ]
    for start in range(0, len(rows), 2_000):
        await driver.execute_query(
            "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row.source "
            "MATCH (b) WHERE elementId(b) = row.target "
            "CREATE (a)-[r:$(row.type)]->(b) SET r = row.properties",
            rows=rows[start : start + 2_000],
            database_="neo4j",
        )
    return ids


def _relation(shape: Shape, edge: Edge, type_: EdgeMapping) -> str:
    said = edge.relation if shape.relations else None
    return said if said is not None and said.strip(" ") else type_.type


def _key(shape: Shape, label: str, node: Node, keyless: set[Node]) -> dict[str, str]:
    key = shape.key_of[label]
    return {} if key == "elementId" or node in keyless else {key: node.id}


def _span(span: Span | None) -> dict[str, Any]:
    given = {} if span is None else {"ends": span.valid_until, "made": span.created_at}
    return {name: value for name, value in given.items() if value is not None}


def _times(rng: random.Random) -> dict[str, datetime]:
    """When a fact holds, as a relationship says it; four of five hold at present."""
    if rng.random() < 0.8:
        return {"from": PAST, "until": LATER}
    return rng.choice([{"from": LATER}, {"until": PAST}, {"gone": EARLIER, "until": LATER}])


def _is_over(times: Mapping[str, datetime], config: RetrieverConfig) -> bool:
    if config.include_outdated:
        return False
    at = config.as_of or PRESENT
    ends = [times[name] for name in ("until", "gone") if name in times]
    return any(end <= at for end in ends) or ("from" in times and times["from"] > at)


def _properties(edge: Edge) -> dict[str, Any]:
    given = {"strong": edge.weight, "says": edge.relation, "about": edge.tags}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value is not None
    }
