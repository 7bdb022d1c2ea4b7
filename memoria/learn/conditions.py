"""Read the conditions under which the memories of a scope hold.

In: a scope. Out: conditions by id. Reads only, page by page. Queries: ``learn.conditions``,
``graph.page``.
"""

from __future__ import annotations

from typing import Any

from memoria._support.foreign import json_map
from memoria.graph.pages import pages
from memoria.store import Rows, Store
from memoria.store.queries import load


async def read_conditions(store: Store, scope: str) -> dict[str, dict[str, Any]]:
    """Return memory -> its ``when``, for all memories of a scope that have conditions."""
    found: dict[str, dict[str, Any]] = {}
    async for page in pages(store, scope=scope):
        parameters = {"ids": Rows(page), "scope": scope}
        rows = (await store.run(load("learn.conditions"), parameters))[0]["rows"]
        found.update((id_, when) for id_, text in rows if (when := json_map(text)))
    return found
