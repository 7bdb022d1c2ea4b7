"""Go through the memories of a scope, page by page.

In: a scope. Out: pages of ids. Reads only. Query: ``graph.page``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from memoria.store import Store
from memoria.store.queries import load

PAGE = 256


async def pages(store: Store, *, scope: str, size: int = PAGE) -> AsyncIterator[list[str]]:
    """Yield the ids of all memories of a scope, each id once, at most ``size`` at a time.

    Memories written in the meantime may be missing. One round trip for each page.
    """
    after = ""
    while True:
        parameters = {"after": after, "limit": size, "scope": scope}
        page: list[str] = (await store.run(load("graph.page"), parameters))[0]["ids"]
        if not page:
            return
        yield page
        after = page[-1]
