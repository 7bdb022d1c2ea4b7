"""Checks of the edges: weights, tags, ends, edges that repeat another edge, edges of each memory.

In: a subject. Out: findings, and a histogram of degrees. Reads only.
Queries: ``doctor.edges``, ``doctor.parallel``, ``doctor.degrees``; remedies: ``doctor.fix_*``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from memoria.doctor.faults import Fault, counted, findings
from memoria.doctor.memory_checks import show_memory
from memoria.doctor.report import Bucket, Finding
from memoria.doctor.subject import Subject

#: Share of memories without edges above which explorations find little to follow.
MOST_ISOLATED = 0.5


async def check_edges(subject: Subject) -> list[Finding]:
    """Count all faults of edges except parallel edges, in one pass."""
    rows = await subject.rows("edges")
    return findings(subject, rows, FAULTS, _show)


async def check_parallel(subject: Subject) -> list[Finding]:
    """Count the edges beyond the first of each source, target and relation."""
    row = (await subject.rows("parallel"))[0]
    rows = [
        {"fault": "examined", "count": row["examined"]},
        {"fault": "parallel", "count": row["count"], "examples": row["examples"]},
    ]
    return findings(subject, rows, (PARALLEL,), _show)


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
            remedy="let memoria link join similar memories, or write edges of your own",
            command=subject.command("link", scope=_scope_of(rows[0]["examples"])),
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


def _show(subject: Subject, example: Sequence[str | None]) -> str:
    """Return an edge as text, with the scopes of its ends unless they are the examined scope."""
    source, relation, target, *scopes = example
    foreign = [scope or "no scope" for scope in dict.fromkeys(scopes) if scope != subject.scope]
    where = f" in {' and '.join(foreign)}" if foreign else ""
    return f"{source} -[{relation or ''}]-> {target}{where}"


FAULTS = (
    Fault(
        check="edges.no_weight",
        severity="warning",
        what="edges without a weight",
        well="every edge has a weight",
        effect="they count as 0.01",
        remedy="give them the weight 0.5, as memoria does for a relation without a weight",
        fix="fix_weight_missing",
        done="given the weight 0.5",
    ),
    Fault(
        check="edges.bad_weight",
        severity="error",
        what="edges whose weight is not a finite number of at least 0",
        well="every weight is a finite number of at least 0",
        effect="they carry no energy",
        remedy="turn texts into numbers, and set the other weights to 0.5",
        fix="fix_weight_bad",
        done="given a number as weight",
    ),
    Fault(
        check="edges.high_weight",
        severity="warning",
        what="edges with a weight above 1",
        well="no weight is above 1",
        effect="they count as 1",
        remedy="set the weight to 1",
        fix="fix_weight_high",
        done="given the weight 1",
    ),
    Fault(
        check="edges.bad_tags",
        severity="warning",
        what="edges whose tags are not a list of texts",
        well="all tags are lists of texts",
        effect="they may count as edges without tags",
        remedy="turn the tags into a list",
        fix="fix_tags_type",
        done="given a list of tags",
    ),
    Fault(
        check="edges.duplicate_tags",
        severity="warning",
        what="edges with the same tag twice",
        well="no edge has a tag twice",
        effect="the repeated tag lowers their energy",
        remedy="store each tag once, sorted",
        fix="fix_tags",
        done="given each tag once, sorted",
    ),
    Fault(
        check="edges.unsorted_tags",
        severity="note",
        what="edges whose tags are not sorted",
        well="all tags are sorted",
        effect="harmless, but memoria stores tags sorted",
        remedy="sort them",
        fix="fix_tags",
        done="given each tag once, sorted",
    ),
    Fault(
        check="edges.cross_scope",
        severity="error",
        what="edges between two scopes",
        well="every edge stays inside one scope",
        effect="they are never followed, but they thin the energy of other edges",
        remedy="delete them",
        fix="fix_cross_scope",
        done="deleted",
    ),
    Fault(
        check="edges.self",
        severity="warning",
        what="edges from a memory to itself",
        well="every edge leads to another memory",
        effect="they are never followed, but they thin the energy of other edges",
        remedy="delete them",
        fix="fix_self",
        done="deleted",
    ),
    Fault(
        check="edges.foreign_end",
        severity="warning",
        what="edges between a memory and a node that is not a memory",
        well="every edge joins two memories",
        effect="they are never followed, but they thin the energy of other edges",
        remedy="delete them, or give the other node the label Memory, an id and a scope",
        fix="fix_foreign_end",
        done="deleted",
    ),
)
PARALLEL = Fault(
    check="edges.parallel",
    severity="warning",
    what="edges that repeat another edge of the same source, target and relation",
    well="no edge repeats another",
    effect="only the strongest is followed, but all of them thin the energy of other edges",
    remedy="keep only the strongest edge of each group",
    fix="fix_parallel",
    done="deleted",
)
