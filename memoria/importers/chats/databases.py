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

from memoria._support.foreign_files import MAX_DOCUMENT_BYTES, is_own
from memoria.errors import InvalidInputError

_MAGIC = b"SQLite format 3\0"
#: Instructions of the engine between two rows, in thousands.
_MAX_STEPS = 100_000
#: The table of all tables.
TABLES = "sqlite_master"
# Columns that are computed, when they are read or written; see ``table_xinfo`` of SQLite.
_COMPUTED = (2, 3)
_COLUMNS = "SELECT hidden FROM pragma_table_xinfo(?)"
_ROOT = f"SELECT rootpage FROM {TABLES} WHERE type = 'table' AND name = ?"  # noqa: S608


def is_sqlite(path: Path) -> bool:
    """Tell whether a path is a SQLite database."""
    if not is_own(path):
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def sqlite_rows(
    path: Path, table: str, columns: tuple[str, ...], order: str
) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table, whose values are stored in the file and not computed.

    Parameters
    ----------
    table, columns, order
        Names of the table and of its columns, and the expressions to sort by: all fixed in code.

    Raises
    ------
    InvalidInputError
        The database can't be read, has no such table, or a value is too long.
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
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_DOCUMENT_BYTES)
            database.set_progress_handler(count, 1_000)
            found = database.execute(_ROOT, (table,)).fetchone()
            if table != TABLES and not (found and found[0]):  # a view could compute without an end
                raise InvalidInputError(f"{path}: can't be read: it has no table {table}")
            if any(hidden in _COMPUTED for (hidden,) in database.execute(_COLUMNS, (table,))):
                raise InvalidInputError(f"{path}: can't be read: {table} has computed columns")
            query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY {order}"  # noqa: S608
            for row in database.execute(query):
                steps = 0
                yield dict(zip(columns, row, strict=True))
    except sqlite3.Error as exc:
        raise InvalidInputError(f"{path}: can't be read: {exc}") from exc
