"""Find the memories that have no vector, and store vectors for them.

In: memories, or a scope and kinds. Out: their texts; the number of vectors stored.
Writes vectors only. Queries: ``ingest.count_without_embedding``, ``ingest.embedded``,
``ingest.embeddings``, ``ingest.without_embedding``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from memoria._support.checks import check_kind
from memoria._support.progress import ProgressCallback
from memoria.store import Rows, Store
from memoria.store.queries import load
from memoria.types import Memory


def check_kinds_given(kinds: Sequence[str]) -> list[str]:
    """Return kinds that need not be declared, since nothing of these kinds is made."""
    return [check_kind(kind) for kind in kinds]


async def texts_to_embed(store: Store, scope: str, memories: Sequence[Memory]) -> dict[str, str]:
    """Return id -> text of the memories without a vector, neither given nor stored for the text."""
    texts = {m.id: m.text for m in memories if m.embedding is None and m.text.strip()}
    if not texts:
        return {}
    rows = Rows({"id": id_, "text": text} for id_, text in texts.items())
    found = await store.run(load("ingest.embedded"), {"rows": rows, "scope": scope})
    for id_ in found[0]["ids"]:
        del texts[id_]
    return texts


async def count_unembedded(store: Store, scope: str, kinds: list[str]) -> int:
    """Count the memories without a vector; no kinds: of all kinds."""
    parameters = {"scope": scope, "kinds": kinds}
    rows = await store.run(load("ingest.count_without_embedding"), parameters)
    count: int = rows[0]["count"]
    return count


async def embed_stored(
    store: Store,
    scope: str,
    kinds: list[str],
    *,
    size: int,
    embed: Callable[[Sequence[str]], Awaitable[Sequence[Sequence[float]]]],
    progress: ProgressCallback,
) -> int:
    """Embed the memories without a vector, ``size`` at a time; return the number of vectors."""
    total = await count_unembedded(store, scope, kinds)
    stored = seen = 0
    async for rows in _pages(store, scope, kinds, size):
        texts = {id_: text for id_, text in rows if isinstance(text, str) and text.strip()}
        vectors = await embed(list(texts.values()))
        vector_rows = Rows(
            {"id": id_, "text": text, "embedding": vector}
            for (id_, text), vector in zip(texts.items(), vectors, strict=True)
        )
        written = await store.run(load("ingest.embeddings"), {"scope": scope, "rows": vector_rows})
        stored += written[0]["written"]
        seen += len(rows)
        progress("memories", seen, max(seen, total))
    return stored


async def _pages(
    store: Store, scope: str, kinds: list[str], size: int
) -> AsyncIterator[list[tuple[str, Any]]]:
    """Yield (id, text) of the memories without a vector, ``size`` at a time, by id."""
    parameters: dict[str, Any] = {"scope": scope, "kinds": kinds, "limit": size, "after": ""}
    while True:
        rows = (await store.run(load("ingest.without_embedding"), parameters))[0]["rows"]
        if not rows:
            return
        yield rows
        parameters["after"] = rows[-1][0]
