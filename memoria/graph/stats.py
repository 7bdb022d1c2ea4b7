"""Count the memories and edges of a scope, and list the scopes.

In: a scope, or none. Out: `ScopeStats`, `ScopeSize`s. Reads only. Queries: ``graph.stats_*``,
``graph.scope_size``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from neo4j import Record

from memoria._support.checks import check_scope
from memoria.graph.server_facts import current_facts
from memoria.graph.vocabulary import pending_key
from memoria.store import Store
from memoria.store.queries import load

TOP_TAGS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationStats:
    """The edges of one relation.

    Attributes
    ----------
    count
        Number of edges.
    mean_weight
        Mean of the weights that lie within 0 and 1; None if no weight does.
    """

    count: int
    mean_weight: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeStats:
    """Counts of the memories and edges of a scope.

    Attributes
    ----------
    scope
        Name of the scope.
    memories, embedded
        Number of memories, and number of memories with a vector.
    kinds
        Kind -> number of memories, largest first; ``Memory`` stands for no kind.
    edges
        Number of RELATES edges between memories, and at connectors.
    relations
        Relation -> counts of its edges, largest first; "" stands for no relation.
    top_tags
        Tag -> number of memories, for the ten most frequent tags.
    top_edge_tags
        Tag -> number of edges, for the ten most frequent tags of edges: those that the tags of a
        query are compared with.
    oldest, newest
        First and last ``created_at``; aware, UTC; None if no memory has a ``created_at``.
    mean_degree, max_degree
        Mean and largest number of RELATES edges of one memory, in both directions.
    connectors
        Kind -> number of connectors, largest first; the counts of memories leave them out.
    pending_vectors
        Number of memories whose vectors an embedder failed to make, and which later writes make.
    """

    scope: str
    memories: int
    embedded: int
    kinds: Mapping[str, int]
    edges: int
    relations: Mapping[str, RelationStats]
    top_tags: Mapping[str, int]
    top_edge_tags: Mapping[str, int]
    oldest: datetime | None
    newest: datetime | None
    mean_degree: float
    max_degree: int
    connectors: Mapping[str, int] = field(default_factory=dict)
    pending_vectors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeSize:
    """Name and size of a scope.

    Attributes
    ----------
    scope
        Name of the scope.
    memories
        Number of memories, without connectors.
    edges
        Number of RELATES edges.
    """

    scope: str
    memories: int
    edges: int


async def scope_stats(store: Store, scope: str) -> ScopeStats:
    """Count the memories and edges of a scope; an empty scope gives zeros.

    Raises
    ------
    ScopeError
        No scope was given.

    Notes
    -----
    Four round trips at once, each of which reads all memories of the scope; before them up to four
    short ones.
    """
    parameters = {"scope": check_scope(scope)}
    patient = store.patient()
    generation = (await current_facts(store)).generation
    queries = (
        (
            load("graph.stats_memories").at(generation),
            {**parameters, "pending": pending_key(scope)},
        ),
        (load("graph.stats_relations"), parameters),
        (load("graph.stats_tags"), {**parameters, "limit": TOP_TAGS}),
        (load("graph.stats_edge_tags"), {**parameters, "limit": TOP_TAGS}),
    )
    answers = await asyncio.gather(
        *(patient.run(query, given) for query, given in queries), return_exceptions=True
    )
    rows = []
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
        rows.append(answer[0])
    memories, relations, tags, edge_tags = rows
    return ScopeStats(
        scope=scope,
        memories=memories["memories"],
        embedded=memories["embedded"],
        kinds=dict(memories["kinds"]),
        connectors=dict(memories["connectors"]),
        edges=sum(count for _, count, _ in relations["relations"]),
        relations=_by_relation(relations),
        top_tags=dict(tags["tags"]),
        top_edge_tags=dict(edge_tags["tags"]),
        oldest=_native(memories["oldest"]),
        newest=_native(memories["newest"]),
        mean_degree=memories["mean_degree"],
        max_degree=memories["max_degree"],
        pending_vectors=memories["pending_vectors"],
    )


async def relation_stats(store: Store, scope: str) -> dict[str, RelationStats]:
    """Count the edges of a scope by relation, as in `ScopeStats.relations`.

    Notes
    -----
    One round trip that reads all memories of the scope.
    """
    parameters = {"scope": check_scope(scope)}
    rows = await store.patient().run(load("graph.stats_relations"), parameters)
    return _by_relation(rows[0])


async def count_memories(
    store: Store, scope: str, *, limit: int, until: float | None = None
) -> int:
    """Count the memories of a scope, without connectors; counting ends at ``limit``.

    Notes
    -----
    One round trip, which reads at most ``limit`` memories, and the scope's connectors.
    """
    parameters = {"limit": limit, "scope": check_scope(scope)}
    rows = await store.run(load("graph.scope_size"), parameters, until=until)
    number: int = rows[0]["memories"]
    return number


async def list_scopes(store: Store) -> tuple[ScopeSize, ...]:
    """Return every scope with its size, sorted by name.

    Notes
    -----
    One round trip, which reads the index of all memories of the database, because memoria keeps
    no list of scopes.
    """
    rows = (await store.patient().run(load("graph.stats_scopes"), {}))[0]["scopes"]
    return tuple(
        ScopeSize(scope=scope, memories=memories, edges=edges) for scope, memories, edges in rows
    )


def _by_relation(row: Record) -> dict[str, RelationStats]:
    return {
        name: RelationStats(count=count, mean_weight=mean) for name, count, mean in row["relations"]
    }


def _native(value: Any) -> datetime | None:
    return None if value is None else value.to_native()
