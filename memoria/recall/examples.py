"""Vectors of the example texts that come with the package.

In: an embedder, texts. Out: an array of unit vectors. Reads the shipped vectors if the embedder is
the default one; any other embedder embeds the texts once.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoria._support.throttling import throttled_warning
from memoria.embed import DEFAULT_ONNX_MODEL, ONNX_MODELS, Embedder
from memoria.errors import DimensionError, InvalidInputError

Array = NDArray[np.float64]

log = logging.getLogger(__name__)

_BATCH = 64
# After a failure; seconds.
_PAUSE_S = 60.0


class Examples:
    """Example texts as vectors of one embedder, made at most once.

    Parameters
    ----------
    embedder
        Makes the vectors.
    texts
        The examples; N.
    shipped
        File with their vectors by the default embedder; ``scripts/embed_examples.py`` writes it.
    name
        What they are examples of, for the log.
    """

    def __init__(
        self, embedder: Embedder, texts: Sequence[str], shipped: Path, *, name: str
    ) -> None:
        self.embedder = embedder
        self._texts = texts
        self._shipped = shipped
        self._name = name
        self._vectors: Array | None = None
        self._task: asyncio.Task[None] | None = None
        self._again_at = -math.inf  # after a failure; time of the loop's clock
        #: The reason for missing vectors.
        self.fault = "it takes long"

    async def vectors(self, until: float) -> Array | None:
        """Return the unit vectors of the examples, (N, dimensions); None if there are none in time.

        Parameters
        ----------
        until
            Time of the loop's clock until which to wait; seconds. The embedder continues after
            that.
        """
        if self._vectors is None:
            await self._wait(until)
        return self._vectors

    async def _wait(self, until: float) -> None:
        loop, task = asyncio.get_running_loop(), self._task
        if task is not None and task.get_loop() is loop and not task.done():
            pass
        elif loop.time() >= self._again_at:
            # It outlives the recall, which may have less time than the embedder needs.
            task = self._task = loop.create_task(self._embed())
        else:
            return
        await asyncio.wait({task}, timeout=max(0.0, until - loop.time()))

    async def _embed(self) -> None:
        embedder, default = self.embedder, ONNX_MODELS[DEFAULT_ONNX_MODEL]
        try:
            if (embedder.name, embedder.dimensions) == (default.name, default.dimensions):
                self._vectors = await asyncio.to_thread(_read, self._shipped)
                return
            found: list[Sequence[float]] = []
            while batch := self._texts[len(found) :][:_BATCH]:
                found += await _embedded(embedder, batch)
            self._vectors = self._checked(found)
        except Exception as exc:  # noqa: BLE001  # foreign code, such as the client of a service
            self.fault = type(exc).__name__
            self._again_at = asyncio.get_running_loop().time() + _PAUSE_S
            throttled_warning(log, f"examples of {self._name} can't be embedded (%s)", self.fault)

    def _checked(self, found: Sequence[Sequence[float]]) -> Array:
        """Return unit vectors; those of zeros stay."""
        vectors = np.array(found, np.float64)
        shape = (len(self._texts), self.embedder.dimensions)
        if vectors.shape != shape or not np.isfinite(vectors).all():
            raise DimensionError("the vectors of examples have a wrong shape, or are not finite")
        return unit_vectors(vectors)


async def _embedded(embedder: Embedder, texts: Sequence[str]) -> list[Sequence[float]]:
    """Embed texts; one that the embedder has no vector for, such as "?", is near to nothing."""
    try:
        return [*await embedder.embed_documents(texts)]
    except InvalidInputError:
        if len(texts) == 1:
            return [(0.0,) * embedder.dimensions]
    middle = len(texts) // 2
    halves = (texts[:middle], texts[middle:])
    return [vector for half in halves for vector in await _embedded(embedder, half)]


def _read(file: Path) -> Array:
    return unit_vectors(np.load(file).astype(np.float64))


def unit_vectors(vectors: Array) -> Array:
    """Return the rows, each with length 1; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Array = vectors / np.where(lengths > 0, lengths, 1.0)
    return found
