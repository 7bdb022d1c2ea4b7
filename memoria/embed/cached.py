"""Keep the vectors of recent queries, so that a repeated question is embedded only once.

In: an embedder. Out: an embedder that asks the inner one only for queries that are not recent.
Touches what the inner embedder touches; keeps a bounded number of vectors in memory.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from memoria._support.checks import check_whole
from memoria.embed.base import Embedder, check_vectors, checked_embedder
from memoria.errors import ConfigError

MAX_QUERIES = 100_000
MAX_CHARACTERS = 10_000


class CachedEmbedder:
    """An embedder that keeps the vectors of recent queries.

    Useful where a process asks the same question again: in a retry, with another strategy, in
    several scopes, or because its users repeat themselves. Documents are passed on, since
    `GraphWriter` does not embed a document twice anyway. May serve several event loops and threads
    if the inner embedder may.

    Parameters
    ----------
    embedder
        The inner embedder, which makes the vectors. It must always give the same vector for the
        same text.
    max_queries
        Number of queries to keep, 1 to 100,000; the query that was not used for the longest time is
        dropped first. A vector of 384 numbers takes 12 kB.

    Notes
    -----
    Texts of more than 10,000 characters are not kept, and neither are failures. If two callers ask
    the same question at the same time, each asks the inner embedder, so that neither depends on
    the deadline of the other.
    """

    def __init__(self, embedder: Embedder, *, max_queries: int = 256) -> None:
        check_whole(max_queries, "max_queries", low=1, high=MAX_QUERIES, error=ConfigError)
        self.embedder = checked_embedder(embedder)
        self.max_queries = max_queries
        self._vectors: OrderedDict[str, tuple[float, ...]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the inner embedder, as the vectors are the same."""
        return self.embedder.name

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        return self.embedder.dimensions

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed texts to be stored; their vectors are not kept."""
        return await self.embedder.embed_documents(texts)

    async def embed_query(self, text: str) -> list[float]:
        """Embed a text to search with, or return its vector if it is kept.

        Raises
        ------
        DimensionError, InvalidInputError
            The inner embedder returned something that is not a vector of ``dimensions`` numbers.
        Exception
            An error of the inner embedder is passed on unchanged.
        """
        short = isinstance(text, str) and len(text) <= MAX_CHARACTERS
        if short and (known := self._recent(text)) is not None:
            return list(known)
        [vector] = check_vectors(
            [await self.embedder.embed_query(text)],
            name=self.name,
            count=1,
            dimensions=self.dimensions,
        )
        if short:
            self._keep(text, tuple(vector))
        return vector

    def _recent(self, text: str) -> tuple[float, ...] | None:
        with self._lock:
            if text in self._vectors:
                self._vectors.move_to_end(text)
            return self._vectors.get(text)

    def _keep(self, text: str, vector: tuple[float, ...]) -> None:
        with self._lock:
            self._vectors[text] = vector
            self._vectors.move_to_end(text)
            while len(self._vectors) > self.max_queries:
                self._vectors.popitem(last=False)
