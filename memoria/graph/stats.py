"""Count what a scope holds, and which scopes there are.

In: a scope, or none. Out: `ScopeStats`, `ScopeSize`s. Reads only. Queries: ``stats.*``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memoria._support.checks import check_scope
from memoria.store import Store
from memoria.store.queries import load

TOP_TAGS = 10
# Counting reads everything: some seconds for each million of edges.
TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationStats:
    """The edges of one relation.

    Attributes
    ----------
    count
        How many there are.
    mean_weight
        Mean of their weights within 0 and 1; None where no weight is.
    """

    count: int
    mean_weight: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeStats:
    """What a scope holds.

    Attributes
    ----------
    scope
        Which.
    memories, embedded
        Memories, and those of them with a vector.
    kinds
        Kind -> memories, most first; ``Memory`` for those without a kind.
    edges
        RELATES edges that leave its memories.
    relations
        Relation -> its edges, most first; "" for edges without one.
    top_tags
        Tag -> memories, of the ten tags on most memories.
    oldest, newest
        First and last ``created_at``; aware, UTC; None where no memory has one.
    mean_degree, max_degree
        RELATES edges of a memory, in both directions.
    """

    scope: str
    memories: int
    embedded: int
    kinds: Mapping[str, int]
    edges: int
    relations: Mapping[str, RelationStats]
    top_tags: Mapping[str, int]
    oldest: datetime | None
    newest: datetime | None
    mean_degree: float
    max_degree: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeSize:
    """How large a scope is.

    Attributes
    ----------
    scope
        Which.
    memories
        Its memories.
    edges
        RELATES edges that leave them.
    """

    scope: str
    memories: int
    edges: int


async def scope_stats(store: Store, scope: str) -> ScopeStats:
    """Count what a scope holds; zeros where it is empty.

    Raises
    ------
    ScopeError
        No scope was given.

    Notes
    -----
    Three round trips, each of which reads all memories of the scope.
    """
    parameters = {"scope": check_scope(scope)}
    patient = store.patient(TIMEOUT_S)
    memories = (await patient.run(load("graph.stats_memories"), parameters))[0]
    relations = (await patient.run(load("graph.stats_relations"), parameters))[0]["relations"]
    tags = (await patient.run(load("graph.stats_tags"), {**parameters, "limit": TOP_TAGS}))[0][
        "tags"
    ]
    return ScopeStats(
        scope=scope,
        memories=memories["memories"],
        embedded=memories["embedded"],
        kinds=dict(memories["kinds"]),
        edges=sum(count for _, count, _ in relations),
        relations={
            name: RelationStats(count=count, mean_weight=mean) for name, count, mean in relations
        },
        top_tags=dict(tags),
        oldest=_native(memories["oldest"]),
        newest=_native(memories["newest"]),
        mean_degree=memories["mean_degree"],
        max_degree=memories["max_degree"],
    )


async def list_scopes(store: Store) -> tuple[ScopeSize, ...]:
    """Name every scope, with its size; sorted by name.

    Notes
    -----
    One round trip that reads the index of all memories of the database: no list of scopes is
    kept anywhere.
    """
    rows = (await store.patient(TIMEOUT_S).run(load("graph.stats_scopes"), {}))[0]["scopes"]
    return tuple(
        ScopeSize(scope=scope, memories=memories, edges=edges) for scope, memories, edges in rows
    )


def _native(value: Any) -> datetime | None:
    return None if value is None else value.to_native()
