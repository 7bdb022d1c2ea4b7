"""The error tree: everything that memoria raises on purpose.

::

    MemoriaError
    ├── ConfigError            a setting is out of its range
    │   └── MappingError       a mapping can't be read, or does not fit the graph
    ├── InvalidInputError      a value from the caller can't be used
    │   ├── DimensionError     vectors of another size or model than the index holds
    │   └── ScopeError         a scope is missing, or an edge would join two scopes
    │       └── EmptyScopeError  there is nothing to read: the scope holds no memory
    ├── UnavailableError       the database could not serve a query            (retryable)
    ├── OverloadedError        too many calls, or the server is full          (retryable)
    ├── DeadlineError          the time for a call or a query was up
    ├── BudgetError            a query needed more memory than the server allows
    ├── IndexNotReadyError     an index is missing, populating or failed
    ├── AuthError              the server refused the credentials
    ├── QueryError             the server refused a query
    ├── ClosedError            used after closing, or from where it does not work
    └── LocalServerError       the managed local Neo4j can't carry out the request
        └── ChecksumError      a file is not the one that memoria was made with

Messages say what to do. The parameters of a query never appear in a message or a log.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar


class MemoriaError(Exception):
    """Root of the tree: catch it to catch every error that memoria raises on purpose.

    ``retryable`` says whether the same call may be tried again later.

    Attributes
    ----------
    retryable
        Whether the same call may succeed later without a change by the caller.
    query
        Name of the query that failed (such as ``strategies.level``), or None.
    """

    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, query: str | None = None) -> None:
        super().__init__(message)
        self.query = query


class ConfigError(MemoriaError):
    """A setting is out of its range.

    Correct the setting, address or file that the message names; the message says what is allowed.

    Attributes
    ----------
    field
        Name of the setting, or of the field of a mapping, that is wrong; None if the error is not
        about exactly one.
    """

    def __init__(self, message: str, *, field: str | None = None, query: str | None = None) -> None:
        super().__init__(message, query=query)
        self.field = field


class MappingError(ConfigError):
    """A mapping can't be read, does not fit the graph, or does not allow what was asked.

    Correct the line or field that the message names; `memoria adopt --detect` says what the graph
    has. Nothing was written.
    """


class InvalidInputError(MemoriaError):
    """A value from the caller can't be used.

    Correct the argument, field or line that the message names. Nothing was written for it.

    Attributes
    ----------
    field
        Name of the field or argument that is wrong, or None.
    item
        Index of the wrong value in the list that was passed, from 0, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        query: str | None = None,
        item: int | None = None,
    ) -> None:
        super().__init__(message, query=query)
        self.field = field
        self.item = item


class DimensionError(InvalidInputError):
    """Vectors have another size, or come from another model, than the vectors in the index.

    Use the embedder that the database was set up for, which the message names; or use another
    database for the new embedder.
    """


class ScopeError(InvalidInputError):
    """A scope is missing, or an edge would join two scopes.

    Give every retriever and writer a scope, and keep both ends of an edge in the same scope.
    """


class EmptyScopeError(ScopeError):
    """There is nothing to read: the scope holds no memory.

    Remember something in the scope first. If the scope should hold memories, it is another scope
    that holds them: compare its name with those that `memoria stats --all` lists.
    """


class UnavailableError(MemoriaError):
    """The database could not serve a query.

    Check the address, and that the server runs (`memoria status`, `memoria logs`); then call
    again. memoria has already retried the query, `StoreConfig.max_retries` times.
    """

    retryable = True


class OverloadedError(MemoriaError):
    """There are too many calls at once, or the server or the driver's pool is full.

    Call again after ``retry_after_s``, give more time, or send fewer calls at once. If it happens
    often, the database and this process need more processors. memoria does not retry such a call
    by itself, because that would add to the load.

    Attributes
    ----------
    retry_after_s
        When the line will be short enough, at the recent rate; seconds from now. None where the
        server or the driver's pool was full, since nobody can tell how long that lasts.
    """

    retryable = True

    def __init__(
        self, message: str, *, query: str | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, query=query)
        self.retry_after_s = retry_after_s


class DeadlineError(MemoriaError):
    """The time for a call, or for one query, was up.

    Give more time (`deadline_s`, or `query_timeout_s` and `long_query_timeout_s` of `StoreConfig`),
    or ask for less: a smaller `max_depth`, `max_branches` or batch.
    """


class BudgetError(MemoriaError):
    """One query needed more memory than the server allows a transaction.

    Lower `max_branches` or `max_depth`, or raise `db.memory.transaction.max` on the server.
    """


class IndexNotReadyError(MemoriaError):
    """An index is missing, still populating, or failed.

    Run `memoria init` (from Python: `apply_schema`) and let it finish; the message names the
    index and its state.
    """


class AuthError(MemoriaError):
    """The server refused the credentials.

    Check user and password, and the rights of the user. The command `memoria` reads user and
    password from `--user` and `--password-file`, else from the environment.
    """


class QueryError(MemoriaError):
    """The server refused a query.

    This should not happen with memoria's own queries. The message names the query and the server's
    error code. Check that your version of Neo4j is supported; if it is, report the error.
    """


class ClosedError(MemoriaError):
    """An object was used after it was closed, or where it does not work.

    Make one retriever per event loop, without async one per process (open it after a fork), and
    read a stream to its end before its ``result``.
    """


class LocalServerError(MemoriaError):
    """The managed local Neo4j can't carry out the request.

    Do what the message says: it names the missing package, the port in use, the full disk or the
    log to read (`memoria logs`).
    """


class ChecksumError(LocalServerError):
    """A jar of the local Neo4j or of a model is not the file that memoria was made with.

    It was not used. Find out who changed the file, or where it came from; then do what the message
    says: delete it, or get it from another place.

    Attributes
    ----------
    path
        The file; for a download, the place where it would have been kept. None if not known.
    expected, found
        The SHA-256 that the file should have, and that of the file; hexadecimal.
    """

    def __init__(
        self,
        message: str,
        *,
        path: Path | None = None,
        expected: str = "",
        found: str = "",
        query: str | None = None,
    ) -> None:
        super().__init__(message, query=query)
        self.path = path
        self.expected = expected
        self.found = found
