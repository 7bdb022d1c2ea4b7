"""Create the indexes that a mapping needs: all that memoria ever writes into a mapped graph.

In: a store of memoria's own, a mapping. Out: how many were created. Writes indexes.
"""

from __future__ import annotations

from collections.abc import Callable

from memoria.graph.mapping.checking import problems_of
from memoria.graph.mapping.database import inventory_of
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
    labels = [label for node in mapping.nodes for label in node.labels]
    inventory = await inventory_of(store, labels, (edge.type for edge in mapping.edges))
    missing = [problem.statement for problem in problems_of(mapping, inventory)]
    statements = list(dict.fromkeys(each for each in missing if each))
    for statement in statements:
        announce(statement)
        await store.run(load("mapping.create_index").with_text(statement), {})
    if statements:
        await store.patient().run(load("mapping.await_indexes"), {})
    return len(statements)
