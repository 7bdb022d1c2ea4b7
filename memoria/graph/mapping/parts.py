"""The parts of a mapping: how nodes with a label and relationships of a type are read.

In: names of labels, properties and indexes. Out: frozen data, checked at birth.
Touches nothing; `memoria.graph.mapping.model` puts them together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from memoria._support.stems import name_stems
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
        labels = self.labels
        if not labels:
            raise MappingError("label must name at least one label", field="label")
        for label in labels:
            _name(label, "label")
        _name(self.key, "key")
        object.__setattr__(self, "text", checked_names(self.text, "text"))
        names = ("scope", "kind", "created_at", "valid_until", "tags", "embedding")
        for name in (*names, "vector_index", "fulltext_index"):
            if getattr(self, name) is not None:
                _name(getattr(self, name), name)
        if not isinstance(self.connector, bool):
            raise MappingError(
                f"connector must be true or false, got {value_of(self.connector)}",
                field="connector",
            )
        if not self.connector and not self.text:
            raise MappingError(
                f"text is missing: name the properties with the text of {labels_listed(labels)}, "
                "or set connector to true if the nodes only join others",
                field="text",
            )
        _check_vectors(self)
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
        return checked_names(self.label, "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeMapping:
    """How relationships of one type are read as edges.

    A fact that an index on relationships finds leads to the nodes at both ends, and to its sources.

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
    sources
        The property with a list of keys: those of the memories that state the fact.
    embedding, vector_index
        The property with the vector of the fact, and the name of its index; both or neither.
    fulltext_index
        Name of a full-text index on relationships of this type.
    tags
        The property with a list of tags; None for the type as the only tag, if it has ``words``.
    words
        Words with which questions ask for edges of this type, such as ``actor`` and ``play`` for
        ``ACTED_IN``; None for those of the type itself. Empty: no question does, as the edges are
        only structure, or have a ``relation``, a ``fact`` or ``tags`` that says what they mean.
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
    sources: str | None = None
    embedding: str | None = None
    vector_index: str | None = None
    fulltext_index: str | None = None
    tags: str | None = None
    words: tuple[str, ...] | None = None
    created_at: str | None = None
    valid_from: str | None = None
    valid_until: tuple[str, ...] = ()

    def __post_init__(self) -> None:
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
        names = ("relation", "fact", "sources", "embedding", "vector_index", "fulltext_index")
        for name in (*names, "tags", "created_at", "valid_from"):
            if getattr(self, name) is not None:
                _name(getattr(self, name), name)
        _check_vectors(self)
        object.__setattr__(self, "valid_until", checked_names(self.valid_until, "valid_until"))
        if self.words is not None:
            object.__setattr__(self, "words", checked_names(self.words, "words"))
            self._check_words(self.words)

    def _check_words(self, words: tuple[str, ...]) -> None:
        for word in words:
            if not name_stems(word):
                raise MappingError(
                    f"words has {value_of(word)}, which says nothing by itself: leave it out",
                    field="words",
                )
        if words and self.asked_as == ():
            raise MappingError(
                "words are for edges whose type says what they mean: leave out words, or relation, "
                "fact and tags",
                field="words",
            )

    @property
    def asked_as(self) -> tuple[str, ...]:
        """The words with which a question asks for these edges, by their type; perhaps none."""
        if self.relation is not None or self.fact is not None or self.tags is not None:
            return ()
        return (self.type,) if self.words is None else self.words


def _check_vectors(part: NodeMapping | EdgeMapping) -> None:
    if (part.embedding is None) != (part.vector_index is None):
        raise MappingError(
            "embedding and vector_index go together: the property with the vector, and the "
            "name of its index",
            field="vector_index" if part.embedding is None else "embedding",
        )


def labels_listed(labels: tuple[str, ...]) -> str:
    """Name labels in a message."""
    return ", ".join(labels)


def checked_names(values: object, field_: str) -> tuple[str, ...]:
    """Return names of Neo4j's as a tuple, if they are that, each once."""
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
