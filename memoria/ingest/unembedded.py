"""Find the memories that have no vector, and store vectors for them.

In: memories, or a scope and kinds. Out: their vectors; the number of vectors stored.
Writes vectors only. Queries: ``ingest.count_without_embedding``, ``ingest.embedded``,
``ingest.embeddings``, ``ingest.settle``, ``ingest.without_embedding``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from memoria._support.checks import check_kind
from memoria._support.progress import ProgressCallback
from memoria._support.wording import number_of
from memoria.embed import Embedder, embed_what_can_be
from memoria.graph.connectors import is_connector
from memoria.graph.schema import record_embedder
from memoria.graph.server import replaced_error
from memoria.graph.vocabulary import pending_key
from memoria.ingest.pending import embed_in_time
from memoria.store import Rows, ServerFacts, Store
from memoria.store.queries import load
from memoria.types import Memory, WriteReport


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
    """

    by_id: Mapping[str, Sequence[float]] = field(default_factory=dict)
    pending: Set[str] = frozenset()
    fault: str | None = None

    @property
    def report(self) -> WriteReport:
        """The same as counts."""
        count = len(self.pending)
        why = f"{number_of(count, 'vector is', 'vectors are')} pending: {self.fault}"
        return WriteReport(
            embedded=len(self.by_id),
            pending_vectors=count,
            problems=(why,) if count else (),
        )


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
    rows = Rows({"id": id_, "text": text} for id_, text in texts.items())
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
    return Vectors(by_id=by_id, pending=found.keys() - by_id.keys(), fault=made.fault)


async def count_unembedded(store: Store, which: Unembedded) -> int:
    """Count the memories without a vector; no kinds: of all kinds."""
    parameters = {"scope": which.scope, "kinds": list(which.kinds)}
    query = load("ingest.count_without_embedding").at(which.generation)
    rows = await store.run(query, parameters)
    count: int = rows[0]["count"]
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

    A text for which the embedder makes no vector is passed over, unless it makes none at all.

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
        vector_rows = Rows(
            {"id": id_, "text": text, "embedding": vector}
            for (id_, text), vector in zip(texts.items(), made.vectors, strict=True)
            if vector is not None
        )
        if made.error is not None and not vector_rows:
            raise made.error
        if facts is not None and vector_rows:  # perhaps the first vectors of the database
            facts = await record_embedder(store, facts, embedder)
        parameters = {"generation": which.generation, "rows": vector_rows, "scope": which.scope}
        query = load("ingest.embeddings").at(which.generation)
        written = (await store.run(query, parameters))[0]
        if not written["live"]:
            raise replaced_error()
        stored += written["written"]
        seen += len(rows)
        progress("memories", seen, max(seen, total))
    notes = {"key": pending_key(which.scope), "max_tries": None}
    await store.run(load("ingest.settle").at(which.generation), notes)
    return stored


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
    while True:
        rows = (await store.run(query, parameters))[0]["rows"]
        if not rows:
            return
        yield rows
        parameters["after"] = rows[-1][0]
