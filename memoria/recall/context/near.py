"""Ask the database which memories have nearly the same embedding.

In: ids. Out: pairs of ids. Reads only; the vectors stay in the database.
Query: ``context.duplicates``.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoria.store import Store
from memoria.store.queries import load

# Each is compared with each: 4,950 comparisons for 100 memories. A context of 2,000 tokens seldom
# holds half as many.
MAX_COMPARED = 100


async def near_pairs(
    store: Store,
    ids: Sequence[str],
    *,
    scope: str,
    min_cosine: float,
    until: float | None,
    generation: int = 1,
) -> list[tuple[str, str]]:
    """Find the pairs among the first 100 of ``ids`` whose cosine is at least ``min_cosine``.

    A memory without an embedding is in no pair. One round trip. ``generation`` is that of the
    vectors; see `ServerFacts`.
    """
    parameters = {"ids": list(ids[:MAX_COMPARED]), "min_cosine": min_cosine, "scope": scope}
    query = load("context.duplicates").at(generation)
    records = await store.run(query, parameters, until=until)
    return [(one, other) for one, other in records[0]["pairs"]]
