"""Ask a database what it has, before a mapping is used or made.

In: a store of memoria's own. Out: labels and types, indexes, samples. Reads only.
Queries: ``mapping.*``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memoria.graph.mapping.expressions import either, with_names
from memoria.graph.mapping.model import GraphMapping
from memoria.store import Store
from memoria.store.fragments import Fragment
from memoria.store.queries import Query, fragment, load, text_of

_SAMPLE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """An index of the database; see ``mapping.indexes``."""

    name: str
    state: str
    type: str
    entity: str
    labels: tuple[str, ...]
    properties: tuple[str, ...]
    dimensions: int | None
    similarity: str | None

    def serves_lookups(self, label: str, key: str) -> bool:
        """Whether it finds the nodes of a label by this key."""
        return (
            self.type == "RANGE"
            and self.entity == "NODE"
            and self.state == "ONLINE"
            and self.labels == (label,)
            and self.properties == (key,)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The labels, types and indexes of a database, with numbers where they were counted.

    Attributes
    ----------
    sizes
        Type -> size of the vectors of facts that have no index.
    """

    labels: Mapping[str, int | None]
    types: Mapping[str, int | None]
    indexes: tuple[Index, ...]
    sizes: Mapping[str, int] = field(default_factory=dict)

    def index(self, name: str) -> Index | None:
        """Return the index of this name."""
        return next((index for index in self.indexes if index.name == name), None)


async def names_of(store: Store) -> tuple[list[str], list[str]]:
    """Return all labels and all types, used or not, sorted; one round trip."""
    names = (await store.run(load("mapping.names"), {}))[0]
    return sorted(names["labels"]), sorted(names["types"])


async def inventory_of(store: Store, labels: Iterable[str], types: Iterable[str]) -> Inventory:
    """Count the nodes of labels and the relationships of types; one round trip for each.

    The inventory has those that are there; of the database's other labels and types it knows only
    the names, with None for their number, so that messages can name them. Labels that differ from
    these in capitals alone are counted, too.
    """
    asked, asked_types = {label.lower() for label in labels}, set(types)
    known, known_types = await names_of(store)
    counted: dict[str, int | None] = dict.fromkeys(known)
    for label in (name for name in known if name.lower() in asked):
        counted[label] = (await ask(store, "mapping.count_nodes", {}, label=label))["count"]
    counted_types: dict[str, int | None] = dict.fromkeys(known_types)
    for type_ in asked_types.intersection(known_types):
        counted_types[type_] = (await ask(store, "mapping.count_edges", {}, type_=type_))["count"]
    rows = await store.run(load("mapping.indexes"), {})
    return Inventory(
        labels={label: number for label, number in counted.items() if number != 0},
        types={type_: number for type_, number in counted_types.items() if number != 0},
        indexes=tuple(
            Index(**{**row, "labels": tuple(row["labels"]), "properties": tuple(row["properties"])})
            for row in map(dict, rows)
        ),
    )


async def inventory_for(store: Store, mapping: GraphMapping) -> Inventory:
    """Return the inventory to compare a mapping with; see `inventory_of` and `with_sizes`."""
    inventory = await inventory_of(store, mapping.labels, mapping.types)
    return await with_sizes(store, mapping, inventory)


async def with_sizes(store: Store, mapping: GraphMapping, inventory: Inventory) -> Inventory:
    """Look how long the vectors of facts are, where their index is missing: it has to know."""
    sizes: dict[str, int] = {}
    for edge in mapping.edges:
        is_there = edge.vector_index is None or inventory.index(edge.vector_index)
        if not is_there and inventory.types.get(edge.type):
            asked = {"limit": _SAMPLE, "name": edge.embedding}
            found = (await ask(store, "mapping.vector_size", asked, type_=edge.type))["size"]
            sizes |= {} if found is None else {edge.type: found}
    return replace(inventory, sizes=sizes)


async def ask(
    store: Store,
    name: str,
    parameters: Mapping[str, Any],
    *,
    label: str | None = None,
    type_: str | None = None,
) -> Mapping[str, Any]:
    """Run a query of this room about the nodes of a label, or the relationships of a type."""
    query = _about(load(name), label, type_)
    rows: Sequence[Mapping[str, Any]] = await store.run(query, parameters)
    return rows[0]


def _about(query: Query, label: str | None, type_: str | None) -> Query:
    names = {"any_memory": label, "any_edge": type_}

    def library(name: str) -> Fragment:
        own, given = fragment(name), names.get(name)
        if given is None:
            return own
        return replace(own, lines=tuple(with_names(own.lines, either([given]))))

    return query.with_text(text_of(query.name, library))
