"""Read the memories that a caller gets to see.

In: ids. Out: `MemoryNode`s, tolerant of whatever wrote the graph. Reads only.
Query: ``graph.hydrate``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memoria.store import Store
from memoria.store.queries import load
from memoria.types import MemoryNode


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


class Memories:
    """Memories read so far, by explorations that belong together; a text is that of its first read.

    Parameters
    ----------
    store, scope
        Where they are.
    until
        Time of the loop's clock at which reading must be over; seconds.
    """

    def __init__(self, store: Store, *, scope: str, until: float | None) -> None:
        self.store = store
        self.scope = scope
        self.until = until
        self._ids: set[str] = set()  # those of _known and _taken
        self._known: dict[str, MemoryNode] = {}
        self._taken: list[Sequence[Any]] = []

    @property
    def known(self) -> Mapping[str, MemoryNode]:
        """Id -> memory, of those read so far."""
        self.build()
        return self._known

    def has(self, ids: Iterable[str]) -> bool:
        """Whether all of them have been read."""
        return self._ids.issuperset(ids)

    def take(self, rows: Iterable[Sequence[Any]]) -> None:
        """Keep what another query brought along: rows of ``graph.hydrate``.

        They are built later: the next query is to be sent first.
        """
        for row in rows:
            if row[0] not in self._ids:
                self._ids.add(row[0])
                self._taken.append(row)

    def build(self) -> None:
        """Build what was taken."""
        self._known |= {row[0]: memory_node(row) for row in self._taken}
        self._taken.clear()

    async def read(self, ids: Collection[str]) -> None:
        """Read those that are not known yet; of them, those that exist."""
        if missing := {*ids} - self._ids:
            self._keep(
                await hydrate(self.store, sorted(missing), scope=self.scope, until=self.until)
            )

    def _keep(self, memories: Mapping[str, MemoryNode]) -> None:
        """Keep what was read, but for what came by another way meanwhile."""
        self._known |= {id_: memories[id_] for id_ in memories.keys() - self._ids}
        self._ids |= memories.keys()


def memory_node(row: Sequence[Any]) -> MemoryNode:
    """Build a memory from a row of ``graph.hydrate``; what does not fit reads as empty."""
    id_, labels, text, tags, topics, entities, category, priority, when, created_at, metadata = row
    return MemoryNode(
        id=id_,
        kind=min((label for label in labels if label != "Memory"), default="Memory"),
        text=_string(text) or "",
        tags=_strings(tags),
        topics=_strings(topics),
        entities=_strings(entities),
        category=_string(category),
        priority=_number(priority),
        when=json_map(when),
        created_at=_datetime(created_at),
        metadata=json_map(metadata),
    )


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _strings(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def json_map(value: object) -> dict[str, Any]:
    """Read a map that is stored as JSON; what is none reads as empty."""
    if not isinstance(value, str):
        return {}
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _datetime(value: object) -> datetime | None:
    """Read a time as Cypher prints it: to the nanosecond, with a zone's name after its offset."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.partition("[")[0])
    except ValueError:  # a year that Python does not know
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
