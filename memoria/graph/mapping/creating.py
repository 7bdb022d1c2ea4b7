"""Create the indexes that a mapping needs.

In: a store of memoria's own, a mapping. Out: how many were created. Writes indexes.
"""

from __future__ import annotations

from collections.abc import Callable

from memoria.graph.mapping.checking import problems_of
from memoria.graph.mapping.database import inventory_for
from memoria.graph.mapping.model import GraphMapping
from memoria.store import Store
from memoria.store.queries import load


async def create_indexes(
    store: Store, mapping: GraphMapping, announce: Callable[[str], None]
) -> int:
    """Create what is missing, and wait until it is online; return how many indexes.

    Parameters
    ----------
    announce
        Called with each statement before it runs.

    Raises
    ------
    QueryError
        The server refused a statement, for example because another index covers the same.
    """
    inventory = await inventory_for(store, mapping)
    missing = [problem.statement for problem in problems_of(mapping, inventory)]
    statements = list(dict.fromkeys(each for each in missing if each))
    for statement in statements:
        await create_index(store, statement, announce)
    if statements:
        await until_online(store)
    return len(statements)


async def create_index(store: Store, statement: str, announce: Callable[[str], None]) -> None:
    """Announce the statement of an index, then run it; `until_online` waits for the index."""
    announce(statement)
    await store.run(load("mapping.create_index").with_text(statement), {})


async def until_online(store: Store) -> None:
    """Wait until all indexes are online."""
    await store.patient().run(load("mapping.await_indexes"), {})
