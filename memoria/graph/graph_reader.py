"""Read memories as they are stored: by id, page by page, the newest, and a memory's neighbours.

In: ids, filters. Out: frozen values; an id that no memory has is a value, too. Reads only, and no
vectors.
Queries: ``graph.matching``, ``graph.newest``, ``graph.neighbours``, ``graph.hydrate``,
``graph.properties``, ``graph.roles``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from memoria._support import foreign
from memoria._support.checks import check_id, check_ids, check_scope, check_strings, check_whole
from memoria.graph.hydrate import hydrate
from memoria.graph.roles import declared_roles
from memoria.store import Store, StoreOrDriver, store_of
from memoria.store.queries import load
from memoria.types import (
    FoundMemories,
    Hop,
    MemoryFilter,
    MemoryNode,
    MemoryPage,
    Neighbour,
    Neighbourhood,
    Path,
    PathProperties,
    RelationRoles,
    filter_of,
)
from memoria.types.history import utc_time
from memoria.types.validity import Validity

#: Most memories that one call returns.
MAX_LIMIT = 10_000
READ_AT_ONCE = 1_000


class GraphReader:
    """Reads the memories of one scope as they are, superseded and outdated memories as well.

    `memoria.GraphRetriever` passes these calls on to it.
    """

    def __init__(self, store: StoreOrDriver, *, scope: str) -> None:
        self.scope = check_scope(scope)
        self.store = store_of(store)

    async def get(self, ids: Iterable[str]) -> FoundMemories:
        """Read memories by id; see `memoria.GraphRetriever.get`."""
        given = ids if isinstance(ids, str | bytes) or not isinstance(ids, Iterable) else list(ids)
        check_ids(given)
        wanted = list(dict.fromkeys(given))
        memories = await self._read(wanted)
        return FoundMemories(
            memories=tuple(memories[id_] for id_ in wanted if id_ in memories),
            missing=tuple(id_ for id_ in wanted if id_ not in memories),
        )

    async def recent(
        self, *, limit: int = 20, where: MemoryFilter | None = None
    ) -> tuple[MemoryNode, ...]:
        """Read the newest memories; see `memoria.GraphRetriever.recent`."""
        parameters = filter_of(where).parameters | {"limit": _checked(limit), "scope": self.scope}
        record = (await self.store.run(load("graph.newest"), parameters))[0]
        return await self._in_order(record["ids"])

    async def neighbours(self, id: str, *, limit: int = 20) -> Neighbourhood:  # noqa: A002
        """Read the strongest edges of a memory; see `memoria.GraphRetriever.neighbours`."""
        parameters = {"id": check_id(id), "limit": _checked(limit), "scope": self.scope}
        rows = await self.store.run(load("graph.neighbours"), parameters)
        if not rows:
            return Neighbourhood(memory=None)
        edges: list[Sequence[Any]] = rows[0]["edges"]
        memories = await self._read(list(dict.fromkeys([id, *(edge[0] for edge in edges)])))
        found = (_neighbour(edge, memories) for edge in edges if edge[0] in memories)
        return Neighbourhood(
            memory=memories.get(id), neighbours=tuple(found), degree=rows[0]["degree"]
        )

    async def list(
        self, *, where: MemoryFilter | None = None, limit: int = 100, after: str | None = None
    ) -> MemoryPage:
        """Read a page of the memories; see `memoria.GraphRetriever.list`."""
        after = "" if after is None else check_id(after, "after")
        size = _checked(limit)
        ids = await _matching(self.store, self.scope, where, after=after, limit=size + 1)
        memories = await self._in_order(ids[:size])
        return MemoryPage(memories=memories, next=ids[size - 1] if len(ids) > size else None)

    async def properties_of(
        self,
        paths: Iterable[Path],
        *,
        properties: Iterable[str] | None = None,
        as_of: datetime | None = None,
    ) -> tuple[PathProperties, ...]:
        """Read stored properties; see `memoria.GraphRetriever.properties_of`."""
        names = None if properties is None else list(check_strings(properties, "properties"))
        at = Validity.now() if as_of is None else Validity(at=utc_time(as_of, "as_of"))
        given = list(paths)
        of_scopes = {}
        for scope in dict.fromkeys(path.scope for path in given):
            its = [path for path in given if path.scope == scope]
            of_scopes[scope] = iter(await self._properties(its, scope or self.scope, names, at))
        return tuple(next(of_scopes[path.scope]) for path in given)

    async def _properties(
        self, paths: Sequence[Path], scope: str, names: Sequence[str] | None, at: Validity
    ) -> tuple[PathProperties, ...]:
        """Read the properties of paths of one scope."""
        ids = list(dict.fromkeys(id_ for path in paths for id_ in path.ids))
        hops = list(dict.fromkeys(_edge_of(hop) for path in paths for hop in path.hops))
        nodes: dict[str, dict[str, Any]] = {}
        edges: dict[tuple[object, ...], dict[str, Any]] = {}
        for start in range(0, max(len(ids), len(hops)), READ_AT_ONCE):
            batch = hops[start : start + READ_AT_ONCE]
            parameters = {
                "held": at.held,
                "hops": [[number, *hop] for number, hop in enumerate(batch)],
                "ids": ids[start : start + READ_AT_ONCE],
                "names": names,
                "scope": scope,
            }
            record = (await self.store.run(load("graph.properties"), parameters))[0]
            nodes |= {id_: foreign.properties(found) for id_, found in record["nodes"]}
            edges |= {batch[place]: foreign.properties(found) for place, found in record["edges"]}
        return tuple(
            PathProperties(
                nodes=tuple(nodes.get(id_, {}) for id_ in path.ids),
                edges=tuple(edges.get(_edge_of(hop), {}) for hop in path.hops),
            )
            for path in paths
        )

    async def relation_roles(self) -> RelationRoles:
        """Read the declared roles; see `memoria.GraphRetriever.relation_roles`."""
        return await declared_roles(self.store, self.scope)

    async def _read(self, ids: Sequence[str]) -> dict[str, MemoryNode]:
        memories: dict[str, MemoryNode] = {}
        for start in range(0, len(ids), READ_AT_ONCE):
            batch = ids[start : start + READ_AT_ONCE]
            memories |= await hydrate(self.store, batch, scope=self.scope, until=None)
        return memories

    async def _in_order(self, ids: Sequence[str]) -> tuple[MemoryNode, ...]:
        memories = await self._read(ids)
        return tuple(memories[id_] for id_ in ids if id_ in memories)


async def matching_ids(
    store: Store, *, scope: str, where: MemoryFilter, size: int
) -> AsyncIterator[Sequence[str]]:
    """Yield the ids of the memories that fit, as `GraphReader.list` does, in pages of ``size``."""
    page = await _matching(store, scope, where, after="", limit=size)
    while page:
        # The caller may delete the page, and with it the place where the next page begins.
        following = await _matching(store, scope, where, after=page[-1], limit=size)
        yield page
        page = following


async def _matching(
    store: Store, scope: str, where: MemoryFilter | None, *, after: str, limit: int
) -> Sequence[str]:
    parameters = filter_of(where).parameters | {"after": after, "limit": limit, "scope": scope}
    ids: Sequence[str] = (await store.run(load("graph.matching"), parameters))[0]["ids"]
    return ids


def _checked(limit: int) -> int:
    return check_whole(limit, "limit", low=1, high=MAX_LIMIT)


def _edge_of(hop: Hop) -> tuple[str, str, str, str, float]:
    return (hop.source, hop.target, hop.relation, hop.direction, hop.weight)


def _neighbour(edge: Sequence[Any], memories: Mapping[str, MemoryNode]) -> Neighbour:
    id_, relation, direction, weight, tags, uses = edge
    return Neighbour(
        memory=memories[id_],
        relation=relation,
        direction=direction,
        weight=weight,
        tags=foreign.strings(tags),
        uses=foreign.count(uses),
    )
