"""Say that a command found nothing, and whether its scope holds any memories.

In: a store, a scope. Out: a line on standard error. Reads only, after nothing was found, or where
memories were excluded by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memoria._support.nearest import did_you_mean
from memoria.cli.common import one_line, warn
from memoria.graph.naming import unknown_names
from memoria.graph.stats import count_memories, list_scopes
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.types import MemoryFilter

_ANYTHING = MemoryFilter()


async def unknown_ids(store: Store, scopes: Sequence[str], ids: Iterable[str]) -> list[str]:
    """Return those of the ids that no memory of any of the scopes has."""
    missing = list(ids)
    for scope in scopes:
        if missing:
            missing = list((await GraphRetriever(store, scope=scope).get(missing)).missing)
    return missing


async def say_excluded(store: Store, scopes: Sequence[str], where: MemoryFilter) -> None:
    """Print which memories that a filter excludes are not there: their ids may be mistyped."""
    for id_ in await unknown_ids(store, scopes, where.exclude_ids):
        known = ", ".join(map(one_line, scopes))
        warn(f"--exclude-id {one_line(id_)}: no memory of scope {known} has this id")


async def no_memories(store: Store, scope: str) -> str:
    """Return that a scope is empty, in words, and which scopes have a name like it."""
    known = [each.scope for each in await list_scopes(store) if each.scope != scope]
    near = did_you_mean(scope, known)
    mapped = "" if store.translation is None else " with the same --mapping"
    return (
        f"scope {scope!r} has no memories{near or ';'} memoria stats --all{mapped} lists the scopes"
    )


async def say_nothing_found(
    store: Store, scope: str, text: str = "", where: MemoryFilter = _ANYTHING
) -> None:
    """Print why nothing was found: the scope is empty, or a name of the filter is wrong.

    Otherwise print ``text``, if there is one.

    Notes
    -----
    Two or three round trips: call it only where nothing was found.
    """
    if not await count_memories(store, scope, limit=1):
        lines = [await no_memories(store, scope)]
    else:
        lines = [*await unknown_names(store, scope, where)] or [text]
    for line in filter(None, lines):
        warn(line)
