"""LangGraph: a store, whose items are memories.

In: batches of operations. Out: items. Reads and writes; each batch reads first. Queries:
``adapters.items``, ``adapters.namespaces``. Needs the extra ``langgraph``.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memoria._support.checks import check_json_map, check_whole
from memoria.errors import InvalidInputError
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.integrations._calls import AnyRetriever, Calls, missing
from memoria.integrations._found import MAX_K, find
from memoria.integrations._items import bounds, fits, item_id, levels, namespace_of, place_of
from memoria.integrations._scopes import joined
from memoria.retriever import GraphRetriever
from memoria.store.queries import load
from memoria.types import Memory, MemoryFilter, MemoryNode

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
        validate_op_namespace,
    )
except ImportError as exc:
    raise missing("langgraph", exc) from exc

__all__ = ["MemoriaStore"]

KIND = "StoreItem"
_PAGE = 1_000


class MemoriaStore(BaseStore):
    """Keeps the items of a LangGraph store as memories, which recalls find like all others.

    A search with a query is a recall: its items come in the order of their scores. Items that the
    recall did not find come after them, without a score, and so do all items of a search without a
    query, by namespace and key. A batch reads what was there before it, and of several writes of
    one item the last one counts. A value holds what JSON can hold.

    Parameters
    ----------
    retriever
        A `GraphRetriever`. One of `memoria.sync` serves ``get``, ``put``, ... and ``aget``,
        ``aput``, ...; one of `memoria` serves the latter in its own event loop.
    scope_parts
        How many first parts of a namespace, such as the id of a user, have a scope of their own;
        0 to 16. Its name is that of the retriever's scope and these parts. A search or a list of
        namespaces must name them. 0: all items are in the retriever's scope.
    fields
        Paths of the values whose texts are searched, unless ``put`` names others; ``$`` is the
        whole value as JSON.
    """

    __slots__ = ("_calls", "_fields", "_scope_parts")

    def __init__(
        self, retriever: AnyRetriever, *, scope_parts: int = 0, fields: Sequence[str] = ("$",)
    ) -> None:
        self._calls = Calls(retriever)
        self._scope_parts = check_whole(scope_parts, "scope_parts", low=0, high=16)
        self._fields = tuple(fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations; the results are in their order."""
        checked = _checked(ops)
        return self._calls.wait(lambda: self._do(checked))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations; the results are in their order."""
        checked = _checked(ops)
        return await self._calls.call(lambda: self._do(checked))

    async def _do(self, ops: Sequence[Op]) -> list[Result]:
        results: list[Result] = [None] * len(ops)
        gets: dict[str, dict[str, list[int]]] = {}
        puts: dict[str, dict[str, PutOp]] = {}
        for place, op in enumerate(ops):
            if isinstance(op, GetOp):
                ids = gets.setdefault(self._scope(op.namespace), {})
                ids.setdefault(item_id(op.namespace, op.key), []).append(place)
            elif isinstance(op, PutOp):
                puts.setdefault(self._scope(op.namespace), {})[item_id(op.namespace, op.key)] = op
        for scope, wanted in gets.items():
            for memory in (await self._memory(scope).get(wanted)).memories:
                for place in wanted[memory.id]:
                    results[place] = Item(**_item(memory))
        for place, op in enumerate(ops):
            if isinstance(op, SearchOp):
                results[place] = await self._search(op)
            elif isinstance(op, ListNamespacesOp):
                results[place] = await self._namespaces(op)
        for scope, last in puts.items():
            await self._put(scope, last)
        return results

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        memory = self._memory(self._scope(op.namespace_prefix))
        end = op.offset + op.limit
        found: list[SearchItem] = []
        seen: set[str] = set()
        if op.query and op.query.strip() and end:
            where = MemoryFilter(kinds=[KIND], metadata=_last_level(op.namespace_prefix))
            recall, _ = await find(
                memory, op.query, k=min(end, MAX_K), where=where, scopes=[memory.scope]
            )
            for ranked in recall.ranked:
                if fits(_value(ranked.memory), op.filter):
                    seen.add(ranked.id)
                    found.append(SearchItem(**_item(ranked.memory), score=ranked.score))
        async for each in _listed(memory, op.namespace_prefix, op.filter, end):
            if len(found) >= end:
                break
            if each.id not in seen:
                found.append(SearchItem(**_item(each)))
        return found[op.offset : end]

    async def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        prefix = max((_plain_prefix(each) for each in conditions), key=len, default=())
        memory = self._memory(self._scope(prefix))
        parameters = bounds(prefix) | {"scope": memory.scope}
        rows = await memory.store.run(load("adapters.namespaces"), parameters)
        there = map(namespace_of, rows[0]["namespaces"])
        fitting = (each for each in there if all(_matches(each, c) for c in conditions))
        cut = {each[: op.max_depth] for each in fitting}
        return sorted(cut)[op.offset : op.offset + op.limit]

    async def _put(self, scope: str, last: Mapping[str, PutOp]) -> None:
        writer = self._memory(scope).writer(kinds=(*DEFAULT_KINDS, KIND))
        now = datetime.now(UTC).isoformat()
        gone = [id_ for id_, op in last.items() if op.value is None]
        kept = [
            Memory(
                id=id_,
                kind=KIND,
                text=self._text(op),
                metadata={"value": op.value, "updated_at": now, **levels(op.namespace)},
            )
            for id_, op in last.items()
            if op.value is not None
        ]
        if kept:
            await writer.write(kept)
        if gone:
            await writer.forget(gone)

    def _text(self, op: PutOp) -> str:
        """Return what searches read of a value: nothing, if it is not to be indexed."""
        paths = self._fields if op.index is None else op.index or ()
        return "\n".join(text for path in paths for text in get_text_at_path(op.value, path))

    def _scope(self, namespace: Sequence[str]) -> str:
        own = self._calls.memory.scope
        if not self._scope_parts:
            return own
        if len(namespace) < self._scope_parts:
            raise InvalidInputError(
                f"a namespace must name its first {self._scope_parts} parts, which are a scope of "
                f"their own here; got {len(namespace)}",
                field="namespace",
            )
        return joined([own, *namespace[: self._scope_parts]])

    def _memory(self, scope: str) -> GraphRetriever:
        memory = self._calls.memory
        return memory if scope == memory.scope else memory.for_scope(scope)


def _checked(ops: Iterable[Op]) -> list[Op]:
    """Return operations of which each can be done."""
    checked = list(ops)
    for op in checked:
        if not isinstance(op, GetOp | SearchOp | PutOp | ListNamespacesOp):
            raise InvalidInputError(f"an unknown operation: {type(op).__name__}", field="ops")
        validate_op_namespace(op)
        if isinstance(op, PutOp) and op.ttl is not None:
            raise InvalidInputError("items of this store do not expire: leave out ttl", field="ttl")
        if isinstance(op, PutOp) and op.value is not None:
            check_json_map(op.value, "value")
        if isinstance(op, SearchOp | ListNamespacesOp):
            for name in ("limit", "offset"):
                check_whole(getattr(op, name), name, low=0, high=sys.maxsize)
    return checked


async def _listed(
    memory: GraphRetriever, prefix: Sequence[str], conditions: Mapping[str, Any] | None, end: int
) -> AsyncIterator[MemoryNode]:
    """Yield the items below a namespace, by id, that fit; pages are read as they are needed."""
    size = _PAGE if conditions else min(end, _PAGE)
    parameters: dict[str, Any] = bounds(prefix) | {"limit": size, "scope": memory.scope}
    parameters["beginning"] = parameters["after"]
    ids = [""] * size
    while size and len(ids) == size:
        ids = (await memory.store.run(load("adapters.items"), parameters))[0]["ids"]
        for each in (await memory.get(ids)).memories:
            if fits(_value(each), conditions):
                yield each
        parameters["after"] = ids[-1] if ids else ""


def _last_level(namespace: Sequence[str]) -> dict[str, str]:
    return dict(list(levels(namespace).items())[-1:])


def _value(memory: MemoryNode) -> dict[str, Any]:
    value = memory.metadata.get("value")
    return value if isinstance(value, dict) else {}


def _item(memory: MemoryNode) -> dict[str, Any]:
    """Return the fields of an item; times that a foreign program took away are those of 1970."""
    namespace, key = place_of(memory.id)
    created = memory.created_at or datetime.fromtimestamp(0, UTC)
    updated = memory.metadata.get("updated_at")
    return {
        "namespace": namespace,
        "key": key,
        "value": _value(memory),
        "created_at": created,
        "updated_at": updated if isinstance(updated, str) else created,
    }


def _plain_prefix(condition: MatchCondition) -> tuple[str, ...]:
    """Return the parts that a condition names before its first wildcard."""
    if condition.match_type != "prefix":
        return ()
    path = list(condition.path)
    return tuple(path[: path.index("*")] if "*" in path else path)


def _matches(namespace: Sequence[str], condition: MatchCondition) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    ends = namespace[: len(path)]
    if condition.match_type == "suffix":
        ends = namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", part) for wanted, part in zip(path, ends, strict=True))
