"""Find the nearest memories of several memories, in few queries.

In: ids of memories whose vectors the index holds. Out: id -> its nearest memories. Reads only.
Queries: ``link.nearest_search``, ``link.nearest_procedure``, ``link.nearest_exact``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memoria._support.throttling import throttled_warning
from memoria.errors import BudgetError, DeadlineError, QueryError
from memoria.store import Store
from memoria.store.queries import load

log = logging.getLogger(__name__)

# Memories in one query: few enough for a busy server to answer in time. More queries cost little.
CHUNK = 16
EXACT_CHUNK = 8
QUERIES_AT_ONCE = 4
# Over-sampling factors, tried in turn, where the scope can only be filtered after the index. If the
# last factor is not enough, the vectors of the scope are compared one by one.
_PROCEDURE_LIMITS = (4, 40)
# The server calculates in single precision. Six decimals of a cosine are exact, and the same from
# both ends of a pair; rounding to them lets a pair exactly at a threshold reach it.
DECIMALS = 6

Neighbours = dict[str, list[tuple[str, float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestRequest:
    """A search for neighbours.

    Attributes
    ----------
    candidates
        How many of the nearest memories to find, not counting the memory itself; >= 1.
    dialect
        How this server searches vectors: ``search`` or ``procedure``.
    generation
        That of the vectors; see `ServerFacts`.
    """

    scope: str
    candidates: int
    dialect: Literal["search", "procedure"]
    generation: int = 1


async def find_nearest(store: Store, ids: Sequence[str], request: NearestRequest) -> Neighbours:
    """Find the nearest memories of each id: (id, cosine), nearest first, ties by id.

    A memory is not its own neighbour. A memory that was deleted, or has lost its vector, has no
    neighbours.

    Notes
    -----
    One query for every 16 memories, four queries at once. On Neo4j 5, up to two more queries for
    memories whose neighbours in the scope are few, or hidden behind those of other scopes; for the
    memories that still lack neighbours, one exact query for every 8.
    """
    wanted = request.candidates + 1  # the index also finds the memory itself
    found: Neighbours = {}
    if request.dialect == "search":
        await _ask(store, "search", ids, request, wanted, found)
        return found
    pending = ids
    for factor in _PROCEDURE_LIMITS:
        pending = await _ask(store, "procedure", pending, request, wanted * factor, found)
    try:
        await _ask(store, "exact", pending, request, wanted, found)
    except (QueryError, DeadlineError, BudgetError) as exc:
        # In a foreign graph, one embedding that is not a vector makes the whole query fail, and a
        # large scope may take too long.
        throttled_warning(log, "exact vector search failed: %s; the index alone was used", exc)
    return found


async def _ask(
    store: Store,
    way: Literal["search", "procedure", "exact"],
    ids: Sequence[str],
    request: NearestRequest,
    limit: int,
    found: Neighbours,
) -> list[str]:
    """Search for all ``ids`` and note the hits; return the ids that may have more hits."""
    gate = asyncio.Semaphore(QUERIES_AT_ONCE)
    query = load(f"link.nearest_{way}").at(request.generation)

    async def ask(chunk: Sequence[str]) -> list[Any]:
        parameters = {"ids": list(chunk), "limit": limit, "scope": request.scope}
        async with gate:
            rows: list[Any] = (await store.run(query, parameters))[0]["rows"]
        return rows

    size = EXACT_CHUNK if way == "exact" else CHUNK
    answers = await asyncio.gather(
        *(ask(chunk) for chunk in _chunks(ids, size)), return_exceptions=True
    )
    short: list[str] = []
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
        for id_, hits in answer:
            found[id_] = _best(id_, hits, request.candidates)
            if len(hits) <= request.candidates:
                short.append(id_)
    return short


def _best(id_: str, hits: Sequence[Sequence[Any]], wanted: int) -> list[tuple[str, float]]:
    """Sort hits; drop memories whose id is missing or not a string, as in a foreign graph."""
    others = [
        (other, min(max(round(cosine, DECIMALS), -1.0), 1.0))
        for other, cosine in hits
        if isinstance(other, str) and other and other != id_
    ]
    return sorted(others, key=lambda hit: (-hit[1], hit[0]))[:wanted]


def _chunks(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))
