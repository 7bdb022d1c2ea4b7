"""Keep the vectors of recent queries: the same question twice is embedded once.

In: an embedder. Out: one that embeds a query it has seen lately without asking that one.
Touches what the embedder touches, and memory: a bounded number of vectors.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from memoria._support.checks import check_whole
from memoria.embed.base import Embedder, check_vectors
from memoria.errors import ConfigError

MAX_QUERIES = 100_000
MAX_CHARACTERS = 10_000


class CachedEmbedder:
    """An embedder that keeps the vectors of recent queries.

    Of use where a process asks the same again: by a retry, by another strategy, in several scopes,
    or because its users do. Documents are passed on; `GraphWriter` embeds none twice anyway. May
    serve several event loops and threads if the embedder within does.

    Parameters
    ----------
    embedder
        Makes the vectors. The same text must always give the same vector.
    max_queries
        Queries kept; the one not used for longest goes first; 1 to 100,000. A vector of 384
        numbers takes 12 kB.

    Notes
    -----
    Texts of more than 10,000 characters are not kept, nor are failures. Where two callers ask the
    same at the same time, both are answered by the embedder: neither depends on the other's
    deadline.
    """

    def __init__(self, embedder: Embedder, *, max_queries: int = 256) -> None:
        check_whole(max_queries, "max_queries", low=1, high=MAX_QUERIES, error=ConfigError)
        self.embedder = embedder
        self.max_queries = max_queries
        self._vectors: OrderedDict[str, tuple[float, ...]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the embedder within: its vectors are the same."""
        return self.embedder.name

    @property
    def dimensions(self) -> int:
        """Numbers in one vector."""
        return self.embedder.dimensions

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed texts to be stored; nothing of it is kept."""
        return await self.embedder.embed_documents(texts)

    async def embed_query(self, text: str) -> list[float]:
        """Embed a text to search with, unless its vector is at hand.

        Raises
        ------
        DimensionError, InvalidInputError
            The embedder made something that is no such vector.
        Exception
            What the embedder raises passes unchanged.
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
