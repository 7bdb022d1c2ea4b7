"""The error tree: everything that memoria raises on purpose.

::

    MemoriaError
    ├── ConfigError            a setting is out of its range
    ├── InvalidInputError      a value from the caller can't be used
    │   ├── DimensionError     vectors of another size or model than the index holds
    │   └── ScopeError         a scope is missing, or an edge would join two scopes
    ├── UnavailableError       the database could not serve a query            (retryable)
    ├── OverloadedError        no room now: pool, memory pool or threads spent (retryable)
    ├── DeadlineError          the time given was up
    ├── BudgetError            one query needed more memory than the server allows it
    ├── IndexNotReadyError     an index is missing, populating or failed
    ├── AuthError              the server refused the credentials
    ├── QueryError             the server refused a query
    ├── ClosedError            used after closing, or from another event loop
    └── LocalServerError       the managed local Neo4j can't do as asked

Messages say what to do. Parameters of a query never enter a message or a log.
"""

from __future__ import annotations

from typing import ClassVar


class MemoriaError(Exception):
    """Root of the tree.

    Attributes
    ----------
    retryable
        Whether the same call may succeed later without a change by the caller.
    query
        Name of the query that failed (``explore.level``), where one did.
    """

    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, query: str | None = None) -> None:
        super().__init__(message)
        self.query = query


class ConfigError(MemoriaError):
    """A setting is out of its range."""


class InvalidInputError(MemoriaError):
    """A value from the caller can't be used.

    Attributes
    ----------
    field
        Name of the field or argument that is wrong, where it is known.
    """

    def __init__(self, message: str, *, field: str | None = None, query: str | None = None) -> None:
        super().__init__(message, query=query)
        self.field = field


class DimensionError(InvalidInputError):
    """Vectors of another size, or of another model, than the index holds."""


class ScopeError(InvalidInputError):
    """A scope is missing, or an edge would join two scopes."""


class UnavailableError(MemoriaError):
    """The database could not serve a query."""

    retryable = True


class OverloadedError(MemoriaError):
    """The server or the connection pool has no room for the query now."""

    retryable = True


class DeadlineError(MemoriaError):
    """The time given for a call, or for one query, was up."""


class BudgetError(MemoriaError):
    """One query needed more memory than the server allows a transaction."""


class IndexNotReadyError(MemoriaError):
    """An index is missing, still populating, or failed."""


class AuthError(MemoriaError):
    """The server refused the credentials."""


class QueryError(MemoriaError):
    """The server refused a query."""


class ClosedError(MemoriaError):
    """Used after it was closed, or from another event loop than it belongs to."""


class LocalServerError(MemoriaError):
    """The managed local Neo4j can't do what was asked."""
