"""Checks of the graph as a whole: the number of edges of each memory.

In: a subject. Out: a finding and a histogram. Reads only. Query: ``doctor.degrees``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memoria.doctor.faults import counted
from memoria.doctor.memory_checks import show_memory
from memoria.doctor.report import Bucket, Finding
from memoria.doctor.subject import Subject

#: Share of memories without edges above which explorations find little to follow.
MOST_ISOLATED = 0.5


async def check_degrees(subject: Subject) -> tuple[Finding, tuple[Bucket, ...]]:
    """Count memories by degree. Memories without edges can be seeds, but lead nowhere."""
    rows = await subject.rows("degrees")
    degrees = {row["degree"]: row["count"] for row in rows}
    examined, isolated = sum(degrees.values()), degrees.get(0, 0)
    check = "graph.isolated"
    if not isolated:
        finding = Finding(check=check, severity="ok", message="every memory has an edge")
    else:
        share = isolated / examined
        finding = Finding(
            check=check,
            severity="warning" if share > MOST_ISOLATED else "note",
            message="memories without edges, which no exploration reaches: "
            f"{counted(subject, isolated, examined)} ({share:.1%})",
            remedy="write edges to these memories, or let memoria link make edges",
            command=subject.command("ingest", "FILE", scope=_scope_of(rows[0]["examples"])),
            count=isolated,
            examples=tuple(show_memory(subject, example) for example in rows[0]["examples"]),
        )
    return finding, histogram(degrees)


def _scope_of(examples: Sequence[Sequence[Any]]) -> str | None:
    """Return the first scope with a valid name."""
    return next((scope for scope, *_ in examples if isinstance(scope, str) and scope), None)


def histogram(degrees: Mapping[int, int]) -> tuple[Bucket, ...]:
    """Group degrees by powers of two, up to the largest degree.

    >>> [(b.low, b.high, b.count) for b in histogram({0: 5, 1: 2, 6: 1})]
    [(0, 0, 5), (1, 1, 2), (2, 3, 0), (4, 7, 1)]
    """
    counts: Counter[int] = Counter()
    for degree, count in degrees.items():
        counts[degree.bit_length()] += count
    return tuple(
        Bucket(low=1 << bits >> 1, high=(1 << bits) - 1, count=counts[bits])
        for bits in range(max(counts, default=-1) + 1)
    )
