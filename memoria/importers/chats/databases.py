"""Read the tables of a SQLite database that another program has left.

In: a path and a query. Out: rows. Reads the file; nothing in it is run or changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from memoria._support.foreign_files import is_own
from memoria.errors import InvalidInputError

_MAGIC = b"SQLite format 3\0"
#: Instructions of the engine between two rows, in thousands: a view could run for ever.
_MAX_STEPS = 100_000


def is_sqlite(path: Path) -> bool:
    """Tell whether a path is a SQLite database."""
    if not is_own(path):
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def sqlite_rows(path: Path, query: str, columns: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a query that selects these columns.

    Raises
    ------
    InvalidInputError
        The database can't be read, or has no such table.
    """
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += 1
        return steps > _MAX_STEPS

    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA query_only = ON")
            database.set_progress_handler(count, 1_000)
            for row in database.execute(query):
                steps = 0
                yield dict(zip(columns, row, strict=True))
    except sqlite3.Error as exc:
        raise InvalidInputError(f"{path}: can't be read: {exc}") from exc
