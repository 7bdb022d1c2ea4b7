"""Remember a text: one memory, its edges and what it supersedes, in one transaction.

In: a `Statement`. Out: `Remembered`. Writes. Query: ``remember.write``.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memoria._support import telemetry
from memoria._support.checks import MAX_TAGS
from memoria._support.stems import search_words
from memoria.errors import UnavailableError
from memoria.graph.server_facts import replaced_error
from memoria.graph.vocabulary import (
    ANSWERED_BY,
    DIRECTIONAL,
    ORIGIN_REMEMBERED,
    pending_key,
    scope_key,
)
from memoria.ingest.rows import json_text, utc
from memoria.ingest.unembedded import notes_of
from memoria.learn.events import MAX_QUESTION_CHARS
from memoria.remember.known import Embed, Known, check_named, find_known, other_text
from memoria.remember.statement import Statement
from memoria.store import ServerFacts, Store
from memoria.store.queries import load
from memoria.types import Remembered, SuppressionKind, metadata_pairs

#: Weight of the edges from a question to what answered it, and how many a question may have.
ANSWER_WEIGHT = 0.25
MAX_ANSWERS = 3
#: For each of these edges but the first one, an answer has so many others. All edges of a memory
#: share its energy: one more among eight takes 6 % from each of them.
OTHERS_NEEDED = 8
# So often a text is remembered whose duplicate another call deletes at that moment.
_TRIES = 5
_SUPERSEDES: SuppressionKind = "overrides"


async def remember(
    store: Store, statement: Statement, *, facts: ServerFacts, embed: Embed | None, now: datetime
) -> tuple[Remembered, bool]:
    """Write a text unless a memory says it already; then add to that memory what is new.

    Returns
    -------
    tuple
        What was done, and whether earlier writes of the scope have left vectors to be made.

    Raises
    ------
    InvalidInputError
        A memory that the statement names is missing, or its id belongs to another text. Nothing
        was written.
    DimensionError
        The vectors of another generation than that of ``facts`` are live. Nothing was written.
    UnavailableError
        Other calls deleted the memory that says the text, five times in a row.

    Notes
    -----
    Two round trips if the text is there word for word, else three or four. What the reads found may
    be outdated when the write comes; the write counts.
    """
    for _ in range(_TRIES):
        found = await _try(store, statement, facts=facts, embed=embed, now=now)
        if found is not None:
            return found
    raise UnavailableError("the memory that says this was deleted again and again: try once more")


async def _try(
    store: Store, statement: Statement, *, facts: ServerFacts, embed: Embed | None, now: datetime
) -> tuple[Remembered, bool] | None:
    """Return the same, or None if the memory that says the text was deleted meanwhile."""
    known = await find_known(store, statement, facts, embed)
    id_ = known.echo_of or known.duplicate_of or statement.memory.id
    parameters = _parameters(statement, known, id_, now)
    parameters["generation"] = None if known.vector is None else facts.generation
    fails = embed is not None and known.vector is None
    parameters["notes"] = notes_of(statement.scope, [id_]) if fails else []
    parameters["pending"] = pending_key(statement.scope)
    query = load("remember.write").at(facts.generation)
    with telemetry.memory_span("upsert_memory", store=scope_key(statement.scope), count=1):
        row = (await store.run(query, parameters))[0]
        if not row["live"]:
            raise replaced_error()
    check_named(row["missing"], statement.scope)
    if row["other"]:
        raise other_text(id_)
    if row["created"] is None:
        return None
    same = None if row["created"] else id_
    done = Remembered(
        id=id_,
        created=row["created"],
        duplicate_of=None if known.echo_of else same,
        echo_of=known.echo_of,
        similar=known.similar,
        older=known.older if row["created"] else (),
        edges=row["edges"],
        superseded=tuple(sorted(row["superseded"])),
        superseded_by=row["superseded_by"],
        pending_vectors=int(fails and row["created"]),
    )
    return done, row["owed"]


def _parameters(statement: Statement, known: Known, id_: str, now: datetime) -> dict[str, Any]:
    """Return the parameters of ``remember.write`` for the memory ``id_``."""
    memory = statement.memory
    return {
        "answered": ANSWERED_BY,
        "answered_weight": ANSWER_WEIGHT,
        "answers": list(statement.answers),
        "directional": list(DIRECTIONAL),
        "edges": [list(edge) for edge in statement.edges],
        "ids": sorted({id_, *statement.named}),
        "kind": memory.kind,
        "max_answers": MAX_ANSWERS,
        "max_tags": MAX_TAGS,
        "memory": {
            "id": id_,
            "text": memory.text,
            "search_words": " ".join(search_words(memory.text)) or None,
            "metadata": json_text(memory.metadata, "metadata"),
            "metadata_pairs": list(metadata_pairs(memory.metadata)),
            "tags": list(memory.tags),
            "created_at": utc(memory.created_at),
            "valid_until": utc(memory.valid_until, "valid_until"),
            "embedding": None if known.vector is None else list(known.vector),
            "own": id_ == memory.id,
            "given": statement.id is not None and id_ == memory.id and not known.same,
        },
        "named": list(statement.named),
        "now": now,
        "origin": ORIGIN_REMEMBERED,
        "others_needed": OTHERS_NEEDED,
        "question": memory.text[:MAX_QUESTION_CHARS],
        "scope": statement.scope,
        "scope_key": scope_key(statement.scope),
        "superseded": list(statement.supersedes),
        "suppression": _SUPERSEDES,
    }
