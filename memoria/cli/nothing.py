"""Say that a command found nothing, and whether its scope holds any memories.

In: a store, a scope. Out: a line on standard error. Reads only, and only after nothing was found.
"""

from __future__ import annotations

from memoria._support.nearest import did_you_mean
from memoria.cli.common import warn
from memoria.graph.naming import unknown_names
from memoria.graph.stats import count_memories, list_scopes
from memoria.store import Store
from memoria.types import MemoryFilter

_ANYTHING = MemoryFilter()


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
