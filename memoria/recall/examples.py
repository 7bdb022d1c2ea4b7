"""Vectors of the example texts that come with the package.

In: an embedder, texts. Out: an array of unit vectors. Reads the shipped vectors if there are any
and the embedder is the default one; any other embedder embeds the texts once, and the vectors are
kept in a folder of this machine.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoria._support.throttling import throttled_warning
from memoria.embed import DEFAULT_ONNX_MODEL, ONNX_MODELS, Embedder
from memoria.errors import DimensionError, InvalidInputError
from memoria.recall.kept import KeptVectors

Array = NDArray[np.float64]

log = logging.getLogger(__name__)

# So many texts are embedded in one call, and their vectors are one file.
_BATCH = 64
# An embedder that refuses more texts of a batch one by one refuses them all.
_MOST_REFUSED = 8
# After a failure; seconds.
_PAUSE_S = 60.0


class Background:
    """Work that is done by one task at a time, which outlives the calls that wait for it.

    A recall may have less time than the work needs; the next one finds it done.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the work has begun in this event loop and is not done."""
        task, loop = self._task, asyncio.get_running_loop()
        return task is not None and task.get_loop() is loop and not task.done()

    async def wait(self, work: Callable[[], Coroutine[Any, Any, None]], until: float) -> None:
        """Begin the work unless it is running, and wait for it until a time of the loop's clock."""
        loop = asyncio.get_running_loop()
        if self._task is None or not self.is_running:
            self._task = loop.create_task(work())
        await asyncio.wait({self._task}, timeout=max(0.0, until - loop.time()))


class Examples:
    """Example texts as vectors of one embedder, made at most once.

    Parameters
    ----------
    embedder
        Makes the vectors.
    texts
        The examples; N.
    name
        Name of the examples, for the log and for notes.
    kept
        Keeps the vectors for later processes.
    shipped
        File with their vectors by the default embedder; ``scripts/embed_examples.py`` writes it.
    """

    def __init__(
        self,
        embedder: Embedder,
        texts: Sequence[str],
        *,
        name: str,
        kept: KeptVectors,
        shipped: Path | None = None,
    ) -> None:
        self.embedder = embedder
        self.name = name
        self.kept = kept
        self._texts = texts
        self._shipped = shipped
        self._found: list[Array] = []  # of the first batches
        self._vectors: Array | None = None
        self._embedding = Background()
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
        may_begin = asyncio.get_running_loop().time() >= self._again_at
        if self._vectors is None and (self._embedding.is_running or may_begin):
            await self._embedding.wait(self._embed, until)
        return self._vectors

    async def _embed(self) -> None:
        try:
            if self._shipped is not None and is_default(self.embedder):
                self._vectors = await asyncio.to_thread(_read, self._shipped)
                return
            starts = range(0, len(self._texts), _BATCH)
            batches = [self._texts[start : start + _BATCH] for start in starts]
            await self.kept.check(batches)
            for batch in batches[len(self._found) :]:
                self._found.append(await self._vectors_of(batch))
            self._vectors = await asyncio.to_thread(np.concatenate, self._found)
            self._found = []
        except Exception as exc:  # noqa: BLE001  # foreign code, such as the client of a service
            self.fault = type(exc).__name__
            self._again_at = asyncio.get_running_loop().time() + _PAUSE_S
            throttled_warning(log, f"examples of {self.name} can't be embedded (%s)", self.fault)

    async def _vectors_of(self, batch: Sequence[str]) -> Array:
        """Return the kept vectors of a batch, or embed it, and keep them."""
        if self.kept.are_current:
            kept = await asyncio.to_thread(self.kept.read, batch)
            if kept is not None:
                return kept
        made = self._checked(batch, await _embedded(self.embedder, batch))
        await asyncio.to_thread(self.kept.write, batch, made)
        return made

    def _checked(self, batch: Sequence[str], found: Sequence[Sequence[float]]) -> Array:
        """Return unit vectors, rounded as they are kept; those of zeros stay."""
        vectors = np.array(found, np.float64)
        shape = (len(batch), self.embedder.dimensions)
        if vectors.shape != shape or not np.isfinite(vectors).all():
            raise DimensionError("the vectors of examples have a wrong shape, or are not finite")
        return unit_vectors(unit_vectors(vectors).astype(np.float16).astype(np.float64))


def is_default(embedder: Embedder) -> bool:
    """Tell whether an embedder is the default one, whose vectors come with the package."""
    default = ONNX_MODELS[DEFAULT_ONNX_MODEL]
    return (embedder.name, embedder.dimensions) == (default.name, default.dimensions)


async def _embedded(embedder: Embedder, texts: Sequence[str]) -> list[Sequence[float]]:
    """Embed texts; one that the embedder has no vector for, such as "?", is near to nothing."""
    try:
        return [*await embedder.embed_documents(texts)]
    except DimensionError:
        raise
    except InvalidInputError:
        found, refused = list[Sequence[float]](), 0
    for text in texts:
        try:
            found += await embedder.embed_documents([text])
        except InvalidInputError:
            refused += 1
            if refused > _MOST_REFUSED:
                raise
            found.append((0.0,) * embedder.dimensions)
    return found


def _read(file: Path) -> Array:
    return unit_vectors(np.load(file).astype(np.float64))


def unit_vectors(vectors: Array) -> Array:
    """Return the rows, each with length 1; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Array = vectors / np.where(lengths > 0, lengths, 1.0)
    return found
