"""Checks of the plans: how the server would run the queries of recalls and of writes.

In: a subject. Out: findings. Runs no query; it asks for each plan with EXPLAIN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from memoria.doctor.report import Finding, Severity
from memoria.doctor.subject import Subject
from memoria.errors import DeadlineError, MemoriaError
from memoria.graph.vocabulary import TEXT_INDEX, UNIQUE_INDEX, VECTOR_INDEX
from memoria.store import Store
from memoria.store.queries import Query, load, names

#: An operator of a plan, and its details.
Step = tuple[str, str]

#: Operators that read the more, the larger the database is, instead of seeking.
SCANS = (
    "AllNodesScan",
    "NodeByLabelScan",
    "UnionNodeByLabelsScan",
    "IntersectionNodeByLabelsScan",
    "NodeIndexScan",
    "DirectedRelationshipTypeScan",
    "UndirectedRelationshipTypeScan",
)
#: Queries that must never scan, by name or by folder, and the severity if they do.
_NEVER_SCAN: Mapping[str, Severity] = {
    "context": "error",
    "ranking": "error",
    "recall": "error",
    "strategies": "error",
    "seeds": "error",
    "ingest": "warning",
    "link": "warning",
    "graph.hydrate": "error",
    "graph.advance_clock": "warning",
    "graph.matching": "warning",
    "graph.neighbours": "warning",
    "graph.newest": "warning",
    "graph.page": "warning",
}
#: Queries that look for what no index knows.
MAY_SCAN = frozenset({"ingest.left_over", "ingest.forget_changes", "ingest.forget_notes"})


async def check_plans(subject: Subject) -> list[Finding]:
    """Explain the queries of recalls and of writes: a finding for each."""
    found: list[Finding] = []
    for query in shipped():
        room = query.name.partition(".")[0]
        severity = _NEVER_SCAN.get(query.name) or _NEVER_SCAN.get(room)
        if query.name in MAY_SCAN:
            continue
        if severity is not None and subject.facts.can_run(query):
            found.append(await _check_plan(subject, query, severity))
    return found


def shipped() -> list[Query]:
    """Return memoria's queries, sorted by name, without those that look at everything.

    These are the doctor's own, and those that compare a mapping with a graph.
    """
    rooms = [name for name in names() if name.count(".") == 1]
    return [load(name) for name in rooms if not name.startswith(("doctor.", "mapping."))]


async def explain(
    store: Store, query: Query, parameters: Mapping[str, Any] | None = None
) -> list[Step]:
    """Return the steps of the plan by which the server would run a query, top down.

    Parameters
    ----------
    parameters
        Parameters of the query. They may be left out, since plans hardly ever depend on them.
    """
    return list(_steps(await store.explain(query, parameters)))


def _steps(plan: Mapping[str, Any]) -> Iterator[Step]:
    yield plan["operatorType"].partition("@")[0], plan["args"].get("Details", "")
    for child in plan.get("children", ()):
        yield from _steps(child)


async def _check_plan(subject: Subject, query: Query, severity: Severity) -> Finding:
    finding = partial(Finding, check=f"plans.{query.name}")
    try:
        steps = await explain(subject.store, query.at(subject.facts.generation))
    except DeadlineError as exc:
        return finding(
            severity="warning",
            message=f"not planned: {exc}",
            remedy="run the doctor again when the server is less busy",
            command=subject.command("doctor"),
        )
    except MemoriaError as exc:
        return finding(
            severity=severity,
            message=f"the server can't plan it: {exc}",
            remedy="complete the set-up; else upgrade the server",
            command=subject.init,
            cause=_not_ready(subject),
        )
    # A write pairs the two ends of an edge, one row each, which is a product of a single row.
    bad = (*SCANS, "CartesianProduct") if query.mode == "read" else SCANS
    scans = [f"{name} {details}".strip() for name, details in steps if name in bad]
    if not scans:
        return finding(severity="ok", message="seeks, never scans")
    made = subject.facts.indexes.get(UNIQUE_INDEX) == "ONLINE"
    return finding(
        severity=severity,
        message=f"reads the more, the larger the database is: {', '.join(scans)}",
        remedy="let the server plan it again"
        if made
        else "create the constraint that it needs to seek",
        command=subject.fix("plans") if made else subject.init,
        count=len(scans),
        examples=tuple(scans[:5]),
        cause="" if made else f"indexes.{UNIQUE_INDEX}",
    )


def _not_ready(subject: Subject) -> str:
    """Return the check of the first index that is not ready; queries may need it."""
    indexes = subject.facts.indexes
    names = {UNIQUE_INDEX: UNIQUE_INDEX, TEXT_INDEX: TEXT_INDEX}
    names[VECTOR_INDEX] = subject.facts.vector_index
    missing = (check for check, name in names.items() if indexes.get(name) != "ONLINE")
    return next((f"indexes.{check}" for check in missing), "")
