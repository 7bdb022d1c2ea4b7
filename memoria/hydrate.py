"""Read the memories that a caller gets to see.

In: ids. Out: `MemoryNode`s, tolerant of whatever wrote the graph. Reads only.
Query: ``explore.hydrate``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from neo4j.time import DateTime

from memoria.queries import load
from memoria.store import Store
from memoria.types import MemoryNode


async def hydrate(
    store: Store, ids: Sequence[str], *, scope: str, until: float | None
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
    records = await store.run(load("explore.hydrate"), parameters, until=until)
    return {row["id"]: memory_node(row) for row in records[0]["memories"]}


def memory_node(row: Mapping[str, Any]) -> MemoryNode:
    """Build a memory from the properties of its node; what does not fit reads as empty."""
    return MemoryNode(
        id=row["id"],
        kind=next((label for label in sorted(row["labels"]) if label != "Memory"), "Memory"),
        text=_string(row["text"]) or "",
        tags=_strings(row["tags"]),
        topics=_strings(row["topics"]),
        entities=_strings(row["entities"]),
        category=_string(row["category"]),
        priority=_number(row["priority"]),
        when=_json_map(row["when"]),
        created_at=_datetime(row["created_at"]),
        metadata=_json_map(row["metadata"]),
    )


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _strings(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _json_map(value: object) -> dict[str, Any]:
    if not isinstance(value, str):
        return {}
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _datetime(value: object) -> datetime | None:
    if not isinstance(value, DateTime):
        return None
    native = value.to_native()
    return native if native.tzinfo else native.replace(tzinfo=UTC)
