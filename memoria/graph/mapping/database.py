"""Ask a database what it has, before a mapping is used or made.

In: a store of memoria's own. Out: labels and types, indexes, samples. Reads only.
Queries: ``mapping.*``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memoria.graph.mapping.expressions import either, with_names
from memoria.store import Store
from memoria.store.fragments import Fragment
from memoria.store.queries import Query, fragment, load, text_of


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
    """What a database has: labels and types, with their numbers if counted; and indexes."""

    labels: Mapping[str, int | None]
    types: Mapping[str, int | None]
    indexes: tuple[Index, ...]

    def index(self, name: str) -> Index | None:
        """Return the index of this name."""
        return next((index for index in self.indexes if index.name == name), None)


async def indexes_of(store: Store, *, until: float | None = None) -> tuple[Index, ...]:
    """Read all indexes; one round trip."""
    rows = await store.run(load("mapping.indexes"), {}, until=until)
    return tuple(
        Index(**{**row, "labels": tuple(row["labels"]), "properties": tuple(row["properties"])})
        for row in map(dict, rows)
    )


async def names_of(store: Store, *, until: float | None = None) -> tuple[list[str], list[str]]:
    """Return all labels and all types, used or not, sorted; one round trip."""
    names = (await store.run(load("mapping.names"), {}, until=until))[0]
    return sorted(names["labels"]), sorted(names["types"])


async def inventory_of(
    store: Store,
    labels: Iterable[str],
    types: Iterable[str],
    *,
    until: float | None = None,
) -> Inventory:
    """Count the nodes of labels and the relationships of types; one round trip for each.

    The inventory has those that are there; of the database's other labels and types it knows only
    the names, with None for their number, so that messages can name them.
    """
    asked, asked_types = set(labels), set(types)
    known, known_types = await names_of(store, until=until)
    counted = {
        label: await _number(store, "mapping.count_nodes", label=label, until=until)
        for label in known
        if label in asked
    }
    counted_types = {
        type_: await _number(store, "mapping.count_edges", type_=type_, until=until)
        for type_ in known_types
        if type_ in asked_types
    }
    return Inventory(
        labels={label: counted.get(label) for label in known if counted.get(label) != 0},
        types={
            type_: counted_types.get(type_)
            for type_ in known_types
            if counted_types.get(type_) != 0
        },
        indexes=await indexes_of(store, until=until),
    )


async def ask(
    store: Store,
    name: str,
    parameters: Mapping[str, Any],
    *,
    label: str | None = None,
    type_: str | None = None,
    until: float | None = None,
) -> Mapping[str, Any]:
    """Run a query of this room about the nodes of a label, or the relationships of a type."""
    query = _about(load(name), label, type_)
    rows: Sequence[Mapping[str, Any]] = await store.run(query, parameters, until=until)
    return rows[0]


async def _number(store: Store, name: str, **about: Any) -> int:
    count: int = (await ask(store, name, {}, **about))["count"]
    return count


def _about(query: Query, label: str | None, type_: str | None) -> Query:
    names = {"any_memory": label, "any_edge": type_}

    def library(name: str) -> Fragment:
        own, given = fragment(name), names.get(name)
        if given is None:
            return own
        return replace(own, lines=tuple(with_names(own.lines, either([given]))))

    return query.with_text(text_of(query.name, library))
