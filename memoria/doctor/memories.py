"""Checks of the memories themselves: vectors, texts, ids, kinds, dates, scope keys.

In: a subject. Out: findings. Reads only.
Queries: ``doctor.memories``, ``doctor.scope_keys``; remedies: ``doctor.fix_*``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from memoria.doctor.faults import Fault, counted, findings, statement
from memoria.doctor.report import Finding
from memoria.doctor.subject import Subject, literal
from memoria.graph.vocabulary import scope_key

#: Scopes that one statement repairs, at most.
MAX_KEYS = 20
#: Scope for memories that have none.
RECOVERED = "recovered"


async def check_memories(subject: Subject) -> list[Finding]:
    """Count the faults of memories, one pass over them for all."""
    rows = await subject.rows("memories", dimensions=subject.facts.dimensions)
    examined = next((row["count"] for row in rows if row["fault"] == "examined"), 0)
    faults = [
        _for_embedder(subject, fault) if fault is _NO_EMBEDDING else fault for fault in _FAULTS
    ]
    return [_present(subject, examined), *findings(subject, rows, faults, show_memory)]


async def check_scope_keys(subject: Subject) -> list[Finding]:
    """Find memories that the full-text index files under another scope, or under none."""
    check = "memories.scope_key"
    rows = await subject.rows("scope_keys")
    wrong = [row for row in rows if row["scope_key"] != scope_key(row["scope"])]
    if not wrong:
        return [Finding(check=check, severity="ok", message="the full-text index sees every scope")]
    count = sum(row["count"] for row in wrong)
    scopes = sorted({row["scope"] for row in wrong})
    keys = [(scope, scope_key(scope)) for scope in scopes[:MAX_KEYS]]
    total = counted(subject, count, sum(row["count"] for row in rows))
    return [
        Finding(
            check=check,
            severity="error",
            message=f"memories with a wrong scope_key: {total}; no search by words finds them",
            remedy="write the right scope_key"
            + (f"; this mends the first {MAX_KEYS} scopes" if len(scopes) > MAX_KEYS else ""),
            command=subject.statement("fix_scope_keys", keys=keys),
            count=count,
            examples=tuple(
                show_memory(subject, (row["scope"], node, None))
                for row in wrong
                for node in row["ids"]
            )[:5],
        )
    ]


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


def _embed_again(subject: Subject, examples: Sequence[Sequence[Any]]) -> str:
    """Write the memories of the first one's scope again; those with a vector keep it.

    Their edges stay out of it: one without a relation would be written a second time.
    """
    scope = examples[0][0]
    export = subject.command("export", scope=scope, options=["--no-embeddings"])
    if subject.model is None:  # nothing on the command line makes its vectors
        return f"{export} --output=memories.jsonl"
    ingest = subject.command("ingest", "-", scope=scope, options=[f"--embedder={subject.model}"])
    return f"{export} | grep '^{{\"id\":' | {ingest}"


def _forget(subject: Subject, examples: Sequence[Sequence[Any]]) -> str:
    """Forget those of the examples that are in the first one's scope."""
    scope = examples[0][0]
    ids = [node for other, node, _ in examples if other == scope]
    return subject.command("forget", *ids, scope=scope)


def _fix_embedding(subject: Subject, _: Sequence[Any]) -> str:
    return subject.statement("fix_embedding", dimensions=subject.facts.dimensions)


def _fix_scope(subject: Subject, _: Sequence[Any]) -> str:
    key = scope_key(RECOVERED)
    return subject.statement("fix_scope", new_scope=RECOVERED, scope_key=key)


_NO_EMBEDDING = Fault(
    check="memories.no_embedding",
    name="no_embedding",
    severity="warning",
    what="memories without an embedding",
    effect="no search by meaning finds them",
    remedy="make the missing ones, scope by scope; kinds of your own need --kind, and a field "
    "that is reported as left out is not kept",
    command=_embed_again,
)
_FAULTS = (
    Fault(
        check="memories.id",
        name="id",
        severity="error",
        what="memories without a usable id",
        effect="nothing finds them",
        remedy="give them one",
        command=statement("fix_id"),
    ),
    Fault(
        check="memories.scope",
        name="scope",
        severity="error",
        what="memories without a scope",
        effect="nothing finds them",
        remedy=f"put them into a scope of their own, {literal(RECOVERED)}, and look at them there",
        command=_fix_scope,
    ),
    Fault(
        check="memories.text",
        name="text",
        severity="warning",
        what="memories without a text",
        effect="they say nothing in a context",
        remedy="write them again with one, or forget those shown",
        command=_forget,
    ),
    _NO_EMBEDDING,
    Fault(
        check="memories.bad_embedding",
        name="bad_embedding",
        severity="error",
        what="memories whose embedding is no vector of the index's size",
        effect="no search by meaning finds them, and exact searches fail",
        remedy="remove it, then make it again as for memories without one",
        command=_fix_embedding,
    ),
    Fault(
        check="memories.no_kind",
        name="no_kind",
        severity="warning",
        what="memories without a kind label",
        effect="no search by kind finds them",
        remedy="give them one; Event is only an example",
        command=statement("fix_kind_missing"),
    ),
    Fault(
        check="memories.several_kinds",
        name="several_kinds",
        severity="warning",
        what="memories with more than one kind label",
        effect="they show the first by name",
        remedy="keep the first by name, the one shown now",
        command=statement("fix_kinds"),
    ),
    Fault(
        check="memories.created_at",
        name="created_at",
        severity="warning",
        what="memories whose created_at is no datetime",
        effect="they show no date",
        remedy="turn dates written as text into datetimes, and put the rest aside",
        command=statement("fix_created_at"),
    ),
)
