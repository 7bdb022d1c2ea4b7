"""Lists of rows as parameters of a query.

In: rows. Out: a list that the driver sends like any other list.
"""

from __future__ import annotations

from typing import TypeVar

from memoria._support.wording import number_of

T = TypeVar("T")


class Rows(list[T]):
    """A list that is cheap to print: the driver prints all parameters of each query."""

    def __repr__(self) -> str:
        """Return only the length, so that no memory ends up in a log."""
        return f"<{number_of(len(self), 'row')}>"
