"""Passes over all memories of a database, a bounded page at a time: fill, count, delete.

In: a store, numbers of generations. Out: counts. Writes vectors, or deletes them.
Queries: ``ingest.reembed.page``, ``.store``, ``.remove``, ``.count``, ``.transactions``,
``.drop_index``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memoria._support.progress import ProgressCallback
from memoria.embed import Embedder, check_vectors
from memoria.embed.base import check_text
from memoria.errors import InvalidInputError
from memoria.store import Store
from memoria.store.queries import load, vector_property

#: Memories in one transaction that deletes vectors.
_REMOVED_AT_ONCE = 1_000
_POLL_S = 0.1
# The server ends a transaction of memoria's when `StoreConfig.long_query_timeout_s` is over, and
# looks for such transactions every few seconds.
_SLACK_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What a pass that fills a generation found.

    Attributes
    ----------
    wanted
        Memories that lacked a vector and have a text that can be embedded.
    stored
        Vectors stored; fewer if a text changed meanwhile.
    left
        Memories without such a text, which keep no vector.
    is_current
        Whether the generation was still wanted until the end; if not, the pass ended there.
    """

    wanted: int
    stored: int
    left: int
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    """Makes the vectors of one generation for the memories that have one of another.

    Attributes
    ----------
    old, new
        Numbers of the two generations.
    batch_size
        Memories that are read, embedded and written at once.
    progress
        Called as ``progress("memories", seen, total)`` after each batch.
    """

    store: Store
    embedder: Embedder
    old: int
    new: int
    batch_size: int
    progress: ProgressCallback

    async def run(self) -> Filled:
        """Pass over all memories once."""
        total = (await self.store.run(load("ingest.reembed.count"), {}))[0]["count"]
        page: dict[str, Any] = {
            "scope": "",
            "after": "",
            "limit": self.batch_size,
            "old": vector_property(self.old),
        }
        query = load("ingest.reembed.page").at(self.new)
        wanted = stored = left = seen = 0
        while True:
            found = (await self.store.run(query, page))[0]
            texts = [row for row in found["rows"] if _can_be_embedded(row[2])]
            done = await self._store_vectors(texts) if texts else 0
            left += len(found["rows"]) - len(texts)
            if done is None:
                return Filled(wanted=wanted, stored=stored, left=left, is_current=False)
            wanted, stored, seen = wanted + len(texts), stored + done, seen + found["seen"]
            self.progress("memories", seen, max(seen, total))
            if found["seen"] < self.batch_size:
                return Filled(wanted=wanted, stored=stored, left=left, is_current=True)
            page["scope"], page["after"] = found["last"]

    async def _store_vectors(self, texts: Sequence[Sequence[str]]) -> int | None:
        """Embed and write; None if the generation is no longer wanted."""
        try:
            vectors = check_vectors(
                await self.embedder.embed_documents([text for _, _, text in texts]),
                name=self.embedder.name,
                count=len(texts),
                dimensions=self.embedder.dimensions,
            )
        except InvalidInputError as exc:
            if exc.item is None:
                raise
            scope, id_, _ = texts[exc.item]
            where = f"memory {id_!r} of scope {scope!r}"
            raise type(exc)(f"{where}: {exc}", field=exc.field, item=exc.item) from exc
        rows = [
            {"scope": scope, "id": id_, "text": text, "embedding": vector}
            for (scope, id_, text), vector in zip(texts, vectors, strict=True)
        ]
        parameters = {"generation": self.new, "rows": rows}
        done = (await self.store.run(load("ingest.reembed.store").at(self.new), parameters))[0]
        written: int = done["written"]
        return written if done["wanted"] else None


async def remove(store: Store, gone: int, live: int, progress: ProgressCallback) -> int:
    """Delete the index and the vectors of a generation that nobody may write to any more.

    Returns
    -------
    int
        How many memories had a vector of it and have none of the live generation.
    """
    await store.run(load("ingest.reembed.drop_index").at(gone), {})
    total = (await store.run(load("ingest.reembed.count"), {}))[0]["count"]
    page: dict[str, Any] = {
        "scope": "",
        "after": "",
        "limit": _REMOVED_AT_ONCE,
        "live": vector_property(live),
    }
    query = load("ingest.reembed.remove").at(gone)
    bare: int = 0
    seen: int = 0
    while True:
        found = (await store.run(query, page))[0]
        bare, seen = bare + found["bare"], seen + found["seen"]
        progress("old vectors", seen, max(seen, total))
        if found["seen"] < _REMOVED_AT_ONCE:
            return bare
        page["scope"], page["after"] = found["last"]


async def await_transactions(store: Store) -> None:
    """Wait until every transaction that runs now is over.

    A write that began before a move of the record may still commit what it found right then. It is
    waited for as long as a query of memoria may take; the transactions of other programs may take
    longer, and don't write vectors.
    """
    query = load("ingest.reembed.transactions")
    before = set((await store.run(query, {}))[0]["ids"])
    until = asyncio.get_running_loop().time() + store.config.query_timeout_s + _SLACK_S
    while asyncio.get_running_loop().time() < until:
        now = set((await store.run(query, {}))[0]["ids"])
        if before.isdisjoint(now):
            return
        await asyncio.sleep(_POLL_S)


def _can_be_embedded(text: object) -> bool:
    try:
        check_text(text)
    except InvalidInputError:
        return False
    return True
