"""Translate the exceptions of the driver into memoria's errors.

In: an exception of the driver. Out: one of ``memoria.errors``. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from neo4j import exceptions as driver_errors

from memoria.errors import (
    AuthError,
    BudgetError,
    ClosedError,
    ConfigError,
    DeadlineError,
    DimensionError,
    IndexNotReadyError,
    MemoriaError,
    OverloadedError,
    QueryError,
    UnavailableError,
)

_NO_INDEX = "an index is missing: run memoria init (from Python: apply_schema)"

# Keyed by the last part of the server's error code. Codes say more than the driver's classes, so
# they are looked up first.
_BY_CODE: Mapping[str, tuple[type[MemoriaError], str]] = {
    "MemoryPoolOutOfMemoryError": (OverloadedError, "the server's memory pool is used up"),
    "OutOfMemoryError": (OverloadedError, "the server is out of memory"),
    "StackOverFlowError": (BudgetError, "the query overflowed the server's stack"),
    "MaximumTransactionLimitReached": (OverloadedError, "too many transactions at once"),
    "NoThreadsAvailable": (OverloadedError, "the server has no free thread"),
    "TransactionOutOfMemoryError": (
        BudgetError,
        "the query needs more memory than one transaction may use: lower max_branches or "
        "max_depth, or raise db.memory.transaction.max on the server",
    ),
    "TransactionTimedOut": (DeadlineError, "the server's time limit was up"),
    "TransactionTimedOutClientConfiguration": (DeadlineError, "the time limit was up"),
    "Terminated": (UnavailableError, "the server ended the transaction"),
    "TransactionTerminated": (UnavailableError, "the server ended the transaction"),
    "LockClientStopped": (UnavailableError, "the server ended the transaction"),
    "AuthenticationRateLimit": (
        AuthError,
        "credentials refused too often: wait some seconds, then check user and password",
    ),
    "AuthorizationExpired": (UnavailableError, "the server asks for a new login"),
    # Not a fault of the query: an earlier answer of the connection was wrong, so that the driver
    # takes the answers to one request for those to the next. It drops the connection.
    "Invalid": (UnavailableError, "client and server are out of step on this connection"),
    "ForbiddenOnReadOnlyDatabase": (
        UnavailableError,
        "the server is read-only: make it writable, or use the address of the cluster's leader",
    ),
    "WriteOnReadOnlyAccessDatabase": (
        ConfigError,
        "the database is read-only: let the server write to it (server.databases.read_only and "
        "server.databases.default_to_read_only), or only recall from it",
    ),
    # Found, and deleted by another transaction before it could be locked.
    "EntityNotFound": (UnavailableError, "a memory was deleted while the query ran"),
    "IndexNotFound": (IndexNotReadyError, _NO_INDEX),
    "DatabaseNotFound": (ConfigError, "the database does not exist: check the database name"),
}

# Error codes whose messages never contain parameter values, so they may be shown.
_QUOTES_NO_VALUES = (
    "Cluster",
    "Database",
    "Security",
    "Transaction",
    "AccessMode",
    "DatabaseUnavailable",
    "MemoryPoolOutOfMemoryError",
    "OutOfMemoryError",
    "SyntaxError",
    "TransactionOutOfMemoryError",
)

# By the class of the driver's exception. The first match counts, so subclasses come first.
_BY_CLASS: tuple[tuple[type[Exception], type[MemoriaError], str], ...] = (
    (driver_errors.AuthError, AuthError, "credentials refused: check user and password"),
    (driver_errors.AuthConfigurationError, AuthError, "credentials can't be used"),
    (driver_errors.Forbidden, AuthError, "the user may not do this"),
    (driver_errors.TransientError, UnavailableError, "the server can't serve this now"),
    (driver_errors.Neo4jError, QueryError, "the server refused the query"),
    (driver_errors.ServiceUnavailable, UnavailableError, "the server can't be reached"),
    (driver_errors.SessionExpired, UnavailableError, "the connection was lost"),
    (
        driver_errors.ConnectionAcquisitionTimeoutError,
        OverloadedError,
        "the driver's pool is used up: set max_sessions to the size of the pool or below",
    ),
    (driver_errors.ConnectionPoolError, UnavailableError, "the driver's pool has no connection"),
    (driver_errors.ConfigurationError, ConfigError, "the driver refuses its configuration"),
    (driver_errors.BrokenRecordError, QueryError, "the driver can't read a value of the result"),
    (driver_errors.DriverError, ClosedError, "the driver can't be used any more"),
    (OSError, UnavailableError, "the connection broke"),
)


# A cluster answers with these until its members have agreed on a leader, or one has caught up.
_UNSETTLED = (
    driver_errors.NotALeader,
    driver_errors.ForbiddenOnReadOnlyDatabase,
    driver_errors.WriteServiceUnavailable,
)
_LATE = "Neo.TransientError.Transaction.BookmarkTimeout"


def is_unsettled(error: BaseException | None) -> bool:
    """Tell whether a query failed since nobody leads a cluster, or a member lags behind."""
    while error is not None:
        late = isinstance(error, driver_errors.Neo4jError) and error.code == _LATE
        if late or isinstance(error, _UNSETTLED):
            return True
        error = error.__cause__
    return False


def translate(exc: Exception, query: str | None = None) -> MemoriaError:
    """Return one of memoria's errors for an exception of the driver."""
    code = exc.code if isinstance(exc, driver_errors.Neo4jError) else ""
    where = f"query {query}, " if query else ""
    detail = f" ({where}{code or type(exc).__name__}{_detail(exc, code)})"
    title = code.rpartition(".")[2]
    if title == "MemoryPoolOutOfMemoryError" and "db.memory.transaction.max " in str(exc):
        title = "TransactionOutOfMemoryError"  # both limits have this code; only the text differs
    if known := _BY_CODE.get(title):
        return known[0](known[1] + detail, query=query)
    if (special := _by_message(str(exc))) is not None:
        return special[0](special[1] + detail, query=query)
    if ".Security." in code and not isinstance(exc, driver_errors.AuthError):
        return AuthError("the server refuses this user" + detail, query=query)
    for source, target, meaning in _BY_CLASS:
        if isinstance(exc, source):
            return target(meaning + detail, query=query)
    return QueryError("unexpected error" + detail, query=query)


def _by_message(message: str) -> tuple[type[MemoriaError], str] | None:
    """Recognise errors whose code is not specific: missing credentials, index procedures."""
    text = message.lower()
    if "unsupported authentication token" in text and "scheme" in text:
        return (
            AuthError,
            "no user and password given: set NEO4J_PASSWORD, or give user and password",
        )
    if text.startswith("couldn't connect to"):
        return (
            UnavailableError,
            "the server can't be reached: check that it runs (`memoria up` starts the local one), "
            "and its address (--uri or NEO4J_URI)",
        )
    if "no such" in text and "index" in text:
        return IndexNotReadyError, _NO_INDEX
    if "populating" in text and "index" in text:
        return IndexNotReadyError, "an index is still populating: wait, or run memoria init"
    if "dimension" in text and "vector" in text:
        return (
            DimensionError,
            "the vector has another size than the index: use the embedder of the index",
        )
    return None


def _detail(exc: Exception, code: str) -> str:
    """Return the first line of a message, cut; nothing if it may contain parameter values."""
    text = str(exc)
    if isinstance(exc, driver_errors.Neo4jError):
        text = exc.message if not set(_QUOTES_NO_VALUES).isdisjoint(code.split(".")) else ""
    text = text.strip().partition("\n")[0][:200].rstrip(" :")
    return f": {text}" if text else ""
