"""Checks of the plans: how the server would run each query that ships.

In: a subject. Out: findings. Runs nothing: EXPLAIN of every query that memoria works with.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import neo4j

from memoria.doctor.report import Finding, Severity
from memoria.doctor.subject import Subject
from memoria.errors import DeadlineError, MemoriaError, QueryError
from memoria.graph.vocabulary import TEXT_INDEX, UNIQUE_INDEX, VECTOR_INDEX
from memoria.store import Store
from memoria.store.faults import translate
from memoria.store.queries import Query, load, root

#: An operator of a plan, and its details.
Step = tuple[str, str]

#: Operators that read more the larger the database is, instead of seeking.
SCANS = (
    "AllNodesScan",
    "NodeByLabelScan",
    "UnionNodeByLabelsScan",
    "IntersectionNodeByLabelsScan",
    "NodeIndexScan",
    "DirectedRelationshipTypeScan",
    "UndirectedRelationshipTypeScan",
)
#: Queries that must never scan, by name or by folder, and how bad it is when they do.
_NEVER_SCAN: Mapping[str, Severity] = {
    "context": "error",
    "ranking": "error",
    "strategies": "error",
    "seeds": "error",
    "ingest": "warning",
    "link": "warning",
    "graph.hydrate": "error",
    "graph.advance_clock": "warning",
    "graph.page": "warning",
}
#: Queries that only a server can plan whose vector index filters by scope.
_NEEDS_SEARCH = ("link.nearest_search", "seeds.vector_search")
#: Queries that Neo4j 5.26 can't plan.
_NEEDS_2026 = ("strategies.levels",)


async def check_plans(subject: Subject) -> list[Finding]:
    """Explain every query: those of a recall and of writing one by one, the others together."""
    found: list[Finding] = []
    refused: list[str] = []
    others = 0
    for query in shipped():
        if query.name in _NEEDS_SEARCH and subject.facts.vector_dialect != "search":
            continue  # never run on this server
        if query.name in _NEEDS_2026 and not subject.facts.has_single_trip:
            continue  # nor this
        room = query.name.partition(".")[0]
        severity = _NEVER_SCAN.get(query.name) or _NEVER_SCAN.get(room)
        if severity is not None:
            found.append(await _check_plan(subject, query, severity))
            continue
        others += 1
        try:
            await explain(subject.store, query)
        except MemoriaError:
            refused.append(query.name)
    return [*found, _others(subject, others, refused)]


def shipped() -> list[Query]:
    """Return every query that memoria works with, by name; the doctor's own show what they can."""
    files = [file for file in root().glob("*/*.cypher") if file.parent.name != "doctor"]
    return [load(name) for name in sorted(f"{file.parent.name}.{file.stem}" for file in files)]


async def explain(
    store: Store, query: Query, parameters: Mapping[str, Any] | None = None
) -> list[Step]:
    """Return the steps of the plan that the server would run a query by, top down.

    Parameters
    ----------
    parameters
        Of the query; the plan hardly ever depends on them, so they may be left out.

    Raises
    ------
    MemoriaError
        The server can't plan it.
    """
    limit_s = store.config.query_timeout_s
    text = " ".join(("EXPLAIN", query.text))
    mode = neo4j.READ_ACCESS if query.mode == "read" else neo4j.WRITE_ACCESS
    try:
        async with (
            asyncio.timeout(limit_s),
            store.driver.session(
                database=store.database,
                default_access_mode=mode,
                notifications_min_severity="OFF",
            ) as session,
        ):
            statement = neo4j.Query(text, timeout=limit_s)
            result = await session.run(statement, p=dict(parameters or {}))
            summary = await result.consume()
    except TimeoutError as exc:
        raise DeadlineError(f"no plan in {limit_s} s", query=query.name) from exc
    except Exception as exc:  # only the store knows which errors the driver has
        raise translate(exc, query.name) from exc
    if summary.plan is None:
        raise QueryError("the server returned no plan", query=query.name)
    return list(_steps(summary.plan))


def _steps(plan: Mapping[str, Any]) -> Iterator[Step]:
    yield plan["operatorType"].partition("@")[0], plan["args"].get("Details", "")
    for child in plan.get("children", ()):
        yield from _steps(child)


async def _check_plan(subject: Subject, query: Query, severity: Severity) -> Finding:
    check = f"plans.{query.name}"
    try:
        steps = await explain(subject.store, query)
    except MemoriaError as exc:
        return Finding(
            check=check,
            severity=severity,
            message=f"the server can't plan it: {exc}",
            remedy="complete the set-up; else upgrade the server",
            command=subject.init,
            cause=_not_ready(subject),
        )
    # A write pairs the two ends of an edge, one row each: no product worth a word.
    bad = (*SCANS, "CartesianProduct") if query.mode == "read" else SCANS
    scans = [f"{name} {details}".strip() for name, details in steps if name in bad]
    if not scans:
        return Finding(check=check, severity="ok", message="seeks, never scans")
    made = subject.facts.indexes.get(UNIQUE_INDEX) == "ONLINE"
    return Finding(
        check=check,
        severity=severity,
        message=f"reads more the larger the database is: {', '.join(scans)}",
        remedy="have the server plan anew" if made else "make the constraint it seeks by",
        command=subject.fix("plans") if made else subject.init,
        count=len(scans),
        examples=tuple(scans[:5]),
        cause="" if made else f"indexes.{UNIQUE_INDEX}",
    )


def _not_ready(subject: Subject) -> str:
    """Name the check of the first index that a query may miss."""
    indexes = subject.facts.indexes
    names = (
        name for name in (UNIQUE_INDEX, TEXT_INDEX, VECTOR_INDEX) if indexes.get(name) != "ONLINE"
    )
    return next((f"indexes.{name}" for name in names), "")


def _others(subject: Subject, count: int, refused: list[str]) -> Finding:
    check = "plans.others"
    if not refused:
        message = f"the server can plan all {count} other queries"
        return Finding(check=check, severity="ok", message=message)
    return Finding(
        check=check,
        severity="warning",
        message=f"queries that the server can't plan: {len(refused)} of {count}",
        remedy="complete the set-up; else upgrade the server",
        command=subject.init,
        count=len(refused),
        examples=tuple(refused[:5]),
        cause=_not_ready(subject),
    )
