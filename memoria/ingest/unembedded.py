"""Find the memories that have no vector, and store vectors for them.

In: memories, or a scope and kinds. Out: their texts; the number of vectors stored.
Writes vectors only. Queries: ``ingest.count_without_embedding``, ``ingest.embedded``,
``ingest.embeddings``, ``ingest.without_embedding``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memoria._support.checks import check_kind
from memoria._support.progress import ProgressCallback
from memoria.errors import DimensionError, InvalidInputError
from memoria.graph.connectors import is_connector
from memoria.graph.server_facts import replaced_error
from memoria.ingest.checks import LeftOut
from memoria.ingest.jsonl import at_place
from memoria.store import Rows, Store
from memoria.store.queries import load
from memoria.types import Memory


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


async def embed_each(
    memories: Sequence[Memory],
    texts: Mapping[str, str],
    embed: Callable[[Sequence[str]], Awaitable[Sequence[list[float]]]],
    left_out: LeftOut,
) -> tuple[list[Memory], dict[str, list[float]]]:
    """Embed each text alone; return the memories to write, and text -> vector.

    Parameters
    ----------
    texts
        What `texts_to_embed` returned for these memories. Of equal ids it names the last one; an
        earlier one counts if the last one is left out, so it is embedded, too.
    """
    good: list[Memory] = []
    vectors: dict[str, list[float]] = {}
    for memory in memories:
        is_wanted = memory.id in texts and memory.embedding is None and memory.text.strip()
        if is_wanted and memory.text not in vectors:
            try:
                (vectors[memory.text],) = await embed([memory.text])
            except InvalidInputError as exc:
                if not is_of_one_text(exc):
                    raise
                left_out.add(at_place(exc, f"memory {memory.id!r}"))
                continue
        good.append(memory)
    return good, vectors


def is_of_one_text(error: InvalidInputError) -> bool:
    """Tell whether one vector is bad; a wrong size or number is a fault of the embedder."""
    return error.field == "embedding" and not isinstance(error, DimensionError)


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
    embed: Callable[[Sequence[str]], Awaitable[Sequence[Sequence[float]]]],
    progress: ProgressCallback,
) -> int:
    """Embed the memories without a vector, ``size`` at a time; return the number of vectors.

    Raises
    ------
    DimensionError
        The vectors of another generation have become live.
    """
    total = await count_unembedded(store, which)
    stored = seen = 0
    async for rows in _pages(store, which, size):
        texts = {id_: text for id_, text in rows if isinstance(text, str) and text.strip()}
        vectors = await embed(list(texts.values()))
        vector_rows = Rows(
            {"id": id_, "text": text, "embedding": vector}
            for (id_, text), vector in zip(texts.items(), vectors, strict=True)
        )
        parameters = {"generation": which.generation, "rows": vector_rows, "scope": which.scope}
        query = load("ingest.embeddings").at(which.generation)
        written = (await store.run(query, parameters))[0]
        if not written["live"]:
            raise replaced_error()
        stored += written["written"]
        seen += len(rows)
        progress("memories", seen, max(seen, total))
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
