"""Search among the live vectors, also if they were replaced since the last look at the database.

In: a `SeedRequest`, and a function that asks for the facts about the server. Out: `Seeds`, and the
request that found them. Reads only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from memoria.errors import IndexNotReadyError, MemoriaError
from memoria.graph.server_facts import has_moved
from memoria.recall.seeds import SeedRequest, search_seeds
from memoria.store import Store
from memoria.store.facts import ServerFacts
from memoria.types import Seeds

#: Returns the facts about the server by a given time of the loop's clock; checks the embedder.
Facts: TypeAlias = Callable[[float | None], Awaitable[ServerFacts]]


async def search_live(
    store: Store, request: SeedRequest, facts: Facts
) -> tuple[SeedRequest, Seeds]:
    """Search; once more if the vectors of the request were deleted in the meantime.

    Vectors that are no longer live may be searched, by the embedder that made them, until they are
    deleted. Their index goes first, so the search fails before a vector is missing.

    Raises
    ------
    DimensionError
        The live vectors are those of another embedder.
    MemoriaError
        As `search_seeds`.
    """
    try:
        found = await search_seeds(store, request)
    except IndexNotReadyError:
        if not await _is_outdated(store, request):
            raise
    else:
        if not found.degraded or not await _is_outdated(store, request):
            return request, found
    live = await facts(request.until)
    request = replace(request, dialect=live.vector_dialect, generation=live.generation)
    return request, await search_seeds(store, request)


async def _is_outdated(store: Store, request: SeedRequest) -> bool:
    """Tell whether the vectors were replaced; if the database does not tell, they were not."""
    late = request.enough_at is not None and asyncio.get_running_loop().time() >= request.enough_at
    if request.vector is None or late:  # a dropped index fails at once
        return False
    try:
        return await has_moved(store, request.generation, until=request.until)
    except MemoriaError:
        return False
