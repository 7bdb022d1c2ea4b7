"""Vectors that a write could not make: noted in its transaction, and made later.

In: ids of memories; an embedder. Out: notes; how many vectors were made. Writes vectors and notes.
Queries: ``ingest.embeddings``, ``ingest.pending``, ``ingest.settle``.

An embedder may be down, slow, or wrong for one text. Words and edges are written all the same. The
next write of the scope makes up for one note, ``memoria embed`` for all of a scope, and
`keep_embedding` for those of a database.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from memoria._support.seldom import SELDOM
from memoria.embed import Embedded, Embedder, embed_what_can_be
from memoria.errors import InvalidInputError, MemoriaError
from memoria.graph.schema import record_embedder
from memoria.graph.server import check_embedder, replaced_error, server_facts, was_set_up
from memoria.graph.vocabulary import PENDING, pending_key
from memoria.store import Rows, Store
from memoria.store.queries import load

log = logging.getLogger(__name__)

#: Memories of one note: what the next write makes up for.
NOTE_IDS = 64
#: A note is given up after so many tries; ``memoria embed`` still finds its memories.
MAX_TRIES = 5
# Time for one more text; seconds.
_EACH_S = 1.0
# How often to look for notes; seconds.
_EVERY_S = 5.0


def notes_of(scope: str, ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the notes about memories without a vector, as ``ingest.memories`` writes them."""
    ordered, key = sorted(ids), pending_key(scope) + uuid4().hex
    parts = range(0, len(ordered), NOTE_IDS)
    return [{"key": f"{key}/{at}", "ids": ordered[at : at + NOTE_IDS]} for at in parts]


async def embed_in_time(embedder: Embedder, texts: Sequence[str], store: Store) -> Embedded:
    """Embed texts of a write, in the time of a query and a second for each text."""
    timeout_s = store.config.query_timeout_s + _EACH_S * len(texts)
    made = await embed_what_can_be(embedder, texts, timeout_s=timeout_s)
    if made.error is not None:
        # The error may quote a text, which the log must not hold.
        SELDOM.warn(
            log, "vectors are made later: the embedder failed (%s)", type(made.error).__name__
        )
    return made


async def settle(store: Store, embedder: Embedder, *, scope: str | None = None) -> list[str]:
    """Make the vectors of the next note of a scope, or of any scope; return ids of its memories.

    Those for which the embedder made a vector are returned.

    Raises
    ------
    MemoriaError
        The server can't be reached, or has the vectors of another embedder.
    """
    facts = await server_facts(store)
    if not was_set_up(facts):
        return []
    check_embedder(facts, embedder)
    key = PENDING if scope is None else pending_key(scope)
    found = await store.run(load("ingest.pending").at(facts.generation), {"key": key})
    if not found:
        return []
    texts = {id_: text for id_, text in found[0]["rows"] if text.strip()}
    made = await embed_in_time(embedder, list(texts.values()), store)
    vectors = zip(texts.items(), made.vectors, strict=True)
    rows = Rows(
        {"id": id_, "text": text, "embedding": vector}
        for (id_, text), vector in vectors
        if vector is not None
    )
    if rows:
        facts = await record_embedder(store, facts, embedder)
        given = {"generation": facts.generation, "rows": rows, "scope": found[0]["scope"]}
        done = (await store.run(load("ingest.embeddings").at(facts.generation), given))[0]
        if not done["live"]:
            raise replaced_error()
    # A note whose texts an embedder that is down has not seen stays, but others come first.
    is_up = rows or made.error is None or isinstance(made.error, InvalidInputError)
    tried = {"key": found[0]["key"], "max_tries": MAX_TRIES if is_up else None}
    await store.run(load("ingest.settle").at(facts.generation), tried)
    return [row["id"] for row in rows]


@asynccontextmanager
async def keep_embedding(store: Store, embedder: Embedder) -> AsyncIterator[None]:
    """While the context is open, make the vectors that writes of any scope could not make."""

    async def work() -> None:
        while True:
            try:
                while await settle(store, embedder):
                    pass
            except MemoriaError as exc:
                SELDOM.warn(log, "vectors are made later: %s", type(exc).__name__)
            await asyncio.sleep(_EVERY_S)

    task = asyncio.create_task(work())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
