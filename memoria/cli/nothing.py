"""Say that a command found nothing, and whether its scope holds any memories.

In: a store, a scope. Out: a line on standard error. Reads only, and only after nothing was found.
"""

from __future__ import annotations

from memoria.cli.common import err
from memoria.graph.stats import count_memories
from memoria.store import Store


def no_memories(scope: str) -> str:
    """Return that a scope is empty, in words: its name may be mistyped."""
    return f"scope {scope!r} has no memories; memoria stats --all lists the scopes"


async def say_nothing_found(store: Store, scope: str, text: str = "") -> None:
    """Print that the scope is empty, if it is; otherwise ``text``, if there is one.

    Notes
    -----
    One round trip: call it only where nothing was found.
    """
    line = text if await count_memories(store, scope, limit=1) else no_memories(scope)
    if line:
        err.print(line, style="yellow", markup=False)
