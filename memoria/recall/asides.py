"""Measure how close a message is to small talk, which asks a memory for nothing.

In: an embedder, the vector of a message. Out: a cosine. Reads the examples that come with the
package, and their vectors by the default embedder; any other embedder embeds them once.

"Thanks!" or "run the tests again" resembles some memory by chance. Only a memory that is nearer to
the message than such examples are is a sign that the message asks for it.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoria._support.throttling import throttled_warning
from memoria.embed import DEFAULT_ONNX_MODEL, ONNX_MODELS, Embedder
from memoria.errors import DimensionError, InvalidInputError

Array = NDArray[np.float64]

log = logging.getLogger(__name__)

_EXAMPLES = Path(__file__).with_suffix(".txt")
#: Vectors of the examples by the default embedder; `scripts/embed_asides.py` writes the file.
VECTORS = Path(__file__).with_suffix(".npy")
# The nearest example does not count. So an example that serves as a message when weights are
# fitted, and finds itself, is judged like any other message.
_FIRST, _LAST = 1, 4
_BATCH = 64
# After a failure; seconds.
_PAUSE_S = 60.0


@cache
def examples() -> tuple[str, ...]:
    """Return messages that ask a memory for nothing, in fourteen languages."""
    return tuple(_EXAMPLES.read_text(encoding="utf-8").splitlines())


class Asides:
    """The examples as vectors of one embedder, made at most once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: Array | None = None
        self._task: asyncio.Task[None] | None = None
        self._fault = "it takes long"
        self._again_at = -math.inf  # after a failure; time of the loop's clock

    async def likeness(
        self, vector: Sequence[float], *, until: float, notes: list[str]
    ) -> float | None:
        """Return how close a message is to the examples, -1 to 1; None if they have no vectors.

        Parameters
        ----------
        vector
            Vector of the message, as a query.
        until
            Time of the loop's clock until which to wait for the vectors of the examples; seconds.
            The embedder continues after that.
        notes
            List to which the reason is added if there are no vectors.

        Notes
        -----
        The mean cosine of the second to the fourth nearest example.
        """
        if self._vectors is None:
            await self._wait(until)
        if self._vectors is None:
            notes.append(
                f"examples of small talk are not embedded ({self._fault}): no relevance is known"
            )
            return None
        return likeness(self._vectors, np.asarray(vector, np.float64))

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
        embedder, default = self._embedder, ONNX_MODELS[DEFAULT_ONNX_MODEL]
        try:
            if (embedder.name, embedder.dimensions) == (default.name, default.dimensions):
                self._vectors = await asyncio.to_thread(_shipped)
                return
            found: list[Sequence[float]] = []
            while batch := examples()[len(found) :][:_BATCH]:
                found += await _embedded(embedder, batch)
            self._vectors = _checked(found, embedder.dimensions)
        except Exception as exc:  # noqa: BLE001  # foreign code, such as the client of a service
            self._fault = type(exc).__name__
            self._again_at = asyncio.get_running_loop().time() + _PAUSE_S
            throttled_warning(log, "examples of small talk can't be embedded (%s)", self._fault)


def likeness(vectors: Array, vector: Array) -> float:
    """Return the mean cosine of a vector and the second to fourth nearest of unit vectors.

    >>> vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]])
    >>> round(likeness(vectors, np.array([2.0, 0.0])), 3)
    0.467
    """
    cosines = np.sort(vectors @ unit_vectors(vector[None])[0])[::-1]
    return float(cosines[_FIRST:_LAST].mean())


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


def _checked(found: Sequence[Sequence[float]], dimensions: int) -> Array:
    """Return unit vectors; those of zeros stay."""
    vectors = np.array(found, np.float64)
    if vectors.shape != (len(examples()), dimensions) or not np.isfinite(vectors).all():
        raise DimensionError("the vectors of the examples have a wrong shape, or are not finite")
    return unit_vectors(vectors)


def _shipped() -> Array:
    return unit_vectors(np.load(VECTORS).astype(np.float64))


def unit_vectors(vectors: Array) -> Array:
    """Return the rows, each with length 1; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Array = vectors / np.where(lengths > 0, lengths, 1.0)
    return found
