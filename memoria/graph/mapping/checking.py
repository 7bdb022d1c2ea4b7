"""Compare a mapping with a database: what is missing, and the statement that makes it.

In: a mapping, and the contents of the database. Out: `Problem`s; or an error for the first of them.
Touches nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memoria._support.wording import number_of
from memoria.errors import IndexNotReadyError, MappingError
from memoria.graph.mapping.database import Index, Inventory
from memoria.graph.mapping.expressions import either, quoted
from memoria.graph.mapping.model import GraphMapping
from memoria.graph.mapping.parts import ELEMENT_ID, EdgeMapping, NodeMapping, WeightOf

_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something that does not fit.

    Attributes
    ----------
    text
        What it is, and what to do.
    stops
        Whether the graph can't be read before it is mended.
    statement
        The statement that makes what is missing; None if no statement does.
    waits
        Whether time alone mends it.
    """

    text: str
    stops: bool = True
    statement: str | None = None
    waits: bool = False


def problems_of(mapping: GraphMapping, inventory: Inventory) -> list[Problem]:
    """Return everything in which names of a mapping do not fit a database."""
    return [
        *_of_labels(mapping, inventory),
        *_of_indexes(mapping, inventory),
        *_of_types(mapping, inventory),
    ]


def raise_first(problems: Iterable[Problem]) -> None:
    """Raise an error for the first problem that stops reading, if there is one.

    Raises
    ------
    MappingError
        Names don't fit, or an index is missing: the message has the statement that makes it.
    IndexNotReadyError
        An index is not ready yet.
    """
    stopping = [problem for problem in problems if problem.stops]
    if not stopping:
        return
    first = stopping[0]
    text = first.text if first.statement is None else f"{first.text}: {first.statement}"
    if more := len(stopping) - 1:
        text += f" (and {number_of(more, 'more problem')}: memoria adopt FILE lists them)"
    raise IndexNotReadyError(text) if first.waits else MappingError(text)


def readable(mapping: GraphMapping, inventory: Inventory) -> GraphMapping:
    """Leave out what is not there.

    That is labels that no node has and no index covers, because to look for them would be a scan;
    full-text indexes; and vector indexes on relationships.
    """
    edges = []
    for edge in mapping.edges:
        if edge.fulltext_index is not None and inventory.index(edge.fulltext_index) is None:
            edge = replace(edge, fulltext_index=None)
        if edge.vector_index is not None and inventory.index(edge.vector_index) is None:
            edge = replace(edge, embedding=None, vector_index=None)
        edges.append(edge)
    nodes = []
    for node in mapping.nodes:
        if node.fulltext_index is not None and inventory.index(node.fulltext_index) is None:
            node = replace(node, fulltext_index=None)
        labels = tuple(
            label
            for label in node.labels
            if inventory.labels.get(label) or _is_served(node, label, inventory)
        )
        if labels:
            nodes.append(replace(node, label=labels))
    return replace(mapping, nodes=tuple(nodes), edges=tuple(edges))


def _of_labels(mapping: GraphMapping, inventory: Inventory) -> Iterator[Problem]:
    found, counts = False, inventory.labels.items()
    for number, node in enumerate(mapping.nodes):
        for label in node.labels:
            if not inventory.labels.get(label):
                yield Problem(
                    text=f"{mapping.place('nodes', number, 'label')}no node has the label {label!r}"
                    f"{similar(label, inventory.labels)}",
                    stops=any(n and one.lower() == label.lower() for one, n in counts),
                )
                continue
            found = found or not node.connector
            if not _is_served(node, label, inventory):
                yield _unserved(mapping, number, label, inventory)
    if not found:
        asked = mapping.nodes[0].labels[0]
        meant = similar(asked, inventory.labels, listed=False) or "."
        yield Problem(
            text=f"{mapping.place('nodes', 0, 'label')}no node of this database is a memory by the "
            f"mapping: it has {_some(inventory.labels, 'label')}, and none is {asked!r}{meant} "
            "memoria adopt --detect proposes a mapping"
        )


def _is_served(node: NodeMapping, label: str, inventory: Inventory) -> bool:
    if node.key == ELEMENT_ID:
        return True
    return any(index.serves_lookups(label, node.key) for index in inventory.indexes)


def _unserved(mapping: GraphMapping, number: int, label: str, inventory: Inventory) -> Problem:
    node = mapping.nodes[number]
    where = mapping.place("nodes", number, "key")
    for index in inventory.indexes:
        ready = replace(index, state="ONLINE")
        if ready.serves_lookups(label, node.key):
            return _not_online(where, index)
    name = "".join(c if c.isalnum() else "_" for c in f"memoria_{label}_{node.key}".lower())
    return Problem(
        text=f"{where}no index finds {quoted(label)} by {node.key!r}, so each lookup would read "
        f"all {number_of(inventory.labels.get(label) or 0, 'node')}. Create one, or set key to "
        f"{ELEMENT_ID!r}",
        statement=f"CREATE INDEX {quoted(name[:60])} IF NOT EXISTS "
        f"FOR (n:{quoted(label)}) ON (n.{quoted(node.key)})",
    )


def _of_indexes(mapping: GraphMapping, inventory: Inventory) -> Iterator[Problem]:
    sizes: dict[int, str] = {}
    for edge in mapping.edges:
        if edge.vector_index is None:
            continue
        index = inventory.index(edge.vector_index)
        # An index that is missing would be made for the vectors that are there.
        size = inventory.sizes.get(edge.type) if index is None else index.dimensions
        if size is not None:
            sizes.setdefault(size, edge.vector_index)
    for number, node in enumerate(mapping.nodes):
        if node.vector_index is not None:
            yield from _of_index(
                mapping, number, "vector_index", "VECTOR", (node.embedding or "",), inventory
            )
            index = inventory.index(node.vector_index)
            if index is not None and index.dimensions is not None:
                sizes.setdefault(index.dimensions, index.name)
        if node.fulltext_index is not None:
            yield from _of_index(
                mapping, number, "fulltext_index", "FULLTEXT", node.text, inventory
            )
    if len(sizes) > 1:
        listed = ", ".join(f"{name} {size}" for size, name in sorted(sizes.items()))
        yield Problem(
            text=f"the vector indexes of the mapping have vectors of several sizes ({listed}), but "
            "one question has one vector: leave out those of other embedders"
        )


def _of_index(
    mapping: GraphMapping,
    number: int,
    field: str,
    kind: str,
    properties: tuple[str, ...],
    inventory: Inventory,
) -> Iterator[Problem]:
    node = mapping.nodes[number]
    name: str = getattr(node, field)
    labels = [label for label in node.labels if inventory.labels.get(label)]
    where = mapping.place("nodes", number, field)
    index = inventory.index(name)
    if not labels:
        return
    if index is None and (alike := _covering(kind, labels, properties, inventory)) is not None:
        yield Problem(
            text=f"{where}there is no index {name!r}, but the index {alike.name!r} covers the "
            f"same, and Neo4j makes no second one: set {field} to {alike.name!r}"
        )
    elif index is None:
        others = [
            each.name
            for each in inventory.indexes
            if each.type == kind and each.entity == "NODE" and not {*labels}.isdisjoint(each.labels)
        ]
        named = (
            f", so its words are not searched. Create it{_instead(others)}"
            if kind == "FULLTEXT"
            else f": leave embedding and {field} out, to search by words{_instead(others)}"
        )
        yield Problem(
            text=f"{where}there is no index {name!r}{named}",
            stops=kind != "FULLTEXT",
            statement=fulltext_statement(name, mapping) if kind == "FULLTEXT" else None,
        )
    elif index.type != kind or index.entity != "NODE":
        yield Problem(
            text=f"{where}the index {name!r} is a {index.type} index on {index.entity.lower()}s, "
            f"not a {kind} index on nodes: name another one"
        )
    elif missing := [label for label in labels if label not in index.labels]:
        yield Problem(
            text=f"{where}the index {name!r} covers {', '.join(index.labels)}, not "
            f"{', '.join(missing)}: name another index, or leave {field} out there"
        )
    elif not set(properties) & set(index.properties):
        yield Problem(
            text=f"{where}the index {name!r} is on {', '.join(index.properties)}, not on "
            f"{', '.join(properties)}: name another index, or these properties"
        )
    elif index.state != "ONLINE":
        yield _not_online(where, index)
    elif kind == "VECTOR" and index.similarity not in (None, "cosine"):
        yield _not_cosine(where, index)


def _covering(
    kind: str, labels: Sequence[str], properties: Sequence[str], inventory: Inventory
) -> Index | None:
    """Return an index of another name on these labels, and on one of these properties."""
    return next(
        (
            index
            for index in inventory.indexes
            if (index.type, index.entity) == (kind, "NODE")
            and set(labels) <= set(index.labels)
            and set(properties) & set(index.properties)
        ),
        None,
    )


def fulltext_statement(name: str, mapping: GraphMapping) -> str:
    """Write the statement that makes a full-text index of a mapping, on all texts that name it."""
    if nodes := [node for node in mapping.nodes if node.fulltext_index == name]:
        of = f"(n:{either(label for node in nodes for label in node.labels)})"
        texts = [text for node in nodes for text in node.text]
    else:
        edges = [edge for edge in mapping.edges if edge.fulltext_index == name]
        of = f"()-[n:{either(edge.type for edge in edges)}]-()"
        texts = [text for edge in edges if (text := edge.fact or edge.relation)]
    listed = ", ".join(f"n.{quoted(each)}" for each in dict.fromkeys(texts))
    return (
        f"CREATE FULLTEXT INDEX {quoted(name)} IF NOT EXISTS FOR {of} ON EACH [{listed}] "
        "OPTIONS {indexConfig: {`fulltext.analyzer`: 'standard-folding'}}"
    )


def _not_online(where: str, index: Index) -> Problem:
    if index.state == "POPULATING":
        return Problem(
            text=f"{where}the index {index.name!r} is being populated: wait, and try again",
            waits=True,
        )
    return Problem(
        text=f"{where}the index {index.name!r} is {index.state}: drop it, and create it again"
    )


def _not_cosine(where: str, index: Index) -> Problem:
    return Problem(
        text=f"{where}the index {index.name!r} compares by {index.similarity}, and memoria by "
        "cosine: leave embedding and vector_index out, or create an index on cosine"
    )


def _of_types(mapping: GraphMapping, inventory: Inventory) -> Iterator[Problem]:
    for number, edge in enumerate(mapping.edges):
        if not inventory.types.get(edge.type):
            yield Problem(
                text=f"{mapping.place('edges', number, 'type')}no relationship has the type "
                f"{edge.type!r}{similar(edge.type, inventory.types)}",
                stops=False,
            )
        if edge.fulltext_index is not None:
            yield from _of_fact_index(mapping, number, "fulltext_index", "FULLTEXT", inventory)
        if edge.vector_index is not None:
            yield from _of_fact_index(mapping, number, "vector_index", "VECTOR", inventory)
    if not any(inventory.types.get(edge.type) for edge in mapping.edges):
        yield Problem(
            text=f"no relationship of this database is an edge by the mapping {mapping.name!r}: "
            f"only what the search finds can be found. It has {_some(inventory.types, 'type')}",
            stops=False,
        )


def _of_fact_index(
    mapping: GraphMapping, number: int, field: str, kind: str, inventory: Inventory
) -> Iterator[Problem]:
    edge = mapping.edges[number]
    name: str = getattr(edge, field)
    index = inventory.index(name)
    where = mapping.place("edges", number, field)
    if index is None and kind == "FULLTEXT":
        yield _no_fact_words(where, edge, mapping, inventory)
    elif index is None:
        yield _no_fact_vectors(where, edge, inventory)
    elif (index.type, index.entity) != (kind, "RELATIONSHIP") or edge.type not in index.labels:
        yield Problem(
            text=f"{where}the index {name!r} is a {index.type} index on "
            f"{', '.join(index.labels)}, not a {kind} index on relationships {edge.type!r}: name "
            f"another one, or leave {field} out"
        )
    elif kind == "VECTOR" and edge.embedding not in index.properties:
        yield Problem(
            text=f"{where}the index {name!r} is on {', '.join(index.properties)}, not on "
            f"{edge.embedding}: name another index, or this property"
        )
    elif index.state != "ONLINE":
        yield _not_online(where, index)
    elif kind == "VECTOR" and index.similarity not in (None, "cosine"):
        yield _not_cosine(where, index)


def _no_fact_words(
    where: str, edge: EdgeMapping, mapping: GraphMapping, inventory: Inventory
) -> Problem:
    name, text = edge.fulltext_index or "", edge.fact or edge.relation
    missing = f"{where}there is no index {name!r}, so facts are shown, but not searched"
    if text is None:
        return Problem(
            text=f"{missing}: name the property with their text as fact, or leave fulltext_index "
            "out",
            stops=False,
        )
    if (alike := _covering_facts("FULLTEXT", edge, text, inventory)) is not None:
        return Problem(text=f"{missing}. {_same('fulltext_index', alike)}", stops=False)
    return Problem(
        text=f"{missing}. Create it, or leave fulltext_index out",
        stops=False,
        statement=fulltext_statement(name, mapping),
    )


def _no_fact_vectors(where: str, edge: EdgeMapping, inventory: Inventory) -> Problem:
    missing = (
        f"{where}there is no index {edge.vector_index!r}, so facts are not searched by their "
        "vectors"
    )
    if (alike := _covering_facts("VECTOR", edge, edge.embedding, inventory)) is not None:
        return Problem(text=f"{missing}. {_same('vector_index', alike)}", stops=False)
    if (size := inventory.sizes.get(edge.type)) is None:
        return Problem(
            text=f"{missing}; and no relationship {edge.type!r} that was looked at has a vector "
            f"under {edge.embedding!r}: leave embedding and vector_index out",
            stops=False,
        )
    return Problem(
        text=f"{missing}. Create it, or leave embedding and vector_index out",
        stops=False,
        statement=vector_statement(
            edge.vector_index or "",
            f"()-[n:{quoted(edge.type)}]-()",
            edge.embedding or "",
            size,
        ),
    )


def _covering_facts(
    kind: str, edge: EdgeMapping, name: str | None, inventory: Inventory
) -> Index | None:
    """Return an index of another name on this property of these relationships."""
    return next(
        (
            index
            for index in inventory.indexes
            if (index.type, index.entity) == (kind, "RELATIONSHIP")
            and edge.type in index.labels
            and name in index.properties
        ),
        None,
    )


def _same(field: str, alike: Index) -> str:
    return (
        f"The index {alike.name!r} covers the same, and Neo4j makes no second one: set {field} to "
        f"{alike.name!r}"
    )


def vector_statement(name: str, of: str, embedding: str, dimensions: int) -> str:
    """Write the statement that makes a vector index, of nodes or relationships called ``n``."""
    return (
        f"CREATE VECTOR INDEX {quoted(name)} IF NOT EXISTS FOR {of} ON (n.{quoted(embedding)}) "
        f"OPTIONS {{indexConfig: {{`vector.dimensions`: {dimensions}, "
        "`vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}"
    )


def fault_problems(
    mapping: GraphMapping, number: int, label: str, faults: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield what ``mapping.node_faults`` has found among the nodes of a label."""
    node, whole = mapping.nodes[number], faults["examined"]
    where = quoted(label)
    if faults["no_key"]:
        yield Problem(
            text=f"{where}: {faults['no_key']} of {number_of(whole, 'node')} have no text under "
            f"{node.key!r}, and are not read",
            stops=False,
        )
    if faults["no_scope"]:
        yield Problem(
            text=f"{where}: {faults['no_scope']} of {number_of(whole, 'node')} have no text under "
            f"{node.scope!r}, so they belong to no scope, and are not read",
            stops=False,
        )
    if faults["no_text"] and not node.connector:
        yield Problem(
            text=f"{where}: {faults['no_text']} of {number_of(whole, 'node')} have no text; energy "
            "flows through them",
            stops=False,
        )
    if faults["duplicates"]:
        yield Problem(
            text=f"{where}: a key belongs to several nodes, such as {faults['example']!r} "
            f"({number_of(faults['duplicates'], 'node')} too many), so they can't be told apart: "
            f"use a unique property, or key = {ELEMENT_ID!r}"
        )


def edge_fault_problems(
    mapping: GraphMapping, number: int, faults: Mapping[str, Any]
) -> Iterator[Problem]:
    """Yield what ``mapping.edge_faults`` has found among the relationships of a type."""
    edge, whole = mapping.edges[number], faults["examined"]
    where = quoted(edge.type)
    if faults["dangling"]:
        yield Problem(
            text=f"{where}: {faults['dangling']} of {number_of(whole, 'relationship')} lead to a "
            "node that is not mapped; they count in the number of edges, and carry nothing",
            stops=False,
        )
    if isinstance(edge.weight, WeightOf):
        name = edge.weight.property
        if faults["no_weight"]:
            yield Problem(
                text=f"{where}: {faults['no_weight']} of {number_of(whole, 'relationship')} have "
                f"no {name!r}, and count with the weight 0.01",
                stops=False,
            )
        if faults["bad_weight"]:
            yield Problem(
                text=f"{where}: {faults['bad_weight']} of {number_of(whole, 'relationship')} have "
                f"a {name!r} that is not a number, and carry nothing",
                stops=False,
            )


def _instead(others: Sequence[str]) -> str:
    return f", or name one of those that are there ({_first(others)})" if others else ""


def similar(name: str, known: Iterable[str], *, listed: bool = True) -> str:
    """Say which of the known names may be meant, or which there are."""
    known = [*known]
    close = difflib.get_close_matches(name.lower(), [each.lower() for each in known], n=1)
    match = next((each for each in known if close and each.lower() == close[0]), None)
    if match is not None:
        return f": did you mean {match!r}?"
    return f": there are {_first(known)}" if known and listed else ""


def _some(names: Iterable[str], what: str) -> str:
    names = [*names]
    return f"no {what} at all" if not names else f"{number_of(len(names), what)}: {_first(names)}"


def _first(names: Sequence[str]) -> str:
    more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(name) for name in names[:_SHOWN]) + more
