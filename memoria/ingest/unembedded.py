"""Memories without a vector: made now or later, and noted where an embedder fails.

In: memories, or a scope and kinds; an embedder. Out: vectors; notes; how many vectors were stored.
Writes vectors and notes. Queries: ``ingest.count_without_embedding``, ``ingest.embedded``,
``ingest.embeddings``, ``ingest.pending``, ``ingest.settle``, ``ingest.without_embedding``.

An embedder may be down, slow, or wrong for one text. Words and edges are written all the same, and
a note in the same transaction. The next write of the scope makes up for one note, ``memoria embed``
for all of a scope, and `keep_embedding` for those of a database.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from memoria._support.checks import check_kind
from memoria._support.prefetch import Prefetch
from memoria._support.progress import ProgressCallback
from memoria._support.throttling import throttled_warning
from memoria._support.wording import number_of
from memoria.embed import Embedded, Embedder, Postponed, embed_what_can_be
from memoria.errors import InvalidInputError, MemoriaError
from memoria.graph.connectors import is_connector
from memoria.graph.schema import record_embedder
from memoria.graph.server_facts import check_embedder, replaced_error, server_facts, was_set_up
from memoria.graph.vocabulary import PENDING, pending_key
from memoria.store import ServerFacts, Store
from memoria.store.queries import load
from memoria.types import Memory, WriteReport

log = logging.getLogger(__name__)

#: Most memories in one note, which the next write embeds.
NOTE_IDS = 64
#: A note is given up after so many tries; ``memoria embed`` still finds its memories.
MAX_TRIES = 5
# Time for one more text; seconds.
_EACH_S = 1.0
# How often to look for notes; seconds.
_EVERY_S = 5.0


@dataclass(frozen=True, slots=True)
class Unembedded:
    """Which memories are to be embedded, if they have no vector.

    Attributes
    ----------
    kinds
        Only those of these kinds; empty for all. They need not be declared, since nothing of these
        kinds is made.
    generation
        That of the vector that they lack; see `ServerFacts`.
    """

    scope: str
    kinds: Sequence[str]
    generation: int

    def __post_init__(self) -> None:
        for kind in self.kinds:
            check_kind(kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """What an embedder made for memories.

    Attributes
    ----------
    by_id
        Id of a memory -> its vector.
    pending
        Ids of the memories for which there is no vector now.
    fault
        Why, for the first of these; None if none is pending.
    first
        Id of the memory whose text the fault is about; None if it is about all of them.
    """

    by_id: Mapping[str, Sequence[float]] = field(default_factory=dict)
    pending: Set[str] = frozenset()
    fault: str | None = None
    first: str | None = None

    @property
    def report(self) -> WriteReport:
        """The same as counts."""
        count = len(self.pending)
        if not count:
            return WriteReport(embedded=len(self.by_id))
        of = ""
        if self.first is not None:
            of = f" ({'memory' if count == 1 else 'the first of memory'} {self.first!r})"
        why = f"{number_of(count, 'vector is', 'vectors are')} pending{of}: {self.fault}"
        return WriteReport(embedded=len(self.by_id), pending_vectors=count, problems=(why,))


async def texts_to_embed(
    store: Store, scope: str, memories: Sequence[Memory], generation: int
) -> dict[str, str]:
    """Return id -> text of the memories without a vector, neither given nor stored for the text."""
    texts = {
        m.id: m.text
        for m in memories
        if m.embedding is None and m.text.strip() and not is_connector(m)
    }
    if not texts:
        return {}
    rows = [{"id": id_, "text": text} for id_, text in texts.items()]
    found = await store.run(load("ingest.embedded").at(generation), {"rows": rows, "scope": scope})
    for id_ in found[0]["ids"]:
        del texts[id_]
    return texts


async def vectors_for(
    memories: Sequence[Memory], store: Store, embedder: Embedder, *, scope: str, generation: int
) -> Vectors:
    """Make the vectors that memories lack, as far as the embedder makes them now."""
    texts = await texts_to_embed(store, scope, memories, generation)
    if not texts:
        return Vectors()
    made = await embed_in_time(embedder, list(texts.values()), store)
    found = dict(zip(texts, made.vectors, strict=True))
    by_id = {id_: vector for id_, vector in found.items() if vector is not None}
    first = None if made.place is None else [*texts][made.place]
    pending = found.keys() - by_id.keys()
    return Vectors(by_id=by_id, pending=pending, fault=made.fault, first=first)


async def count_unembedded(store: Store, which: Unembedded) -> int:
    """Count the memories without a vector; no kinds: of all kinds."""
    parameters = {"scope": which.scope, "kinds": list(which.kinds)}
    query = load("ingest.count_without_embedding").at(which.generation)
    count: int = (await store.run(query, parameters))[0]["count"]
    return count


async def embed_stored(
    store: Store,
    which: Unembedded,
    *,
    size: int,
    embedder: Embedder,
    facts: ServerFacts | None,
    progress: ProgressCallback,
) -> int:
    """Embed the memories without a vector, ``size`` at a time; return the number of vectors.

    A text whose vector can't be used is passed over; any other error of the embedder is raised.

    Raises
    ------
    DimensionError
        The vectors of another generation have become live.
    """
    total = await count_unembedded(store, which)
    stored = seen = 0
    async for rows in _pages(store, which, size):
        texts = {id_: text for id_, text in rows if isinstance(text, str) and text.strip()}
        made = await embed_what_can_be(embedder, list(texts.values()))
        vector_rows = _rows(texts, made)
        if made.error is not None and not vector_rows and made.place is None:
            raise made.error
        if facts is not None and vector_rows:  # perhaps the first vectors of the database
            facts = await record_embedder(store, facts, embedder)
        stored += await _store_vectors(store, which.scope, vector_rows, which.generation)
        seen += len(rows)
        progress("memories", seen, max(seen, total))
    notes = {"key": pending_key(which.scope), "max_tries": None}
    await store.run(load("ingest.settle").at(which.generation), notes)
    return stored


def _rows(texts: Mapping[str, str], made: Embedded) -> list[dict[str, Any]]:
    """Return the vectors that were made, as rows of ``ingest.embeddings``."""
    return [
        {"id": id_, "text": text, "embedding": vector}
        for (id_, text), vector in zip(texts.items(), made.vectors, strict=True)
        if vector is not None
    ]


async def _store_vectors(
    store: Store, scope: str, rows: list[dict[str, Any]], generation: int
) -> int:
    """Store vectors, if their generation is live; return how many."""
    parameters = {"generation": generation, "rows": rows, "scope": scope}
    done = (await store.run(load("ingest.embeddings").at(generation), parameters))[0]
    if not done["live"]:
        raise replaced_error()
    written: int = done["written"]
    return written


async def _pages(
    store: Store, which: Unembedded, size: int
) -> AsyncIterator[list[tuple[str, Any]]]:
    """Yield (id, text) of the memories without a vector, ``size`` at a time, by id."""
    parameters: dict[str, Any] = {
        "scope": which.scope,
        "kinds": which.kinds,
        "limit": size,
        "after": "",
    }
    query = load("ingest.without_embedding").at(which.generation)
    while rows := (await store.run(query, parameters))[0]["rows"]:
        yield rows
        parameters["after"] = rows[-1][0]


def notes_of(scope: str, ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the notes about memories without a vector, as ``ingest.memories`` writes them."""
    ordered, key = sorted(ids), pending_key(scope) + uuid4().hex
    parts = range(0, len(ordered), NOTE_IDS)
    return [{"key": f"{key}/{at}", "ids": ordered[at : at + NOTE_IDS]} for at in parts]


async def embed_in_time(embedder: Embedder, texts: Sequence[str], store: Store) -> Embedded:
    """Embed texts of a write, in the time of a query and a second for each text."""
    timeout_s = store.usual_timeout_s + _EACH_S * len(texts)
    made = await embed_what_can_be(embedder, texts, timeout_s=timeout_s)
    if made.error is not None and not isinstance(embedder, Postponed):
        # The error may quote a text, which the log must not hold.
        throttled_warning(
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
    rows = _rows(texts, made)
    if rows:
        facts = await record_embedder(store, facts, embedder)
        await _store_vectors(store, found[0]["scope"], rows, facts.generation)
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
                throttled_warning(log, "vectors are made later: %s", type(exc).__name__)
            await asyncio.sleep(_EVERY_S)

    async with Prefetch[None]() as ahead:
        ahead.start(work())
        yield
