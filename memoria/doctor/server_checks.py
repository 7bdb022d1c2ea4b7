"""Checks of the server: its version, its vector search, its memory.

In: a subject. Out: findings. Reads only. Query: ``doctor.settings``.
"""

from __future__ import annotations

import re
from functools import partial

from memoria.doctor.report import Finding
from memoria.doctor.subject import Subject
from memoria.errors import MemoriaError
from memoria.graph.vocabulary import VECTOR_INDEX

#: First version whose Cypher can run memoria's queries.
OLDEST = (5, 26)
#: First version whose vector index can filter by scope.
SEARCHES_BY_SCOPE = (2026,)


def check_version(subject: Subject) -> Finding:
    """Compare the version of the server with the oldest version that memoria supports."""
    facts = subject.facts
    found = f"Neo4j {facts.version}, {facts.edition} edition"
    if _numbers(facts.version) >= OLDEST:
        return Finding(check="server.version", severity="ok", message=found)
    return Finding(
        check="server.version",
        severity="error",
        message=f"{found}: memoria needs 5.26 or later",
        remedy="upgrade the server, or start memoria's local server",
        command="memoria up",
    )


def check_dialect(subject: Subject) -> Finding:
    """Check how vectors are searched, and whether the server could search them better."""
    facts, finding = subject.facts, partial(Finding, check="server.dialect")
    if facts.vector_dialect == "search":
        message = "search: the vector index filters by scope"
        return finding(severity="ok", message=message)
    message = "procedure: the vector index searches all scopes, and its results are filtered"
    if _numbers(facts.version) < SEARCHES_BY_SCOPE:
        # Without a command: here the index that is there is the best that this server can have.
        return finding(
            severity="note",
            message=message,
            remedy="with many scopes, upgrade to Neo4j 2026 or later, and run memoria doctor again",
        )
    if facts.dimensions is None:  # the vector index is missing, which another check says
        return finding(severity="ok", message=message)
    return finding(
        severity="warning",
        message=f"{message}; this server could filter inside the index",
        remedy=f"drop the index, which was created without the scope, then run {subject.init}",
        command=subject.fix(f"indexes.{VECTOR_INDEX}"),
    )


async def read_settings(subject: Subject) -> dict[str, str]:
    """Read the memory limits of the server; empty if it does not tell them (hosted servers)."""
    try:
        rows = await subject.rows("settings")
    except MemoriaError:
        return {}
    return {row["name"]: row["value"] for row in rows if row["value"]}


def check_memory(settings: dict[str, str]) -> Finding:
    """Return the memory limits of the server as a finding."""
    shown = ", ".join(f"{name} {value}" for name, value in sorted(settings.items()))
    message = shown or "the server does not tell its memory limits"
    return Finding(check="server.memory", severity="ok", message=message)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:2]))
