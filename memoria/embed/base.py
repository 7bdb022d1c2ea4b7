"""What an embedder is, and the checks of an embedder's output.

In: texts. Out: vectors of one size, with finite numbers.
Touches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, cast, runtime_checkable

from memoria._support.checks import (
    BAD_LENGTH,
    MAX_DIMENSIONS,
    check_id,
    check_string,
    check_whole,
    has_length,
)
from memoria._support.wording import kind_of, number_of
from memoria.errors import ConfigError, DimensionError, InvalidInputError

_METHODS = ("embed_documents", "embed_query")


@runtime_checkable
class Embedder(Protocol):
    """Turns text into vectors.

    There is one method for queries and one for documents, because some models treat them
    differently (by a prefix, or by another model). Every vector has ``dimensions`` finite numbers;
    the same text always gives the same vector.
    """

    @property
    def name(self) -> str:
        """Model and variant; recorded with the index, which takes vectors of one name only."""
        ...

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has, >= 1."""
        ...

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return the vectors of texts to be stored, in the same order; none for an empty list."""
        ...

    async def embed_query(self, text: str) -> Sequence[float]:
        """Return the vector of a text to search with."""
        ...


def checked_embedder(embedder: object) -> Embedder:
    """Return ``embedder`` if it is one; nothing of it is called, so no model loads.

    Raises
    ------
    InvalidInputError
        It is something else, such as a function; says what to do.
    """
    if isinstance(embedder, type):
        got, advice = f"the class {embedder.__name__}", "make one of it"
    elif all(callable(getattr(embedder, name, None)) for name in _METHODS):
        return cast(Embedder, embedder)
    else:
        got, advice = kind_of(embedder), f"it needs name, dimensions, {' and '.join(_METHODS)}"
        if callable(embedder):
            advice = "wrap it in CallableEmbedder, with its dimensions and a name"
    raise InvalidInputError(f"embedder must be an embedder, got {got}: {advice}", field="embedder")


def check_texts(texts: Sequence[str]) -> list[str]:
    """Return ``texts`` as a list if each is a string that is not blank.

    Raises
    ------
    InvalidInputError
        ``texts`` is a single string instead of a list; or an entry is not a string, is blank, is
        larger than 1 MB or can't be written as UTF-8. ``field`` names the entry (``texts[3]``).
    """
    if isinstance(texts, str | bytes):
        raise InvalidInputError("texts must be a list of strings, got one string", field="texts")
    return [check_text(text, f"texts[{i}]") for i, text in enumerate(texts)]


def check_text(text: object, field: str = "text") -> str:
    """Return ``text`` if it is a string that holds more than white space."""
    checked = check_string(text, field)
    if not checked.strip():
        raise InvalidInputError(f"{field} is blank: there is nothing to embed", field=field)
    return checked


def check_vectors(vectors: object, *, name: str, count: int, dimensions: int) -> list[list[float]]:
    """Return an embedder's output as lists of floats, if it has the form that was asked for.

    Meant for embedders of others; memoria's own embedders have checked their output already.

    Parameters
    ----------
    vectors
        ``count`` vectors of ``dimensions`` numbers: lists, tuples, or one numpy array.
    name
        The embedder's name, for messages.

    Raises
    ------
    DimensionError
        The number of vectors or the size of a vector is wrong; the message names what was expected
        and what came.
    InvalidInputError
        A vector is not a list of finite numbers, or its length is 0 or one that no index takes.
        ``item`` of this error, and of one about a size, is the place of the text.
    """
    found, error = good_vectors(vectors, name=name, count=count, dimensions=dimensions)
    if error is not None:
        raise error
    return [vector for vector in found if vector is not None]


def good_vectors(
    vectors: object, *, name: str, count: int, dimensions: int
) -> tuple[list[list[float] | None], InvalidInputError | None]:
    """Return an embedder's output with None for each vector that `check_vectors` refuses.

    Returns
    -------
    tuple
        The vectors, and the error about the first bad one; None if all are good.

    Raises
    ------
    InvalidInputError
        The output is not a list of as many vectors as there were texts.
    """
    rows = [_row(vector) for vector in _list_of(vectors, name)]
    if len(rows) != count:
        raise DimensionError(
            f"embedder {name!r} returned {number_of(len(rows), 'vector')} for "
            f"{number_of(count, 'text')}",
            field="embedding",
        )
    faults = [_fault(row, dimensions) for row in rows]
    bad = next((item for item, fault in enumerate(faults) if fault), None)
    error = None
    if bad is not None:
        of = f" for text {bad + 1} of {count}" if count > 1 else ""
        row = rows[bad]
        wrong_size = row is not None and len(row) != dimensions
        kind = DimensionError if wrong_size else InvalidInputError
        text = f"embedder {name!r} returned {faults[bad].format(of)}"
        error = kind(text, field="embedding", item=bad)
    good = [None if fault else row for row, fault in zip(rows, faults, strict=True)]
    return good, error


def _fault(row: list[float] | None, dimensions: int) -> str:
    """Say what is wrong with a vector, with a place for the text it is of; "" if nothing is."""
    if row is None:
        return "something that is not a list of numbers{}"
    if len(row) != dimensions:
        wanted = f"it declares {number_of(dimensions, 'dimension')}"
        return f"a vector of {number_of(len(row), 'number')}{{}}; {wanted}"
    if not all(map(math.isfinite, row)):
        return "a number that is not finite{}"
    if not any(row):
        return "a vector of zeros{}: cosine similarity is not defined for it"
    return "" if has_length(row) else f"a vector{{}} of a {BAD_LENGTH}"


def check_name(name: object, field: str = "name") -> str:
    """Return ``name`` if it can be recorded with an index: a string of 1 to 512 bytes."""
    try:
        return check_id(name, field)
    except InvalidInputError as exc:
        raise ConfigError(str(exc), field=exc.field) from exc


def check_dimensions(dimensions: object) -> int:
    """Return ``dimensions`` if a vector index can have that many (1 to 4096)."""
    return check_whole(dimensions, "dimensions", low=1, high=MAX_DIMENSIONS, error=ConfigError)


def _list_of(vectors: object, name: str) -> Sequence[object]:
    """Return an embedder's output if it is a list or an array."""
    import numpy as np  # not above: numpy takes longer to load than all the rest of this room

    if isinstance(vectors, Sequence | np.ndarray) and not isinstance(vectors, str | bytes):
        return cast(Sequence[object], vectors)
    raise InvalidInputError(
        f"embedder {name!r} must return a list of lists of numbers", field="embedding"
    )


def _row(vector: object) -> list[float] | None:
    """Return a vector as a list of floats; None if it is not a list of numbers."""
    import numpy as np

    try:
        array = np.asarray(vector)
    except ValueError:  # lists of different lengths within it
        return None
    if array.ndim != 1 or array.dtype.kind not in "iuf":  # an empty list counts as floats
        return None
    numbers: list[float] = array.astype(np.float64).tolist()
    return numbers
