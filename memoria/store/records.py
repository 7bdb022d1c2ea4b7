"""The records of one answer.

In: records of the driver. Out: a list that says what is wrong when a record is missing.
"""

from __future__ import annotations

from typing import Any

import neo4j

from memoria.errors import QueryError


class Records(list[neo4j.Record]):
    """The records of an answer, in their order.

    Attributes
    ----------
    of
        Name of the query.
    """

    of = "a query"

    def __getitem__(self, place: Any) -> Any:
        """Return a record.

        Raises
        ------
        QueryError
            The record does not exist. A query whose first record is read always returns one, so the
            server left it out.
        """
        try:
            return super().__getitem__(place)
        except IndexError:
            raise QueryError(
                f"the server left out a record of its answer (query {self.of})", query=self.of
            ) from None
