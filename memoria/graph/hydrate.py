"""Read memories by id, as a caller sees them.

In: ids. Out: `MemoryNode`s; values that memoria can't use read as empty. Reads only.
Queries: ``graph.hydrate``, ``graph.superseded``, ``graph.versions``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from memoria._support import foreign
from memoria.graph.vocabulary import MEMORY_LABEL
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import MemoryNode, SuppressionKind

_OVERRIDES: SuppressionKind = "overrides"
_VERSIONS = 20


async def hydrate(
    store: Store, ids: Collection[str], *, scope: str, until: float | None
) -> dict[str, MemoryNode]:
    """Read memories by id.

    Returns
    -------
    dict
        Id -> memory; an id that is not in ``scope`` is left out.

    Notes
    -----
    One round trip.
    """
    parameters = {"ids": list(ids), "scope": scope}
    records = await store.run(load("graph.hydrate"), parameters, until=until)
    return {row[0]: memory_node(row) for row in records[0]["memories"]}


async def superseded_of(store: Store, scope: str, ids: Iterable[str]) -> dict[str, str]:
    """Return which memories others have replaced: id -> id of the other one."""
    parameters = {"ids": list(ids), "scope": scope}
    rows = await store.run(load("graph.superseded"), parameters)
    return {row["id"]: str(row["by"]) for row in rows}


async def versions_of(store: Store, scope: str, id_: str) -> list[str]:
    """Return the ids of a memory, of those that it replaced, and of those that replaced it."""
    parameters = {"id": id_, "kind": _OVERRIDES, "limit": _VERSIONS, "scope": scope}
    ids: list[str] = (await store.run(load("graph.versions"), parameters))[0]["ids"]
    return ids


class Memories:
    """Memories read so far by one group of explorations.

    Each memory is read once; later changes are not seen.

    Parameters
    ----------
    store, scope
        Database and scope of the memories.
    until
        Time of the loop's clock at which reading must be over; seconds.
    """

    def __init__(self, store: Store, *, scope: str, until: float | None) -> None:
        self.store = store
        self.scope = scope
        self.until = until
        self._ids: set[str] = set()  # ids of _known and of _taken
        self._known: dict[str, MemoryNode] = {}
        self._taken: list[Sequence[Any]] = []

    @property
    def known(self) -> Mapping[str, MemoryNode]:
        """Id -> memory, for the memories read so far."""
        self.build()
        return self._known

    def has(self, ids: Iterable[str]) -> bool:
        """Tell whether all of these memories have been read."""
        return self._ids.issuperset(ids)

    def take(self, rows: Iterable[Sequence[Any]]) -> None:
        """Keep memories that another query returned, as rows of ``graph.hydrate``.

        `build` turns the rows into memories later, so that the next query can be sent first.
        """
        for row in rows:
            if row[0] not in self._ids:
                self._ids.add(row[0])
                self._taken.append(row)

    def build(self) -> None:
        """Turn the rows that were taken into memories."""
        self._known |= {row[0]: memory_node(row) for row in self._taken}
        self._taken.clear()

    async def read(self, ids: Collection[str]) -> None:
        """Read the memories that are not known yet; ids that don't exist are passed over."""
        if missing := {*ids} - self._ids:
            self._keep(
                await hydrate(self.store, sorted(missing), scope=self.scope, until=self.until)
            )

    def _keep(self, memories: Mapping[str, MemoryNode]) -> None:
        """Keep the memories read, except those that were taken in the meantime."""
        self._known |= {id_: memories[id_] for id_ in memories.keys() - self._ids}
        self._ids |= memories.keys()


def memory_node(row: Sequence[Any]) -> MemoryNode:
    """Build a memory from a row of ``graph.hydrate``; unusable values read as empty."""
    id_, labels, text, tags, topics, entities, category, priority, when, created_at, *rest = row
    metadata, valid_until = (*rest, None)[:2]  # a strategy of one's own may know no valid_until
    return MemoryNode(
        id=id_,
        kind=min((label for label in labels if label != MEMORY_LABEL), default=MEMORY_LABEL),
        text=foreign.string(text) or "",
        tags=foreign.strings(tags),
        topics=foreign.strings(topics),
        entities=foreign.strings(entities),
        category=foreign.string(category),
        priority=foreign.number(priority),
        when=foreign.json_map(when),
        created_at=foreign.moment(created_at),
        metadata=foreign.properties(metadata),
        valid_until=foreign.moment(valid_until),
    )
