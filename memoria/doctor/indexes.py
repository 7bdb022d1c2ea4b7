"""Checks of the set-up: its constraint, its indexes, the record of their embedder.

In: a subject, and the embedder that will be used. Out: findings. Reads only.
Query: ``doctor.indexes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from memoria.doctor.report import Finding
from memoria.doctor.subject import Subject
from memoria.embed import Embedder
from memoria.errors import DimensionError
from memoria.graph.schema import SHOWN, named
from memoria.graph.server_facts import check_embedder, is_older
from memoria.graph.vocabulary import (
    META_INDEX,
    SCHEMA_VERSION,
    TEXT_ANALYSER,
    TEXT_INDEX,
    UNIQUE_INDEX,
    VECTOR_INDEX,
)

Details = Mapping[str, Any]

#: Indexes that memoria needs; the first two belong to constraints.
_CONSTRAINTS = (UNIQUE_INDEX, META_INDEX)
_RECORD = "indexes.record"
_NAMES = (*_CONSTRAINTS, TEXT_INDEX, VECTOR_INDEX)


async def check_indexes(subject: Subject, embedder: Embedder | None) -> list[Finding]:
    """Check every index, the vector index in detail, the record, and the embedder."""
    details = {row["name"]: row for row in await subject.rows("indexes")}
    live = subject.facts.vector_index
    names = {name: live if name == VECTOR_INDEX else name for name in _NAMES}
    found = [_state(subject, check, details.get(name, {})) for check, name in names.items()]
    if subject.facts.indexes.get(TEXT_INDEX) == "ONLINE":
        found.append(_words(subject, details[TEXT_INDEX]))
    if UNIQUE_INDEX not in subject.facts.indexes:
        found[0] = await _with_duplicates(subject, found[0])
    if subject.facts.dimensions is not None:
        vectors = details[live]
        found += [_similarity(subject, vectors), _quantisation(subject, vectors)]
    return [*found, _record(subject), _embedder(subject, embedder), *_reembedding(subject)]


def _state(subject: Subject, name: str, details: Details) -> Finding:
    """Check that an index exists, is memoria's own, and is online.

    The check of the vector index has the same name for every generation.
    """
    check, init, facts = f"indexes.{name}", subject.init, subject.facts
    finding = partial(Finding, check=check)
    state = facts.indexes.get(facts.vector_index if name == VECTOR_INDEX else name, "MISSING")
    if state == "ONLINE" and name in _CONSTRAINTS and not details.get("constraint"):
        return finding(
            severity="error",
            message="an index, but not the constraint that keeps ids unique",
            remedy=f"drop it, then run {init}",
            command=subject.fix(check),
        )
    if state == "ONLINE":
        return finding(severity="ok", message="online")
    if state == "MISSING":
        return finding(
            severity="error",
            message="missing",
            remedy="create it",
            command=init,
            cause="" if subject.is_set_up else _RECORD,
        )
    if state == "POPULATING":
        return finding(
            severity="warning",
            message=f"populating, {details.get('percent') or 0:.0f} % done",
            remedy="wait until it is online",
            command=init,
        )
    what = "an index on something else has its name" if state == "OTHER" else state.lower()
    failure = (details.get("failure") or "").strip().partition("\n")[0]
    return finding(
        severity="error",
        message=f"{what}: {failure}" if failure else what,
        remedy=f"drop it, then run {init}",
        command=subject.fix(check),
    )


def _words(subject: Subject, details: Details) -> Finding:
    """Check that the full-text index finds the pieces of names, and ignores accents."""
    check = f"indexes.{TEXT_INDEX}.words"
    analyser = details["config"].get("fulltext.analyzer")
    lacking = [
        *([] if "search_words" in details["properties"] else ["getUserById by user id"]),
        *([] if analyser == TEXT_ANALYSER else ["café by cafe"]),
    ]
    if not lacking:
        return Finding(check=check, severity="ok", message=analyser)
    return Finding(
        check=check,
        severity="warning",
        message="made in another way than memoria makes it: a search by words does not find "
        + " or ".join(lacking),
        remedy="store the pieces of names with all memories and drop the index, then run "
        + subject.init,
        command=subject.fix(f"indexes.{TEXT_INDEX}"),
    )


async def _with_duplicates(subject: Subject, missing: Finding) -> Finding:
    """Return the finding of a missing constraint, with the nodes that violate it, if any."""
    rows = await subject.rows("duplicates", limit=SHOWN)
    if not rows:
        return missing
    message = f"missing, and can't be made: {named(rows)}"
    return Finding(
        check=missing.check, severity="error", message=message, remedy="fix these nodes first"
    )


def _similarity(subject: Subject, details: Details) -> Finding:
    check = f"indexes.{VECTOR_INDEX}.similarity"
    function = str(details["config"].get("vector.similarity_function", "unknown")).lower()
    if function == "cosine":
        return Finding(check=check, severity="ok", message=function)
    return Finding(
        check=check,
        severity="error",
        message=f"{function}: memoria expects scores of the cosine similarity",
        remedy=f"drop the index, then run {subject.init}",
        command=subject.fix(f"indexes.{VECTOR_INDEX}"),
    )


def _quantisation(subject: Subject, details: Details) -> Finding:
    """Check the quantisation; servers before 2026 tell only whether it is on."""
    check, config = f"indexes.{VECTOR_INDEX}.quantisation", details["config"]
    kind = config.get("vector.quantization.type", "NONE")
    if kind == "NONE" and not config.get("vector.quantization.enabled", False):
        return Finding(check=check, severity="ok", message="off")
    return Finding(
        check=check,
        severity="warning",
        message="on: it costs 8 to 21 % of recall on clustered vectors, and makes nothing faster",
        remedy=f"drop the index, then run {subject.init}",
        command=subject.fix(f"indexes.{VECTOR_INDEX}"),
    )


def _record(subject: Subject) -> Finding:
    facts, recorded = subject.facts, subject.recorded
    finding = partial(Finding, check=_RECORD)
    if not subject.is_set_up:
        return finding(
            severity="error",
            message="this database is not set up for memoria; nothing else was examined",
            remedy="set it up",
            command=subject.init,
        )
    if recorded is None:
        return finding(
            severity="error",
            message="the set-up is not complete: nothing says which vectors this database holds",
            remedy="complete it",
            command=subject.init,
        )
    if is_older(facts):
        return finding(
            severity="error",
            message=f"an older memoria set this database up (schema {facts.schema_version}; this "
            f"one needs {SCHEMA_VERSION})",
            remedy="bring it up to date",
            command=subject.init,
        )
    if facts.dimensions not in (None, recorded):
        return finding(
            severity="error",
            message=f"the vector index holds {facts.dimensions} dimensions, but the database was "
            f"set up for {recorded}",
            remedy=f"drop the index, then run {subject.init}",
            command=subject.fix(f"indexes.{VECTOR_INDEX}"),
        )
    message = f"set up for {recorded} dimensions of {facts.embedder or 'no embedder'}"
    return finding(severity="ok", message=message)


def _embedder(subject: Subject, embedder: Embedder | None) -> Finding:
    """Check that the embedder that will be used makes the vectors that the index holds."""
    check, facts, model = "indexes.embedder", subject.facts, subject.model
    try:
        check_embedder(facts, embedder)
    except DimensionError as exc:
        return Finding(
            check=check,
            severity="error",
            message=str(exc),
            remedy="use the embedder that the database was set up for"
            + ("" if model else "; the command line can't make its vectors, so use it from Python"),
            command=subject.command("doctor", options=[f"--embedder={model or 'none'}"]),
        )
    if embedder is None:
        message = f"recorded: {facts.embedder or 'none'}; no embedder was given to compare with"
    else:
        message = f"{embedder.name}, {embedder.dimensions} dimensions: it fits"
    return Finding(check=check, severity="ok", message=message)


def _reembedding(subject: Subject) -> list[Finding]:
    """Say how far a change of the embedder has come, if one is under way."""
    facts = subject.facts
    if (other := facts.reembedding) is None:
        return []
    check, go_on = "indexes.reembedding", f"--embedder={other.embedder}"
    if other.state == "filling":
        message = f"vectors of {other.embedder} are being made; recalls use {facts.embedder}"
        remedy = "if memoria reembed was interrupted, run it again, or take it back with --rollback"
    elif other.state == "sweeping":
        message = f"{facts.embedder} has replaced {other.embedder}; some memories may lack a vector"
        remedy, go_on = "run memoria reembed again", f"--embedder={facts.embedder}"
    elif other.state == "kept":
        message = f"{facts.embedder} has replaced {other.embedder}, whose vectors are kept"
        remedy, go_on = "delete them, or go back to them with --rollback", "--finish"
    else:
        message = f"the vectors of {other.embedder} are being deleted"
        back = other.generation > facts.generation
        remedy, go_on = "if that was interrupted, continue", "--rollback" if back else "--finish"
    interrupted = other.state in ("sweeping", "dropping")
    return [
        Finding(
            check=check,
            severity="warning" if interrupted else "note",
            message=message,
            remedy=remedy,
            command=subject.database_command("reembed", go_on),
        )
    ]
