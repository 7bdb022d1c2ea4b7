"""Checks of the edges: weights, tags, ends, and edges that say the same again.

In: a subject. Out: findings. Reads only.
Queries: ``doctor.edges``, ``doctor.parallel``; remedies: ``doctor.fix_*``.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoria.doctor.faults import Fault, findings, statement
from memoria.doctor.report import Finding
from memoria.doctor.subject import Subject


async def check_edges(subject: Subject) -> list[Finding]:
    """Count the faults of edges, one pass over them for all but the parallel ones."""
    rows = await subject.rows("edges")
    return findings(subject, rows, _FAULTS, _show)


async def check_parallel(subject: Subject) -> list[Finding]:
    """Count the edges beyond the first of each source, target and relation."""
    row = (await subject.rows("parallel"))[0]
    rows = [
        {"fault": "examined", "count": row["examined"]},
        {"fault": "parallel", "count": row["count"], "examples": row["examples"]},
    ]
    return findings(subject, rows, (_PARALLEL,), _show)


def _show(subject: Subject, example: Sequence[str | None]) -> str:
    """Print an edge, with the scopes of its ends where they are not the one examined."""
    source, relation, target, *scopes = example
    foreign = [scope or "no scope" for scope in dict.fromkeys(scopes) if scope != subject.scope]
    where = f" in {' and '.join(foreign)}" if foreign else ""
    return f"{source} -[{relation or ''}]-> {target}{where}"


_FAULTS = (
    Fault(
        check="edges.no_weight",
        name="no_weight",
        severity="warning",
        what="edges without a weight",
        effect="they count as 0.01",
        remedy="give them 0.5, the weight of a relation that names none",
        command=statement("fix_weight_missing"),
    ),
    Fault(
        check="edges.bad_weight",
        name="bad_weight",
        severity="error",
        what="edges whose weight is no finite number from 0 up",
        effect="they carry nothing",
        remedy="make numbers of texts, and 0.5 of the rest",
        command=statement("fix_weight_bad"),
    ),
    Fault(
        check="edges.high_weight",
        name="high_weight",
        severity="warning",
        what="edges with a weight above 1",
        effect="they count as 1",
        remedy="store 1",
        command=statement("fix_weight_high"),
    ),
    Fault(
        check="edges.bad_tags",
        name="bad_tags",
        severity="warning",
        what="edges whose tags are no list of texts",
        effect="they may count as having none",
        remedy="make a list of them",
        command=statement("fix_tags_type"),
    ),
    Fault(
        check="edges.duplicate_tags",
        name="duplicate_tags",
        severity="warning",
        what="edges with the same tag twice",
        effect="it lowers their energy",
        remedy="store each tag once, sorted",
        command=statement("fix_tags"),
    ),
    Fault(
        check="edges.unsorted_tags",
        name="unsorted_tags",
        severity="note",
        what="edges whose tags are not sorted",
        effect="harmless, but memoria writes them so",
        remedy="sort them",
        command=statement("fix_tags"),
    ),
    Fault(
        check="edges.cross_scope",
        name="cross_scope",
        severity="error",
        what="edges between two scopes",
        effect="never followed, but they thin the energy of the others",
        remedy="delete them",
        command=statement("fix_cross_scope"),
    ),
    Fault(
        check="edges.self",
        name="self",
        severity="warning",
        what="edges from a memory to itself",
        effect="never followed, but they thin the energy of the others",
        remedy="delete them",
        command=statement("fix_self"),
    ),
    Fault(
        check="edges.foreign_end",
        name="foreign_end",
        severity="warning",
        what="edges between a memory and a node that is none",
        effect="never followed, but they thin the energy of the others",
        remedy="delete them, or give the other node the label Memory, an id and a scope",
        command=statement("fix_foreign_end"),
    ),
)
_PARALLEL = Fault(
    check="edges.parallel",
    name="parallel",
    severity="warning",
    what="edges that repeat another of the same source, target and relation",
    effect="only the strongest is followed, but all thin the energy of the others",
    remedy="keep the strongest of each",
    command=statement("fix_parallel"),
)
