"""Examine a database: run every check, one after the other.

In: a store, and a scope or none. Out: an `Examination`. Reads only.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from memoria._support.checks import check_scope
from memoria.doctor.edges import check_degrees, check_edges, check_parallel
from memoria.doctor.energy import check_energy
from memoria.doctor.indexes import check_indexes
from memoria.doctor.memory_checks import check_memories, check_scope_keys
from memoria.doctor.plans import check_plans
from memoria.doctor.report import Examination, Finding
from memoria.doctor.server_checks import check_dialect, check_memory, check_version, read_settings
from memoria.doctor.subject import ExamineConfig, Subject, read_subject
from memoria.embed import Embedder, checked_embedder
from memoria.errors import DeadlineError, MemoriaError
from memoria.store import Store

T = TypeVar("T")

#: Divisor of limit and sample in the command for a check that took too long.
LESS = 10


async def examine(
    store: Store,
    *,
    scope: str | None = None,
    embedder: Embedder | None = None,
    config: ExamineConfig | None = None,
    rng: random.Random,
) -> Examination:
    """Look at server, indexes, memories, edges, energy and plans; change nothing.

    In a database that was never set up, only the server and the indexes are examined. A check that
    fails or takes longer than the store's ``query_timeout_s`` becomes a finding itself (``not
    examined``), and the other checks go on.

    Parameters
    ----------
    scope
        Examine the memories of this scope, found by index seeks, which can't find memories without
        an id. None examines all scopes, by scans.
    embedder
        The embedder that will be used, to compare with the index; None compares nothing.
    config
        How much to examine, and the options of suggested commands; None for the default.
    rng
        Picks the memories where explorations start. The same state picks the same memories in an
        unchanged database.

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
    if embedder is not None:
        checked_embedder(embedder)
    subject = await read_subject(store, scope, config or ExamineConfig())
    settings = await read_settings(subject)
    findings = [
        check_version(subject),
        check_dialect(subject),
        check_memory(settings),
        *await _tried(subject, "indexes", check_indexes(subject, embedder), _alone),
    ]
    if not subject.is_set_up:  # every other finding would follow from this one
        return Examination(
            scope=scope, server=subject.facts, settings=settings, findings=tuple(findings)
        )
    findings += [
        *await _tried(subject, "memories", check_memories(subject), _alone),
        *await _tried(subject, "memories.scope_key", check_scope_keys(subject), _alone),
        *await _tried(subject, "edges", check_edges(subject), _alone),
        *await _tried(subject, "edges.parallel", check_parallel(subject), _alone),
    ]
    isolated, histogram = await _tried(subject, "graph", check_degrees(subject), lambda f: (f, ()))
    hubs_found, hubs, explored = await _tried(
        subject, "energy", check_energy(subject, rng), lambda f: (f, (), 0)
    )
    plans = await _tried(subject, "plans", check_plans(subject), _alone)
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


async def _tried(
    subject: Subject, check: str, work: Awaitable[T], failed: Callable[[Finding], T]
) -> T:
    """Return the result of a check; if it fails, the result that ``failed`` makes of it."""
    try:
        return await work
    except DeadlineError as exc:
        remedy = "examine less, or one scope only"
        return failed(_not_examined(check, exc, remedy, _less(subject, check)))
    except MemoriaError as exc:
        remedy = "run the doctor again; if it fails again, look at the server and its log"
        return failed(_not_examined(check, exc, remedy, subject.command("doctor")))


def _not_examined(check: str, error: MemoriaError, remedy: str, command: str) -> Finding:
    return Finding(
        check=check,
        severity="warning",
        message=f"not examined: {error}",
        remedy=remedy,
        command=command,
    )


def _less(subject: Subject, check: str) -> str:
    """Return the command that examines less, for a check that took too long."""
    options = [f"--limit={max(1, subject.limit // LESS)}"]
    if check == "energy":
        options.append(f"--sample={max(1, subject.config.sample // LESS)}")
    return subject.command("doctor", options=options)
