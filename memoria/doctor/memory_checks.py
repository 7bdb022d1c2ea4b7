"""Checks of the memories: vectors, texts, ids, kinds, dates, scope keys.

In: a subject. Out: findings. Reads only.
Queries: ``doctor.memories``, ``doctor.pending``, ``doctor.scope_keys``; remedies: ``doctor.fix_*``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from memoria.doctor.faults import Fault, counted, findings
from memoria.doctor.report import Finding
from memoria.doctor.subject import Subject
from memoria.graph.vocabulary import DIRECTIONAL, PENDING, pending_key, scope_key

#: Scope for memories without a scope.
RECOVERED = "recovered"
SCOPE_KEY = "memories.scope_key"
METADATA = "memories.metadata_pairs"


async def check_memories(subject: Subject) -> list[Finding]:
    """Count all faults of memories in one pass."""
    rows = await subject.rows(
        "memories", dimensions=subject.facts.dimensions, directional=list(DIRECTIONAL)
    )
    counts = {row["fault"]: row["count"] for row in rows}
    faults = [
        _for_embedder(subject, fault) if fault is _NO_EMBEDDING else fault for fault in FAULTS
    ]
    return [
        _present(subject, counts.get("examined", 0), counts.get("connectors", 0)),
        *findings(subject, rows, faults, show_memory),
        *await _pending(subject),
    ]


async def _pending(subject: Subject) -> list[Finding]:
    """Say how many vectors an embedder failed to make, if any."""
    key = PENDING if subject.scope is None else pending_key(subject.scope)
    row = (await subject.rows("pending", key=key))[0]
    if not row["count"]:
        return []
    return [
        Finding(
            check="memories.pending_vectors",
            severity="note",
            message=f"memories whose vectors the embedder failed to make: {row['count']}; the next "
            "writes of their scope make them",
            remedy="make them now, once the embedder works again",
            command=_embed(subject, [row["scopes"]]),
            count=row["count"],
        )
    ]


async def check_scope_keys(subject: Subject) -> list[Finding]:
    """Find memories that the full-text index does not know under their own scope."""
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
    """Return the id of a memory as text, with its scope if all scopes are examined."""
    scope, node, element = example
    shown = f"element {element}" if node is None else str(node)
    return shown if subject.scope is not None else f"{shown} in {scope or 'no scope'}"


def _present(subject: Subject, examined: int, connectors: int) -> Finding:
    finding = partial(Finding, check="memories.present")
    where = "the database" if subject.scope is None else f"scope {subject.scope!r}"
    if not examined:
        return finding(
            severity="note",
            message=f"there are no memories in {where}",
            remedy="write memories, or name another scope",
            command=subject.command("ingest", "FILE"),
        )
    memories = f"{examined - connectors:,} memories"
    if connectors:
        memories += f" and {connectors:,} connectors"
    if examined >= subject.limit:
        return finding(
            severity="note",
            message=f"only the first {memories} of {where} were examined",
            remedy="examine more memories, or one scope at a time",
            command=subject.command("doctor", options=[f"--limit={10 * subject.limit}"]),
            count=examined,
        )
    return finding(severity="ok", message=f"{memories} in {where}")


def _for_embedder(subject: Subject, fault: Fault) -> Fault:
    """Return the fault of a missing vector; its severity and remedy depend on the embedder."""
    if subject.model is None:
        fault = replace(
            fault,
            remedy="run memoria embed with --embedder module:name, or call "
            "GraphWriter.backfill_embeddings; without the embedder, export the scope, add an "
            "embedding to each line, and ingest the file with --embedder none",
        )
    if subject.facts.embedder is None:  # as far as is known, it is searched by words only
        fault = replace(fault, severity="note")
    return fault


def _embed(subject: Subject, examples: Sequence[Sequence[Any]]) -> str:
    """Return the command that embeds the memories without a vector in the first example's scope."""
    scope = examples[0][0]
    if subject.model is None:  # the command line can't make the vectors of this embedder
        export = subject.command("export", scope=scope, options=["--no-embeddings"])
        return f"{export} --output=memories.jsonl"
    return subject.command("embed", scope=scope, options=[f"--embedder={subject.model}"])


def _forget(subject: Subject, examples: Sequence[Sequence[Any]]) -> str:
    """Return the command that forgets the examples in the scope of the first example."""
    scope = examples[0][0]
    ids = [node for other, node, _ in examples if other == scope]
    return subject.command("forget", *ids, scope=scope)


_NO_EMBEDDING = Fault(
    check="memories.no_embedding",
    severity="warning",
    what="memories without an embedding",
    well="every memory has an embedding",
    effect="no search by meaning finds them",
    remedy="make the missing vectors, scope by scope",
    command=_embed,
)
FAULTS = (
    Fault(
        check="memories.id",
        severity="error",
        what="memories without a usable id",
        well="every memory has an id",
        effect="nothing finds them",
        remedy="give each of them an id",
        fix="fix_id",
        done="given an id",
    ),
    Fault(
        check="memories.scope",
        severity="error",
        what="memories without a scope",
        well="every memory has a scope",
        effect="nothing finds them",
        remedy=f"move them into the scope {RECOVERED!r}, and look at them there",
        fix="fix_scope",
        done=f"moved into the scope {RECOVERED!r}",
    ),
    Fault(
        check="memories.text",
        severity="warning",
        what="memories without a text",
        well="every memory has a text",
        effect="they add nothing to a context",
        remedy="write them again with a text, or forget the memories shown",
        command=_forget,
    ),
    _NO_EMBEDDING,
    Fault(
        check="memories.connector_text",
        severity="warning",
        what="connectors whose name is stored as the text of a memory",
        well="no connector is stored as a memory",
        effect="searches find them instead of memories",
        remedy="move the text to connector_name, and remove the embedding",
        fix="fix_connector_text",
        done="stored as connectors",
    ),
    Fault(
        check="memories.unused_connector",
        severity="note",
        what="connectors that join no memory",
        well="every connector joins a memory",
        effect="nothing comes of them",
        remedy="delete them",
        fix="fix_unused_connector",
        done="deleted",
    ),
    Fault(
        check="memories.bad_embedding",
        severity="error",
        what="memories whose embedding is not a vector of the index's size",
        well="every embedding is a vector of the index's size",
        effect="no search by meaning finds them, and exact searches fail",
        remedy="remove the embedding, then make a new one as for memories without an embedding",
        fix="fix_embedding",
        done="left without an embedding",
    ),
    Fault(
        check="memories.no_kind",
        severity="warning",
        what="memories without a kind label",
        well="every memory has a kind label",
        effect="no search by kind finds them",
        remedy="give them the kind Event, or write them again with a kind of your own",
        fix="fix_kind_missing",
        done="given the kind Event",
    ),
    Fault(
        check="memories.several_kinds",
        severity="warning",
        what="memories with more than one kind label",
        well="no memory has two kind labels",
        effect="they show the kind that comes first by name",
        remedy="keep the kind that is shown now, and remove the other kinds",
        fix="fix_kinds",
        done="left with one kind label",
    ),
    Fault(
        check="memories.created_at",
        severity="warning",
        what="memories whose created_at is not a datetime",
        well="every created_at is a datetime",
        effect="they show no date",
        remedy="turn dates written as text into datetimes, and set other values aside",
        fix="fix_created_at",
        done="changed",
    ),
    Fault(
        check="memories.valid_until",
        severity="warning",
        what="memories whose valid_until is not a datetime with a time zone",
        well="every valid_until is a datetime with a time zone",
        effect="they never count as outdated",
        remedy="turn times written as text, or without a zone, into datetimes, and set other "
        "values aside",
        fix="fix_valid_until",
        done="changed",
    ),
    Fault(
        check=METADATA,
        severity="warning",
        what="memories whose metadata was written without the pairs that filters compare",
        well="filters find all metadata",
        effect="no filter by metadata finds them",
        remedy="store the pairs",
        fix="fix_metadata_pairs",
        done="given their pairs",
    ),
    Fault(
        check="memories.superseded",
        severity="warning",
        what="memories whose mark of being superseded is missing or wrong",
        well="every superseded memory is marked, and no other memory is",
        effect="recalls trust the mark alone, not the SUPPRESSES edges",
        remedy="make the marks follow the SUPPRESSES edges",
        fix="fix_superseded",
        done="marked again",
    ),
)
