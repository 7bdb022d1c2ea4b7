"""Examine a database: every check, one after the other.

In: a store, and what to look at. Out: an `Examination`. Reads only.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from memoria.doctor.edges import check_edges, check_parallel
from memoria.doctor.energy import check_energy
from memoria.doctor.graph import check_degrees
from memoria.doctor.indexes import check_indexes
from memoria.doctor.memories import check_memories, check_scope_keys
from memoria.doctor.plans import check_plans
from memoria.doctor.report import Examination, Finding
from memoria.doctor.server import check_dialect, check_memory, check_version, read_settings
from memoria.doctor.subject import Subject
from memoria.embed import Embedder
from memoria.errors import MemoriaError
from memoria.schema import probe
from memoria.store import Store
from memoria.validation import check_scope, check_whole

T = TypeVar("T")

#: Memories, and edges, that one check looks at unless told otherwise.
LIMIT = 50_000
MAX_LIMIT = 100_000_000
MAX_SAMPLE = 1_000


async def examine(
    store: Store,
    *,
    scope: str | None = None,
    embedder: Embedder | None = None,
    sample: int = 20,
    rng: random.Random,
    limit: int = LIMIT,
) -> Examination:
    """Look at server, indexes, memories, edges, energy and plans; change nothing.

    A check that fails or takes longer than the store's ``query_timeout_s`` is a finding itself
    (``not examined``), and the others go on.

    Parameters
    ----------
    scope
        Examine the memories of this scope, found by index seeks; those without an id can't be
        found so. None examines all scopes, by scans.
    embedder
        The embedder that will be used; None compares none.
    sample
        Explorations to sample for the hubs; 0 to 1,000.
    rng
        Picks where they start; the same state picks the same in an unchanged database.
    limit
        Memories, and edges, that one check looks at; 1 to 100,000,000. In a larger database
        findings say "at least".

    Raises
    ------
    UnavailableError
        The database can't be reached.
    AuthError
        The server refused the credentials.
    InvalidInputError
        An argument is out of its range.
    """
    if scope is not None:
        check_scope(scope)
    check_whole(sample, "sample", low=0, high=MAX_SAMPLE)
    check_whole(limit, "limit", low=1, high=MAX_LIMIT)
    subject = Subject(store=store, facts=await probe(store), scope=scope, limit=limit)
    settings = await read_settings(subject)
    findings = [
        check_version(subject),
        check_dialect(subject),
        check_memory(settings),
        *await _tried("indexes", check_indexes(subject, embedder), _alone),
        *await _tried("memories", check_memories(subject), _alone),
        *await _tried("memories.scope_key", check_scope_keys(subject), _alone),
        *await _tried("edges", check_edges(subject), _alone),
        *await _tried("edges.parallel", check_parallel(subject), _alone),
    ]
    isolated, histogram = await _tried("graph", check_degrees(subject), lambda f: (f, ()))
    hubs_found, hubs, explored = await _tried(
        "energy", check_energy(subject, sample, rng), lambda f: (f, (), 0)
    )
    plans = await _tried("plans", check_plans(subject), _alone)
    return Examination(
        scope=scope,
        server=subject.facts,
        settings=settings,
        findings=(*findings, isolated, hubs_found, *plans),
        histogram=histogram,
        hubs=hubs,
        explored=explored,
    )


def _alone(finding: Finding) -> list[Finding]:
    return [finding]


async def _tried(check: str, work: Awaitable[T], failed: Callable[[Finding], T]) -> T:
    """Return what a check found; where it fails, what ``failed`` makes of that."""
    try:
        return await work
    except MemoriaError as exc:
        return failed(
            Finding(
                check=check,
                severity="warning",
                message=f"not examined: {exc}",
                remedy="when it took too long, look at less, or at one scope",
            )
        )
