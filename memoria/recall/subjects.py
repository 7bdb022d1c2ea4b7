"""Tell how people state the facts that a question asks for, as a vector to search with.

In: an embedder, the vector of a question. Out: a vector, the probe; and what a search with it
finds. Reads the examples that come with the package, and their vectors; see
`memoria.recall.examples`. Queries: those of the search by vector.

"Where do I live?" shares neither words nor much meaning with "We signed the lease on Friday". The
examples join them: for each subject of a life, such as home, work or health, they have questions
and statements in several languages, and many of the statements only imply a change. The probe
points to where statements of the question's subject differ from statements of all others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoria.errors import MemoriaError
from memoria.recall.examples import Examples, unit_vectors
from memoria.recall.seeds import SeedRequest, joined, search_seeds
from memoria.store import Store
from memoria.types import Seeds

Array = NDArray[np.float64]

_EXAMPLES = Path(__file__).with_suffix(".txt")
#: Vectors of the examples by the default embedder; `scripts/embed_examples.py` writes the file.
VECTORS = Path(__file__).with_suffix(".npy")
# Cosines of a question with those of two subjects that differ by so much make the nearer one e
# times as probable.
_SOFTNESS = 0.05
# Pull towards 0 of the regression that tells the subjects apart. Hardly matters from 1 to 30.
_PENALTY = 3.0
# A question that is nearer to questions about facts than to small talk by the second number or more
# asks for a fact; by the first or less, it may be small talk. Of the examples of small talk, one in
# twenty is nearer by the first, and one in a hundred by the second.
_NO_NEARER, _MUCH_NEARER = 0.05, 0.12
# Share of the question's own vector in the probe: it has what no subject has, such as a name.
_OWN = 0.25


@cache
def subjects() -> tuple[tuple[str, ...], ...]:
    """Return the examples of each subject: questions, which end with "?", and statements."""
    blocks = _EXAMPLES.read_text(encoding="utf-8").strip().split("\n\n")
    return tuple(tuple(block.splitlines()) for block in blocks)


def examples() -> tuple[str, ...]:
    """Return the examples of all subjects, in order."""
    return tuple(text for of_subject in subjects() for text in of_subject)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A vector to search with.

    Attributes
    ----------
    vector
        Near to statements of the question's subject; of length 1.
    share
        How surely the question asks for a fact of a subject, above 0 and up to 1.
    """

    vector: tuple[float, ...]
    share: float


class Subjects:
    """The examples as vectors of one embedder, made at most once.

    Parameters
    ----------
    small_talk
        Texts that state no fact, by the same embedder.
    """

    def __init__(self, small_talk: Examples) -> None:
        self._examples = Examples(small_talk.embedder, examples(), VECTORS, name="facts")
        self._small_talk = small_talk
        self._model: _Model | None = None

    async def probe(
        self, vector: Sequence[float], *, aside: float, until: float, notes: list[str]
    ) -> Probe | None:
        """Return a vector near to statements of what a question asks for; None if of no subject.

        Parameters
        ----------
        vector
            Vector of the question.
        aside
            How close it is to small talk; see `Asides.likeness`.
        until
            Time of the loop's clock until which to wait for the vectors of the examples; seconds.
        notes
            List to which the reason is added if there are no vectors; then the result is None.
        """
        if self._model is None:
            told = await self._examples.vectors(until)
            small_talk = await self._small_talk.vectors(until)
            if told is None or small_talk is None:
                notes.append(
                    f"examples of facts are not embedded ({self._examples.fault}): statements in "
                    "other words may be missing"
                )
                return None
            self._model = await asyncio.to_thread(_model_of, told, small_talk)
        return self._model.probe(np.asarray(vector, np.float64), aside)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """Vectors of the questions, the row of each one's subject, and a direction for each subject."""

    questions: Array
    asked: NDArray[np.int64]
    directions: Array

    def probe(self, vector: Array, aside: float) -> Probe | None:
        question = unit_vectors(vector[None])[0]
        cosines = np.full(len(self.directions), -1.0)
        np.maximum.at(cosines, self.asked, self.questions @ question)
        nearer = (float(cosines.max()) - aside - _NO_NEARER) / (_MUCH_NEARER - _NO_NEARER)
        if nearer <= 0:
            return None
        shares = np.exp((cosines - cosines.max()) / _SOFTNESS)
        direction = unit_vectors((shares @ self.directions)[None])[0]
        probe = unit_vectors((direction + _OWN * question)[None])[0]
        return Probe(vector=tuple(probe.tolist()), share=min(nearer, 1.0))


def _model_of(told: Array, small_talk: Array) -> _Model:
    rows = [row for row, of_subject in enumerate(subjects()) for _ in of_subject]
    of_subject = np.array(rows, np.int64)
    asks = np.array([text.endswith("?") for text in examples()])
    stated = np.concatenate([told[~asks], small_talk])
    labels = np.concatenate([of_subject[~asks], np.full(len(small_talk), -1)])
    return _Model(
        questions=told[asks],
        asked=of_subject[asks],
        directions=directions(stated, labels, len(subjects())),
    )


def directions(vectors: Array, labels: NDArray[np.int64], count: int) -> Array:
    """Return the direction in which the vectors of each label differ from all others.

    Parameters
    ----------
    vectors
        (N, dimensions).
    labels
        Label of each vector, 0 to ``count`` - 1, or another number for none; (N,).

    Returns
    -------
    Array
        (count, dimensions): the weights of a ridge regression on the labels.

    Examples
    --------
    >>> vectors = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    >>> directions(vectors, np.array([0, 1]), 2).round(1).tolist()
    [[0.1, -0.1, 0.0], [-0.1, 0.1, 0.0]]
    """
    wanted = (labels[:, None] == np.arange(count)).astype(np.float64)
    centred = vectors - vectors.mean(axis=0)
    inner = centred.T @ centred + _PENALTY * np.eye(vectors.shape[1])
    found: Array = np.linalg.solve(inner, centred.T @ (wanted - wanted.mean(axis=0))).T
    return found


async def with_subject(
    store: Store, request: SeedRequest, found: Seeds, probe: Sequence[float]
) -> tuple[Seeds, frozenset[str]]:
    """Add the memories nearest to a probe to the result of a search.

    Returns
    -------
    tuple
        The result, and the ids of the memories that only the probe found. If the database does not
        answer, the result stays as it is, and `Seeds.degraded` says so.

    Notes
    -----
    One round trip, as a search by vector.
    """
    try:
        hits = await search_seeds(store, replace(request, text="", vector=probe))
    except MemoriaError as exc:
        note = f"statements in other words could not be searched ({exc})"
        return replace(found, degraded=(*found.degraded, note)), frozenset()
    known = {seed.id for seed in (*found.seeds, *found.runners_up)}
    both = joined(found, hits)
    return both, frozenset(seed.id for seed in both.runners_up if seed.id not in known)
