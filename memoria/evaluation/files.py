"""Find the files of a dataset, and read their lines.

In: a folder, a name, a split. Out: paths, `Entry`s (a line's fields and its place), arrays.
Reads files; gzip is recognised by its first bytes. A mistake in a file is an ``InvalidInputError``
that names file, line and field.
"""

from __future__ import annotations

import tokenize
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memoria._support.checks import MAX_DIMENSIONS, check_string
from memoria._support.wording import kind_of, number_of
from memoria.errors import InvalidInputError
from memoria.ingest.jsonl import parse_object, raw_lines
from memoria.types.history import aware_time

LINES = (".jsonl.gz", ".jsonl")
ARRAY = (".f16.npy", ".npy")
#: Errors that numpy raises for a broken file, as it parses the header of an array as Python.
_NOT_AN_ARRAY = (
    *(EOFError, MemoryError, OSError, OverflowError, RecursionError, SyntaxError, TypeError),
    *(ValueError, tokenize.TokenError),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a file.

    Attributes
    ----------
    place
        File and line, as messages name them.
    """

    place: str
    fields: dict[str, Any]

    def fault(self, message: str, field: str | None = None) -> InvalidInputError:
        """Return the error about this line."""
        return InvalidInputError(f"{self.place}: {message}", field=field)

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Turn an error that does not name the place into one about this line."""
        try:
            yield
        except InvalidInputError as exc:
            if str(exc).startswith(self.place):
                raise
            raise self.fault(str(exc), exc.field) from exc

    def string(self, name: str) -> str:
        """Return a field that must be a string, and must not be blank."""
        if (value := self.optional_string(name)) is None:
            raise self.fault(f"{name} is missing or blank", name)
        return value

    def optional_string(self, name: str) -> str | None:
        """Return a field that is a string; None if it is missing, null or blank."""
        value = self.fields.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self.fault(f"{name} must be a string, got {kind_of(value)}", name)
        with self.placing():
            check_string(value, name)
        return value if value.strip() else None

    @property
    def conversation(self) -> str | None:
        """The name of the conversation of a node or a question."""
        return self.optional_name("conversation")

    def name(self, name: str) -> str:
        """Return a field that must be a name, and must not be blank."""
        if (value := self.optional_name(name)) is None:
            raise self.fault(f"{name} is missing or blank", name)
        return value

    def optional_name(self, name: str) -> str | None:
        """Return a field that is a name; a number is converted to text."""
        value = self.fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.optional_string(name)

    def time(self, name: str) -> datetime | None:
        """Return a field that is a time; a time without a zone counts as UTC."""
        if (value := self.optional_string(name)) is None:
            return None
        try:
            return aware_time(datetime.fromisoformat(value), name)
        except ValueError as exc:
            raise self.fault(f"{name} must be in ISO 8601, got {value[:80]!r}", name) from exc

    def strings(self, name: str) -> list[str]:
        """Return a field that is a list of strings; empty if it is missing or null."""
        values = self.fields.get(name)
        if values is None:
            return []
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise self.fault(f"{name} must be a list of strings", name)
        return values


def find_file(
    folder: Path, name: str, split: str | None, endings: Iterable[str] = LINES
) -> Path | None:
    """Return the file of this name, if possible that of the split; None if there is none."""
    stems = (f"{name}.{split}", name) if split is not None else (name,)
    for stem in stems:
        for ending in endings:
            path = folder / f"{stem}{ending}"
            if path.is_file():
                return path
    return None


def splits(folder: Path) -> list[str]:
    """Return the splits for which the folder has questions; sorted."""
    names = {
        path.name.removeprefix("questions.").removesuffix(".gz").removesuffix(".jsonl")
        for ending in LINES
        for path in folder.glob(f"questions.?*{ending}")
    }
    return sorted(names)


def read_entries(path: Path) -> Iterator[Entry]:
    """Yield the objects of a JSON Lines file; blank lines are skipped.

    Raises
    ------
    InvalidInputError
        The file can't be read, or a line is not a JSON object.
    """
    for _, number, raw in raw_lines(path):
        if raw.strip():
            yield _entry(f"{path}, line {number}", raw)


def _entry(place: str, raw: bytes) -> Entry:
    try:
        return Entry(place, parse_object(raw))
    except InvalidInputError as exc:
        raise InvalidInputError(f"{place}: {exc}") from exc


def read_vectors(path: Path, *, count: int, what: str) -> NDArray[np.float64]:
    """Read an array with a vector for each of ``count`` memories or questions.

    Raises
    ------
    InvalidInputError
        The file is not such an array, or a row has a value that is not finite, or only zeros.
    """
    try:
        # Only map the file, so that a broken header can't make numpy allocate a huge array.
        array = np.lib.format.open_memmap(path, mode="r")
    except _NOT_AN_ARRAY as exc:
        raise InvalidInputError(f"{path}: can't be read as an array: {exc}") from exc
    if array.ndim != 2 or array.dtype.kind != "f":
        raise InvalidInputError(f"{path}: must contain one array of two axes, of floats")
    if array.shape[1] > MAX_DIMENSIONS:
        raise InvalidInputError(f"{path}: vectors may have up to {MAX_DIMENSIONS} numbers")
    if len(array) != count:
        raise InvalidInputError(f"{path}: has {number_of(len(array), 'row')} for {count} {what}")
    vectors = array.astype(np.float64)
    bad = ~np.isfinite(vectors).all(axis=1) | ~vectors.any(axis=1)
    if bad.any():
        row = int(bad.argmax())
        raise InvalidInputError(f"{path}: row {row} has only zeros, or a value that is not finite")
    return vectors
