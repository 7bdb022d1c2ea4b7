"""Measure how close a message is to small talk, which asks a memory for nothing.

In: an embedder, the vector of a message. Out: a cosine. Reads the examples that come with the
package, and their vectors; see `memoria.recall.examples`.

"Thanks!" or "run the tests again" resembles some memory by chance. Only a memory that is nearer to
the message than such examples are is a sign that the message asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoria.embed import Embedder
from memoria.recall.examples import Examples, unit_vectors

Array = NDArray[np.float64]

_EXAMPLES = Path(__file__).with_suffix(".txt")
#: Vectors of the examples by the default embedder; `scripts/embed_examples.py` writes the file.
VECTORS = Path(__file__).with_suffix(".npy")
# The nearest example does not count. So an example that serves as a message when weights are
# fitted, and finds itself, is judged like any other message.
_FIRST, _LAST = 1, 4


@cache
def examples() -> tuple[str, ...]:
    """Return messages that ask a memory for nothing, in fourteen languages."""
    return tuple(_EXAMPLES.read_text(encoding="utf-8").splitlines())


class Asides:
    """The examples as vectors of one embedder, made at most once."""

    def __init__(self, embedder: Embedder) -> None:
        self.examples = Examples(embedder, examples(), VECTORS, name="small talk")

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
        vectors = await self.examples.vectors(until)
        if vectors is None:
            fault = self.examples.fault
            notes.append(
                f"examples of small talk are not embedded ({fault}): no relevance is known"
            )
            return None
        return likeness(vectors, np.asarray(vector, np.float64))


def likeness(vectors: Array, vector: Array) -> float:
    """Return the mean cosine of a vector and the second to fourth nearest of unit vectors.

    >>> vectors = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0], [-1.0, 0.0]])
    >>> round(likeness(vectors, np.array([2.0, 0.0])), 3)
    0.467
    """
    cosines = np.sort(vectors @ unit_vectors(vector[None])[0])[::-1]
    return float(cosines[_FIRST:_LAST].mean())
