"""Find the nearest memories of each of several, in few queries.

In: ids of memories whose vectors the index holds. Out: per id, its nearest. Reads only.
Queries: ``link.nearest_search``, ``link.nearest_procedure``, ``link.nearest_exact``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memoria.errors import QueryError
from memoria.store import Store
from memoria.store.queries import load

log = logging.getLogger(__name__)

# Small enough for a busy server to answer each query in time; a query more costs next to nothing.
CHUNK = 16
EXACT_CHUNK = 8
QUERIES_AT_ONCE = 4
# How many times the wanted hits the index is asked for, one after the other, where the scope can
# only be filtered afterwards. Vectors are then compared one by one.
_PROCEDURE_LIMITS = (4, 40)
# The server counts in single precision: six decimals of a cosine are sound, and the same from
# either end of a pair. Rounded, a pair that stands exactly at a threshold has reached it.
DECIMALS = 6

Neighbours = dict[str, list[tuple[str, float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NearestRequest:
    """What one search is for.

    Attributes
    ----------
    scope
        Scope to search in.
    candidates
        Nearest memories wanted for each, itself not counted; >= 1.
    dialect
        How this server searches vectors: ``search`` or ``procedure``.
    """

    scope: str
    candidates: int
    dialect: Literal["search", "procedure"]


async def find_nearest(store: Store, ids: Sequence[str], request: NearestRequest) -> Neighbours:
    """Find the nearest memories of each: (id, cosine), nearest first, ties by id, not itself.

    A memory that is not there, or has no vector any more, has none.

    Notes
    -----
    One query for 16 memories, four at once; on Neo4j 5 up to two more for those whose scope hides
    behind others, and one for eight of those that it still hides.
    """
    wanted = request.candidates + 1  # a memory is its own nearest
    found: Neighbours = {}
    if request.dialect == "search":
        await _ask(store, "search", ids, request, wanted, found)
        return found
    pending = ids
    for factor in _PROCEDURE_LIMITS:
        pending = await _ask(store, "procedure", pending, request, wanted * factor, found)
    try:
        await _ask(store, "exact", pending, request, wanted, found)
    except QueryError as exc:
        # One embedding that is no vector, in a foreign graph, ends the comparison of all.
        log.warning("exact vector search failed: %s; the index alone was used", exc)
    return found


async def _ask(
    store: Store,
    way: Literal["search", "procedure", "exact"],
    ids: Sequence[str],
    request: NearestRequest,
    limit: int,
    found: Neighbours,
) -> list[str]:
    """Ask for all of ``ids`` and note the hits; return those for which there may be more."""
    gate = asyncio.Semaphore(QUERIES_AT_ONCE)
    query = load(f"link.nearest_{way}")

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
        for id_, hits, seen in answer:
            found[id_] = _best(id_, hits, request.candidates)
            if seen >= limit and len(hits) <= request.candidates:
                short.append(id_)
    return short


def _best(id_: str, hits: Sequence[Sequence[Any]], wanted: int) -> list[tuple[str, float]]:
    """Sort hits; a foreign graph may hold memories without an id, or with a number for one."""
    others = [
        (other, min(max(round(cosine, DECIMALS), -1.0), 1.0))
        for other, cosine in hits
        if isinstance(other, str) and other and other != id_
    ]
    return sorted(others, key=lambda hit: (-hit[1], hit[0]))[:wanted]


def _chunks(ids: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))
