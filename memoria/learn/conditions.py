"""Read a scope's memories page by page, and the conditions under which they hold.

In: a scope. Out: pages of ids; conditions by id. Reads only.
Queries: ``learn.page``, ``learn.conditions``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from memoria.graph.memories import json_map
from memoria.store import Rows, Store
from memoria.store.queries import load

PAGE = 256


async def pages(store: Store, scope: str) -> AsyncIterator[list[str]]:
    """Yield the ids of a scope, sorted, at most 256 at once."""
    after = ""
    while True:
        parameters = {"after": after, "limit": PAGE, "scope": scope}
        page: list[str] = (await store.run(load("learn.page"), parameters))[0]["ids"]
        if not page:
            return
        yield page
        after = page[-1]


async def read_conditions(store: Store, scope: str) -> dict[str, dict[str, Any]]:
    """Return the ``when`` of all memories of a scope that have one; memory -> its conditions."""
    found: dict[str, dict[str, Any]] = {}
    async for page in pages(store, scope):
        parameters = {"ids": Rows(page), "scope": scope}
        rows = (await store.run(load("learn.conditions"), parameters))[0]["rows"]
        found.update((id_, when) for id_, text in rows if (when := json_map(text)))
    return found
