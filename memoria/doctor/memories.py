"""Checks of the memories themselves: vectors, texts, ids, kinds, dates, scope keys.

In: a subject. Out: findings. Reads only.
Queries: ``doctor.memories``, ``doctor.scope_keys``; remedies: ``doctor.fix_*``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memoria.doctor.faults import Fault, counted, findings
from memoria.doctor.report import Finding
from memoria.doctor.subject import Subject
from memoria.graph.vocabulary import scope_key

#: Scope for memories that have none.
RECOVERED = "recovered"
SCOPE_KEY = "memories.scope_key"


async def check_memories(subject: Subject) -> list[Finding]:
    """Count the faults of memories, one pass over them for all."""
    rows = await subject.rows("memories", dimensions=subject.facts.dimensions)
    examined = next((row["count"] for row in rows if row["fault"] == "examined"), 0)
    faults = [
        _for_embedder(subject, fault) if fault is _NO_EMBEDDING else fault for fault in FAULTS
    ]
    return [_present(subject, examined), *findings(subject, rows, faults, show_memory)]


async def check_scope_keys(subject: Subject) -> list[Finding]:
    """Find memories that the full-text index files under another scope, or under none."""
    check = SCOPE_KEY
    rows = await subject.rows("scope_keys")
    wrong = [row for row in rows if _is_wrong(row)]
    if not wrong:
        return [Finding(check=check, severity="ok", message="the full-text index sees every scope")]
    count = sum(row["count"] for row in wrong)
    total = counted(subject, count, sum(row["count"] for row in rows))
    return [
        Finding(
            check=check,
            severity="error",
            message=f"memories with a wrong scope_key: {total}; no search by words finds them",
            remedy="write the right scope_key",
            command=subject.fix(check),
            count=count,
            examples=tuple(
                show_memory(subject, (row["scope"], node, None))
                for row in wrong
                for node in row["ids"]
            )[:5],
        )
    ]


async def wrong_scopes(subject: Subject) -> list[str]:
    """Return the scopes of memories with a wrong scope_key."""
    rows = await subject.rows("scope_keys")
    return sorted({row["scope"] for row in rows if _is_wrong(row)})


def _is_wrong(row: Mapping[str, Any]) -> bool:
    return bool(row["scope_key"] != scope_key(row["scope"]))


def show_memory(subject: Subject, example: Sequence[Any]) -> str:
    """Print scope, id and element id of a memory: the id, with its scope where any is examined."""
    scope, node, element = example
    shown = f"element {element}" if node is None else str(node)
    return shown if subject.scope is not None else f"{shown} in {scope or 'no scope'}"


def _present(subject: Subject, examined: int) -> Finding:
    check = "memories.present"
    where = "the database" if subject.scope is None else f"scope {subject.scope!r}"
    if not examined:
        return Finding(
            check=check,
            severity="note",
            message=f"there are no memories in {where}",
            remedy="write some, or name another scope",
            command=subject.command("ingest", "FILE"),
        )
    if examined >= subject.limit:
        return Finding(
            check=check,
            severity="note",
            message=f"only the first {examined:,} memories of {where} were looked at",
            remedy="look at more, or at one scope at a time",
            command=subject.command("doctor", options=[f"--limit={10 * subject.limit}"]),
            count=examined,
        )
    return Finding(check=check, severity="ok", message=f"{examined:,} memories in {where}")


def _for_embedder(subject: Subject, fault: Fault) -> Fault:
    """Return the fault of a missing vector, as bad and as mendable as the embedder makes it."""
    if subject.model is None:
        fault = replace(
            fault,
            remedy="call GraphWriter.backfill_embeddings where the embedder is; without Python, "
            "give each line its vector as embedding, and ingest the file with --embedder none",
        )
    if subject.facts.embedder is None:  # set up to be searched by words alone, as far as is known
        fault = replace(fault, severity="note")
    return fault


def _embed(subject: Subject, examples: Sequence[Sequence[Any]]) -> str:
    """Embed the memories of the first one's scope that have no vector."""
    scope = examples[0][0]
    if subject.model is None:  # nothing on the command line makes its vectors
        export = subject.command("export", scope=scope, options=["--no-embeddings"])
        return f"{export} --output=memories.jsonl"
    return subject.command("embed", scope=scope, options=[f"--embedder={subject.model}"])


def _forget(subject: Subject, examples: Sequence[Sequence[Any]]) -> str:
    """Forget those of the examples that are in the first one's scope."""
    scope = examples[0][0]
    ids = [node for other, node, _ in examples if other == scope]
    return subject.command("forget", *ids, scope=scope)


_NO_EMBEDDING = Fault(
    check="memories.no_embedding",
    severity="warning",
    what="memories without an embedding",
    well="every memory has an embedding",
    effect="no search by meaning finds them",
    remedy="make the missing ones, scope by scope",
    command=_embed,
)
FAULTS = (
    Fault(
        check="memories.id",
        severity="error",
        what="memories without a usable id",
        well="every memory has an id",
        effect="nothing finds them",
        remedy="give them one",
        fix="fix_id",
        done="given an id",
    ),
    Fault(
        check="memories.scope",
        severity="error",
        what="memories without a scope",
        well="every memory has a scope",
        effect="nothing finds them",
        remedy=f"put them into a scope of their own, {RECOVERED!r}, and look at them there",
        fix="fix_scope",
        done=f"put into the scope {RECOVERED!r}",
    ),
    Fault(
        check="memories.text",
        severity="warning",
        what="memories without a text",
        well="every memory has a text",
        effect="they say nothing in a context",
        remedy="write them again with one, or forget those shown",
        command=_forget,
    ),
    _NO_EMBEDDING,
    Fault(
        check="memories.bad_embedding",
        severity="error",
        what="memories whose embedding is not a vector of the index's size",
        well="every embedding is a vector of the index's size",
        effect="no search by meaning finds them, and exact searches fail",
        remedy="remove it, then make it again as for memories without one",
        fix="fix_embedding",
        done="freed of the embedding",
    ),
    Fault(
        check="memories.no_kind",
        severity="warning",
        what="memories without a kind label",
        well="every memory has a kind label",
        effect="no search by kind finds them",
        remedy="make them Events, or write them again with a kind of your own",
        fix="fix_kind_missing",
        done="made an Event",
    ),
    Fault(
        check="memories.several_kinds",
        severity="warning",
        what="memories with more than one kind label",
        well="no memory has two kind labels",
        effect="they show the first by name",
        remedy="keep the first by name, the one shown now, and take the others away",
        fix="fix_kinds",
        done="left with one kind label",
    ),
    Fault(
        check="memories.created_at",
        severity="warning",
        what="memories whose created_at is not a datetime",
        well="every created_at is a datetime",
        effect="they show no date",
        remedy="turn dates written as text into datetimes, and put the rest aside",
        fix="fix_created_at",
        done="changed",
    ),
)
