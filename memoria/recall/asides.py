"""Measure how close a message is to small talk, and to requests that lean on memory.

In: an embedder, the vector of a message. Out: two cosines. Reads the examples that come with the
package, and their vectors; see `memoria.recall.examples`.

"Thanks!" or "run the tests again" resembles some memory by chance. Only a memory that is nearer to
the message than such examples are is a sign that the message asks for it. "Order my usual pizza."
is a command, too, but can't be carried out without memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoria.embed import Embedder
from memoria.recall.examples import Background, Examples, KeptVectors, unit_vectors
from memoria.recall.ranking import Likeness

Array = NDArray[np.float64]

_EXAMPLES = Path(__file__).with_suffix(".txt")
_LEANING = _EXAMPLES.with_stem("leaning")
#: Vectors of the examples by the default embedder; `scripts/embed_examples.py` writes the files.
VECTORS, LEANING_VECTORS = _EXAMPLES.with_suffix(".npy"), _LEANING.with_suffix(".npy")
# The nearest example does not count. So an example that serves as a message when weights are
# fitted, and finds itself, is judged like any other message.
_FIRST, _LAST = 1, 4
# Of an embedder that gives all texts the same vector.
_LEAST_SPREAD = 0.01


@cache
def examples() -> tuple[str, ...]:
    """Return messages that ask a memory for nothing, in fourteen languages."""
    return tuple(_EXAMPLES.read_text(encoding="utf-8").splitlines())


@cache
def leaning() -> tuple[str, ...]:
    """Return short messages that need a memory, many of them commands, in fourteen languages."""
    return tuple(_LEANING.read_text(encoding="utf-8").splitlines())


class Asides:
    """The examples as vectors of one embedder, made at most once.

    Parameters
    ----------
    kept_in
        Folder that keeps the vectors for later processes; see `KeptVectors`.

    Attributes
    ----------
    examples
        Those of small talk.
    """

    def __init__(self, embedder: Embedder, kept_in: Path | None = None) -> None:
        kept = KeptVectors(embedder, kept_in)
        self.examples = Examples(
            embedder, examples(), name="small talk", kept=kept, shipped=VECTORS
        )
        self._leaning = Examples(
            embedder, leaning(), name="requests", kept=kept, shipped=LEANING_VECTORS
        )
        self._making = Background()

    async def likeness(
        self, vector: Sequence[float], *, until: float, notes: list[str]
    ) -> Likeness | None:
        """Return how close a message is to the examples; None if these have no vectors.

        Parameters
        ----------
        vector
            Vector of the message, as a query.
        until
            Time of the loop's clock until which to wait for the vectors of the examples; seconds.
            The embedder continues after that, and later messages do not wait for it.
        notes
            List to which the reason is added if there are no vectors.

        Notes
        -----
        For each kind, the mean cosine of the second to the fourth nearest example.
        """
        await self.make(until)
        asides, requests = self.examples.made, self._leaning.made
        if asides is None or requests is None:
            late = self.examples if asides is None else self._leaning
            notes.append(
                f"examples of {late.name} are not embedded ({late.fault}): no relevance is known"
            )
            return None
        [message] = unit_vectors(np.asarray([vector], np.float64))
        cosines = asides @ message
        return Likeness(
            aside=likeness(cosines),
            leaning=likeness(requests @ message),
            spread=spread(asides),
            unrelated=unrelated(cosines),
        )

    @property
    def were_late(self) -> bool:
        """Whether a message has waited in vain for the examples: the embedder is slow."""
        return self._making.was_late

    async def make(self, until: float = math.inf) -> bool:
        """Embed the examples, unless they are embedded; return whether they are.

        By default it waits however long it takes; otherwise see `Background.wait`.
        """
        if self._leaning.made is None:
            await self._making.wait(self._make, until)
        return self._leaning.made is not None

    async def _make(self) -> None:
        """Embed one kind after the other, so that an embedder that fails is called once."""
        if await self.examples.vectors() is not None:
            await self._leaning.vectors()


def spread(vectors: Array) -> float:
    """Return 1 minus the mean cosine of two different ones of unit vectors; at least 0.01.

    >>> round(spread(np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])), 3)
    0.533
    """
    count, total = len(vectors), vectors.sum(axis=0)
    return max(1.0 - float(total @ total - count) / (count * (count - 1)), _LEAST_SPREAD)


def unrelated(cosines: Array) -> float:
    """Return the mean of the higher third of cosines: examples in other languages are farther away.

    >>> unrelated(np.array([0.5, 0.1, 0.3, 0.4, 0.2, 0.3]))
    0.45
    """
    return float(np.sort(cosines)[-max(len(cosines) // 3, 1) :].mean())


def likeness(cosines: Array) -> float:
    """Return the mean of the second to fourth highest cosine.

    >>> round(likeness(np.array([1.0, 0.8, 0.6, 0.0, -1.0])), 3)
    0.467
    """
    return float(np.sort(cosines)[::-1][_FIRST:_LAST].mean())
