"""What an embedder is, and the checks that every embedder's output passes.

In: texts. Out: vectors of one size, finite.
Touches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memoria._support.checks import MAX_DIMENSIONS, check_id, check_string, check_whole
from memoria.errors import ConfigError, DimensionError, InvalidInputError


@runtime_checkable
class Embedder(Protocol):
    """Turns text into vectors.

    A query and a document may need different treatment (a prefix, another model), so there is a
    method for each. Every vector has ``dimensions`` finite numbers; the same text always gives
    the same vector.
    """

    @property
    def name(self) -> str:
        """Model and variant; recorded with the index, vectors of two names never mix."""
        ...

    @property
    def dimensions(self) -> int:
        """Numbers in one vector, >= 1."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Vectors of texts to be stored, in the order given; an empty list gives an empty one."""
        ...

    async def embed_query(self, text: str) -> Sequence[float]:
        """Vector of a text to search with."""
        ...


def check_texts(texts: Sequence[str]) -> list[str]:
    """Return ``texts`` as a list if each is a string with something to embed in it.

    Raises
    ------
    InvalidInputError
        A single string instead of a list; an entry that is no string, is blank, is larger than
        1 MB or can't be UTF-8. ``field`` names the entry (``texts[3]``).
    """
    if isinstance(texts, str | bytes):
        raise InvalidInputError("texts must be a list of strings, got one string", field="texts")
    return [check_text(text, f"texts[{i}]") for i, text in enumerate(texts)]


def check_text(text: object, field: str = "text") -> str:
    """Return ``text`` if it is a string with more than white space in it."""
    checked = check_string(text, field)
    if not checked.strip():
        raise InvalidInputError(f"{field} is blank: there is nothing to embed", field=field)
    return checked


def check_vectors(vectors: object, *, name: str, count: int, dimensions: int) -> list[list[float]]:
    """Return an embedder's output as lists of floats if it is what was asked for.

    For output of an embedder that isn't memoria's own; those here have checked theirs.

    Parameters
    ----------
    vectors
        ``count`` vectors of ``dimensions`` numbers: lists, tuples, or one numpy array.
    name
        The embedder's name, for messages.

    Raises
    ------
    DimensionError
        Another number of vectors, or a vector of another size; the message names both.
    InvalidInputError
        Something that is no finite number, or a vector of only zeros.
    """
    rows = _rows(vectors, name)
    if len(rows) != count:
        raise DimensionError(
            f"embedder {name!r} returned {len(rows)} vectors for {count} texts", field="embedding"
        )
    for row in rows:
        if len(row) != dimensions:
            raise DimensionError(
                f"embedder {name!r} returned a vector of {len(row)} numbers; "
                f"it declares {dimensions} dimensions",
                field="embedding",
            )
        if not np.isfinite(row).all():
            raise InvalidInputError(
                f"embedder {name!r} returned a number that is not finite", field="embedding"
            )
        if not row.any():
            raise InvalidInputError(
                f"embedder {name!r} returned a vector of zeros: cosine similarity is not "
                "defined for it",
                field="embedding",
            )
    return [row.tolist() for row in rows]


def check_name(name: object, field: str = "name") -> str:
    """Return ``name`` if it can be recorded with an index: a string of 1 to 512 bytes."""
    try:
        return check_id(name, field)
    except InvalidInputError as exc:
        raise ConfigError(str(exc)) from exc


def check_dimensions(dimensions: object) -> int:
    """Return ``dimensions`` if a vector index can have that many (1 to 4096)."""
    return check_whole(dimensions, "dimensions", low=1, high=MAX_DIMENSIONS, error=ConfigError)


def _rows(vectors: object, name: str) -> list[NDArray[np.float64]]:
    """Each vector as an array of one axis."""
    if isinstance(vectors, Sequence | np.ndarray) and not isinstance(vectors, str | bytes):
        try:
            arrays = [np.asarray(vector) for vector in vectors]
        except ValueError:  # rows of rows, of different lengths
            arrays = []
        if len(arrays) == len(vectors) and all(map(_is_vector, arrays)):
            return [array.astype(np.float64) for array in arrays]
    raise InvalidInputError(
        f"embedder {name!r} must return a list of lists of numbers", field="embedding"
    )


def _is_vector(array: NDArray[Any]) -> bool:
    """One axis, of whole or floating-point numbers (an empty list counts as floating point)."""
    return array.ndim == 1 and array.dtype.kind in "iuf"
