"""The error tree: everything that memoria raises on purpose.

::

    MemoriaError
    ├── ConfigError            a setting is out of its range
    ├── InvalidInputError      a value from the caller can't be used
    │   ├── DimensionError     vectors of another size or model than the index holds
    │   └── ScopeError         a scope is missing, or an edge would join two scopes
    ├── UnavailableError       the database could not serve a query            (retryable)
    ├── OverloadedError        no room now: a line, pool, memory or threads     (retryable)
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
    """Root of the tree: catch it to catch all that memoria raises on purpose.

    Ask ``retryable`` whether the same call may be tried again later.

    Attributes
    ----------
    retryable
        Whether the same call may succeed later without a change by the caller.
    query
        Name of the query that failed (``strategies.level``), where one did.
    """

    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, query: str | None = None) -> None:
        super().__init__(message)
        self.query = query


class ConfigError(MemoriaError):
    """A setting is out of its range.

    Correct the setting, address or file that the message names; it says what is allowed.
    """


class InvalidInputError(MemoriaError):
    """A value from the caller can't be used.

    Correct the argument, field or line that the message names; it was not written.

    Attributes
    ----------
    field
        Name of the field or argument that is wrong, where it is known.
    """

    def __init__(self, message: str, *, field: str | None = None, query: str | None = None) -> None:
        super().__init__(message, query=query)
        self.field = field


class DimensionError(InvalidInputError):
    """Vectors of another size, or of another model, than the index holds.

    Use the embedder that the database was set up for, which the message names, or another
    database for the new one.
    """


class ScopeError(InvalidInputError):
    """A scope is missing, or an edge would join two scopes.

    Give every retriever and writer a scope, and keep the two ends of an edge in the same one.
    """


class UnavailableError(MemoriaError):
    """The database could not serve a query.

    Check the address, and that the server runs (`memoria status`, `memoria logs`); then call
    again. A query has been retried already, as often as `StoreConfig.max_retries` says.
    """

    retryable = True


class OverloadedError(MemoriaError):
    """There is no room now: the line is too long for the time given, or the server is full.

    Call again after ``retry_after_s``, give more time, or send fewer calls at once. Where it comes
    often, the database and this process need more processors. memoria does not retry by itself, as
    that would add to the load.

    Attributes
    ----------
    retry_after_s
        When the line will be short enough, at the recent rate; seconds from now. None where the
        server or the driver's pool was full, for which nobody can tell.
    """

    retryable = True

    def __init__(
        self, message: str, *, query: str | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, query=query)
        self.retry_after_s = retry_after_s


class DeadlineError(MemoriaError):
    """The time given for a call, or for one query, was up.

    Give more time (`deadline_s`, `StoreConfig.query_timeout_s`), or ask for less: a smaller
    `max_depth`, `max_branches` or batch.
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

    Check user and password, and what the user may do; `memoria` reads them from `--user` and
    `--password-file`, else from the environment.
    """


class QueryError(MemoriaError):
    """The server refused a query.

    Not expected of memoria's own queries: the message names the query and the server's code.
    Compare the server's version with those supported, and report it.
    """


class ClosedError(MemoriaError):
    """Used after it was closed, or from another event loop than it belongs to.

    Make one retriever per event loop, and read a stream to its end before its ``result``.
    """


class LocalServerError(MemoriaError):
    """The managed local Neo4j can't do what was asked.

    Do what the message says: it names the missing package, the taken port, the full disk or the
    log to read (`memoria logs`).
    """
