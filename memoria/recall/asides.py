"""Measure how close a message is to small talk, which asks a memory for nothing.

In: an embedder, the vector of a message. Out: a cosine. Reads the examples that come with the
package, and their vectors by the default embedder; any other embedder embeds them once.

"Thanks!" or "run the tests again" resembles some memory by chance. Only a memory that is nearer to
the message than such examples are is a sign that the message asks for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoria._support.once import Once
from memoria._support.seldom import SELDOM
from memoria.embed import DEFAULT_ONNX_MODEL, ONNX_MODELS, Embedder, check_vectors
from memoria.errors import DeadlineError

Array = NDArray[np.float64]

log = logging.getLogger(__name__)

_EXAMPLES = Path(__file__).with_suffix(".txt")
#: Vectors of the examples by the default embedder; `scripts/embed_asides.py` writes the file.
VECTORS = Path(__file__).with_suffix(".npy")
# The nearest example does not count. So an example that serves as a message when weights are
# fitted, and finds itself, is judged like any other message.
_FIRST, _LAST = 1, 4
_BATCH = 64


@cache
def examples() -> tuple[str, ...]:
    """Return messages that ask a memory for nothing, in fourteen languages."""
    return tuple(_EXAMPLES.read_text(encoding="utf-8").splitlines())


class Asides:
    """The examples as vectors of one embedder, made at most once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._made: list[list[float]] = []
        self._vectors = Once[Array]()

    async def likeness(self, vector: Sequence[float], *, until: float) -> float | None:
        """Return how close a message is to the examples, -1 to 1; None if they can't be embedded.

        Parameters
        ----------
        vector
            Vector of the message, as a query.
        until
            Time of the loop's clock at which the vectors of the examples must be there; seconds.

        Notes
        -----
        The mean cosine of the second to the fourth nearest example.
        """
        try:
            vectors = await self._vectors.get(self._embed, keep=lambda _: True, until=until)
        except Exception as exc:  # noqa: BLE001  # foreign code, such as the client of a service
            if not isinstance(exc, DeadlineError):  # the next recall waits for them again
                SELDOM.warn(log, "examples can't be embedded (%s)", type(exc).__name__)
            return None
        return likeness(vectors, np.asarray(vector, np.float64))

    async def _embed(self) -> Array:
        embedder = self._embedder
        default = ONNX_MODELS[DEFAULT_ONNX_MODEL]
        if (embedder.name, embedder.dimensions) == (default.name, default.dimensions):
            return await asyncio.to_thread(_shipped)
        while batch := examples()[len(self._made) :][:_BATCH]:  # a late call has made some
            found = await embedder.embed_documents(batch)
            self._made += check_vectors(
                found, name=embedder.name, count=len(batch), dimensions=embedder.dimensions
            )
        return _unit(np.array(self._made, np.float64))


def likeness(vectors: Array, vector: Array) -> float:
    """Return the mean cosine of a vector and the second to fourth nearest of unit vectors.

    >>> vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]])
    >>> round(likeness(vectors, np.array([2.0, 0.0])), 3)
    0.467
    """
    cosines = np.sort(vectors @ _unit(vector[None])[0])[::-1]
    return float(cosines[_FIRST:_LAST].mean())


def _shipped() -> Array:
    return _unit(np.load(VECTORS).astype(np.float64))


def _unit(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Array = vectors / np.where(lengths > 0, lengths, 1.0)
    return found
