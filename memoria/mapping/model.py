"""Say how a graph that another program made is to be read: `GraphMapping` and its parts.

In: names of labels, properties and indexes. Out: frozen data, checked at birth.
Touches nothing; `memoria.mapping.checking` compares it with a database.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Literal, Self, cast

from memoria._support.wording import kind_of, value_of
from memoria.errors import MappingError
from memoria.graph.vocabulary import CONNECTOR_KINDS

#: As a key: nodes are known by ``elementId``, which holds only as long as the database lives.
ELEMENT_ID = "elementId"
#: The scope of a graph whose mapping names no scope property.
WHOLE_GRAPH = "default"

Direction = Literal["both", "out", "in"]

_MAX_NAME_CHARS = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightOf:
    """The weight of an edge, made of one of its properties.

    A property that is missing counts as 0.01, and one that is not a number drops the edge, as in
    memoria's own graph.

    Attributes
    ----------
    property
        Name of the property.
    low, high
        The values that become 0 and 1; what is below ``low`` drops the edge, what is above
        ``high`` counts as more than 1, that is as ``max_weight``.
    half
        For a count, instead of ``low`` and ``high``: the number that becomes 0.5; the weight is
        ``number / (number + half)``, which approaches 1. Above 0.
    """

    property: str
    low: float = 0.0
    high: float = 1.0
    half: float | None = None

    def __post_init__(self) -> None:
        """Check the name and the numbers."""
        _name(self.property, "weight.property")
        for name in ("low", "high"):
            _number(getattr(self, name), f"weight.{name}")
        if self.high <= self.low:
            raise MappingError(
                f"weight.high must be above weight.low ({self.low:g}), got {self.high:g}",
                field="weight",
            )
        if self.half is not None:
            _number(self.half, "weight.half")
            if self.half <= 0:
                raise MappingError("weight.half must be above 0", field="weight")
            if (self.low, self.high) != (0.0, 1.0):
                raise MappingError(
                    "weight.half is for a count: leave weight.low and weight.high out",
                    field="weight",
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeMapping:
    """How nodes with one of some labels are read as memories.

    Attributes
    ----------
    label
        The label; or several, as a tuple, if all else is the same for them.
    key
        The property that identifies a node, a string, with an index; or ``elementId``, which needs
        no index, but changes when the database is copied.
    text
        The properties that are the text, in this order; those that a node lacks are left out.
    scope
        The property that names the tenant, a string; None if the graph has one tenant. All nodes
        of a mapping have one, or none has.
    kind
        The property that says what a node is; None for its label.
    created_at, valid_until
        Properties with times; from ``valid_until`` on, a node is left out.
    tags
        The property with a list of tags.
    embedding, vector_index
        The property with the vector, and the name of its index; both or neither.
    fulltext_index
        Name of the full-text index on the text.
    connector
        Whether the nodes only join others: they carry energy, and are not found, ranked or packed.
    """

    label: str | tuple[str, ...]
    key: str
    text: tuple[str, ...] = ()
    scope: str | None = None
    kind: str | None = None
    created_at: str | None = None
    valid_until: str | None = None
    tags: str | None = None
    embedding: str | None = None
    vector_index: str | None = None
    fulltext_index: str | None = None
    connector: bool = False

    def __post_init__(self) -> None:
        """Check every name."""
        labels = self.labels
        if not labels:
            raise MappingError("label must name at least one label", field="label")
        for label in labels:
            _name(label, "label")
        _name(self.key, "key")
        object.__setattr__(self, "text", _names(self.text, "text"))
        for name in _OPTIONAL_OF_NODES:
            if getattr(self, name) is not None:
                _name(getattr(self, name), name)
        _flag(self.connector, "connector")
        if not self.connector and not self.text:
            raise MappingError(
                f"text is missing: name the properties that are the text of {_listed(labels)}, or "
                "set connector to true if the nodes only join others",
                field="text",
            )
        if (self.embedding is None) != (self.vector_index is None):
            raise MappingError(
                "embedding and vector_index go together: the property with the vector, and the "
                "name of its index",
                field="embedding",
            )
        taken = sorted({*labels} & {*CONNECTOR_KINDS})
        if taken and not self.connector and self.kind is None:
            raise MappingError(
                f"memoria takes nodes of the kind {taken[0]} for connectors: set connector to "
                "true, or kind to a property that calls them something else",
                field="label",
            )

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, also if there is one."""
        if isinstance(self.label, str):
            return (self.label,)
        return _names(self.label, "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeMapping:
    """How relationships of one type are read as edges.

    Attributes
    ----------
    type
        Type of the relationships.
    direction
        Which way energy flows: ``both``, only ``out`` (as the arrow points), or only ``in``.
    weight
        How strong each is, 0 to 1; or how to make it of a property.
    relation
        The property that says what the edge means; None for its type.
    fact
        The property with a sentence that the edge states. Where there is one, it is shown as the
        relation.
    fulltext_index
        Name of a full-text index on relationships of this type: a fact that it finds leads to the
        nodes at both ends.
    tags
        The property with a list of tags.
    created_at, valid_from
        Properties with times; before ``valid_from`` the edge carries nothing.
    valid_until
        Properties with times; from the first of them on, the edge carries nothing.
    """

    type: str
    direction: Direction = "both"
    weight: float | WeightOf = 0.5
    relation: str | None = None
    fact: str | None = None
    fulltext_index: str | None = None
    tags: str | None = None
    created_at: str | None = None
    valid_from: str | None = None
    valid_until: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check every name, and the weight."""
        _name(self.type, "type")
        if self.direction not in ("both", "out", "in"):
            raise MappingError(
                f"direction must be both, out or in; got {value_of(self.direction)}",
                field="direction",
            )
        if not isinstance(self.weight, WeightOf):
            number = _number(self.weight, "weight")
            if not 0 < number <= 1:
                raise MappingError(
                    f"weight must be above 0 and at most 1, got {number:g}", field="weight"
                )
        for name in (*("relation", "fact", "fulltext_index", "tags", "created_at", "valid_from"),):
            if getattr(self, name) is not None:
                _name(getattr(self, name), name)
        object.__setattr__(self, "valid_until", _names(self.valid_until, "valid_until"))


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphMapping:
    """How a graph that another program made is read; nothing of it is changed.

    Give it to `GraphRetriever` or `connect`. Where a node fits several `NodeMapping`, the first
    one counts.

    Attributes
    ----------
    nodes
        The nodes that are memories or connectors; at least one that is not a connector.
    edges
        The relationships along which energy flows; at least one.
    name
        What to call it in messages.
    properties
        Further properties of nodes that come back as `MemoryNode.metadata`, and that filters can
        ask for; ``True`` for all but vectors.
    places
        Where each part stands in a file, for messages: ``nodes.0.key`` -> ``graph.toml, line 4``.
    """

    nodes: tuple[NodeMapping, ...]
    edges: tuple[EdgeMapping, ...]
    name: str = "mapping"
    properties: tuple[str, ...] | bool = ()
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check that the parts go together."""
        object.__setattr__(self, "nodes", _parts(self.nodes, NodeMapping, "nodes"))
        object.__setattr__(self, "edges", _parts(self.edges, EdgeMapping, "edges"))
        if not isinstance(self.name, str) or not self.name:
            raise MappingError("name must be a text", field="name")
        if not isinstance(self.properties, bool):
            object.__setattr__(self, "properties", _names(self.properties, "properties"))
        self._check_repeats()
        if all(node.connector for node in self.nodes):
            raise MappingError(
                "every node is a connector, so nothing could be found: set connector to false for "
                "nodes with a text",
                field="nodes",
            )
        scoped = [node.scope is not None for node in self.nodes]
        if any(scoped) and not all(scoped):
            bare = next(i for i, node in enumerate(self.nodes) if node.scope is None)
            raise MappingError(
                f"{self.place('nodes', bare, 'label')}{_listed(self.nodes[bare].labels)} has no "
                "scope, but other nodes have one: nodes without a tenant would belong to every "
                "tenant. Give it one, or leave these nodes out",
                field="scope",
            )

    def _check_repeats(self) -> None:
        for part, index, labels in [
            *(("nodes", i, node.labels) for i, node in enumerate(self.nodes)),
            *(("edges", i, (edge.type,)) for i, edge in enumerate(self.edges)),
        ]:
            earlier = getattr(self, part)[:index]
            taken = {n for e in earlier for n in (e.labels if part == "nodes" else (e.type,))}
            if again := sorted(taken.intersection(labels)):
                where = self.place(part, index, "label" if part == "nodes" else "type")
                raise MappingError(f"{where}{again[0]} is mapped twice: leave one out", field=part)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a mapping from a TOML file; `memoria adopt NAME` prints one to begin with.

        Raises
        ------
        MappingError
            The file can't be read, or does not say a mapping; the message names the line.
        """
        from memoria.mapping.files import load_mapping  # which needs this class

        return cast(Self, load_mapping(path))

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the mapping of a graph that a known program makes, such as ``graphiti``.

        `memoria adopt --help` lists the names.

        Raises
        ------
        MappingError
            There is no such mapping; the message lists those that there are.
        """
        from memoria.mapping.files import named_mapping  # which needs this class

        return cast(Self, named_mapping(name))

    def place(self, part: str, index: int, name: str) -> str:
        """Return where a value stands, to begin a message with."""
        found = self.places.get(f"{part}.{index}.{name}") or self.places.get(f"{part}.{index}")
        return f"{found}: " if found else f"{part}[{index}].{name}: "

    @property
    def has_scopes(self) -> bool:
        """Whether a property separates tenants."""
        return self.nodes[0].scope is not None

    @property
    def vector_indexes(self) -> tuple[str, ...]:
        """Names of the vector indexes, each once."""
        return _distinct(node.vector_index for node in self.nodes if not node.connector)

    @property
    def fulltext_indexes(self) -> tuple[str, ...]:
        """Names of the full-text indexes, each once."""
        return _distinct(node.fulltext_index for node in self.nodes if not node.connector)

    @property
    def fact_indexes(self) -> tuple[str, ...]:
        """Names of the full-text indexes on relationships, each once."""
        return _distinct(edge.fulltext_index for edge in self.edges)


_OPTIONAL_OF_NODES = (
    *("scope", "kind", "created_at", "valid_until", "tags", "embedding", "vector_index"),
    "fulltext_index",
)


def _parts(values: object, kind: type, name: str) -> tuple[object, ...]:
    if isinstance(values, kind):
        values = (values,)
    if not isinstance(values, tuple | list) or not all(isinstance(v, kind) for v in values):
        raise MappingError(f"{name} must be a list of {kind.__name__}", field=name)
    if not values:
        raise MappingError(f"{name} must not be empty: map at least one", field=name)
    return tuple(values)


def _distinct(names: object) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name is not None))  # type: ignore[attr-defined]


def _listed(labels: tuple[str, ...]) -> str:
    return ", ".join(labels)


def _names(values: object, field_: str) -> tuple[str, ...]:
    if isinstance(values, str):
        values = (values,)
    if not isinstance(values, tuple | list):
        raise MappingError(f"{field_} must be a list of names, got {kind_of(values)}", field=field_)
    for value in values:
        _name(value, field_)
    if len(set(values)) < len(values):
        raise MappingError(f"{field_} names the same twice", field=field_)
    return tuple(values)


def _name(value: object, field_: str) -> str:
    """Return a name of Neo4j's; any character may stand in one, for it is quoted in queries."""
    if not isinstance(value, str):
        raise MappingError(f"{field_} must be a name, got {kind_of(value)}", field=field_)
    if not value.strip() or "\0" in value or len(value) > _MAX_NAME_CHARS:
        raise MappingError(
            f"{field_} must be a name of 1 to {_MAX_NAME_CHARS} characters, got {value_of(value)}",
            field=field_,
        )
    return value


def _number(value: object, field_: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise MappingError(f"{field_} must be a number, got {value_of(value)}", field=field_)
    return float(value)


def _flag(value: object, field_: str) -> None:
    if not isinstance(value, bool):
        raise MappingError(f"{field_} must be true or false, got {value_of(value)}", field=field_)
