"""The way to the database: sessions, deadlines, retry, and the driver's errors in our terms.

In: a query and its parameters. Out: its records, or one of memoria's errors.
The only module that knows the driver's exceptions. A session belongs to one task.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import neo4j
import tenacity
from neo4j import exceptions as driver_errors

from memoria.config import StoreConfig
from memoria.errors import (
    AuthError,
    BudgetError,
    ClosedError,
    ConfigError,
    DeadlineError,
    DimensionError,
    IndexNotReadyError,
    InvalidInputError,
    MemoriaError,
    OverloadedError,
    QueryError,
    UnavailableError,
)
from memoria.queries import Query

log = logging.getLogger(__name__)

Transactions = Literal["auto", "managed"]

# What the driver raises while it packs parameters; nothing has been sent then.
_PACKING_ERRORS = (TypeError, ValueError, OverflowError, RecursionError)


class Store:
    """Sessions of one database through one driver.

    Bound to the event loop of its first session. Sessions share bookmarks, so that a read
    sees the writes made through the same store, on a cluster too.

    Parameters
    ----------
    driver
        An open driver; it stays the caller's, who closes it.
    database
        Name of the database.
    """

    def __init__(
        self, driver: neo4j.AsyncDriver, *, database: str, config: StoreConfig | None = None
    ) -> None:
        self.driver = driver
        self.database = database
        self.config = config or StoreConfig()
        self.sessions_in_use = 0
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._free: asyncio.Semaphore | None = None

    @asynccontextmanager
    async def session(
        self,
        mode: Literal["read", "write"] = "read",
        *,
        until: float | None = None,
        transactions: Transactions = "auto",
    ) -> AsyncIterator[Session]:
        """Open a session for the current task.

        Parameters
        ----------
        until
            Time of the loop's clock at which all work in it must be over; seconds.

        Raises
        ------
        OverloadedError
            No session became free in time. Callers wait in the order they came, here and not
            in the driver, whose waiters have no order.
        ClosedError
            The store belongs to another event loop.
        """
        free = self._semaphore()
        try:
            async with asyncio.timeout_at(until):
                await free.acquire()
        except TimeoutError as exc:
            raise OverloadedError(
                f"no session became free in time, {self.config.max_sessions} are in use: "
                "raise max_sessions (and the driver's pool), or call less at once"
            ) from exc
        self.sessions_in_use += 1
        try:
            async with self._driver_session(mode) as driver_session:
                yield Session(driver_session, self.config, until, transactions)
        finally:
            self.sessions_in_use -= 1
            free.release()

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        """Run one query in a session of its own; see `Session.run`."""
        mode: Literal["read", "write"] = "read" if query.mode == "read" else "write"
        async with self.session(mode, until=until) as session:
            return await session.run(query, parameters)

    def _semaphore(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        if self._free is None:
            self._loop, self._free = loop, asyncio.Semaphore(self.config.max_sessions)
        if self._loop is not loop:
            raise ClosedError(
                "used from another event loop than before: make one retriever per event loop"
            )
        return self._free

    @asynccontextmanager
    async def _driver_session(
        self, mode: Literal["read", "write"]
    ) -> AsyncIterator[neo4j.AsyncSession]:
        try:
            session = self.driver.session(
                database=self.database,
                default_access_mode=neo4j.READ_ACCESS if mode == "read" else neo4j.WRITE_ACCESS,
                bookmark_manager=self._bookmarks,
                notifications_min_severity="OFF",
            )
        except driver_errors.DriverError as exc:
            raise translate(exc) from exc
        try:
            async with session:
                yield session
        except asyncio.CancelledError:
            # A cancellation may hit the session while it closes; it would keep its connection.
            session.cancel()
            await session.close()
            raise


class Session:
    """A driver session that speaks memoria: named queries, deadlines, retry, our errors.

    Used by one task only, and never again after a cancellation.
    """

    def __init__(
        self,
        session: neo4j.AsyncSession,
        config: StoreConfig,
        until: float | None,
        transactions: Transactions,
    ) -> None:
        self._session = session
        self._config = config
        self._until = until
        self._transactions = transactions

    async def run(self, query: Query, parameters: Mapping[str, Any]) -> list[neo4j.Record]:
        """Run ``query`` with ``parameters`` as its map ``$p``, and fetch all records.

        One round trip (``managed``: three). Passing faults are retried, with growing waits,
        while there is time; every query of ours may be repeated without harm.

        Raises
        ------
        MemoriaError
            What went wrong, in our terms.
        """
        config = self._config
        left = self._time_left(query)
        stop = tenacity.stop_after_attempt(config.max_retries + 1)
        async for attempt in tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(UnavailableError),
            stop=tenacity.stop_any(stop, tenacity.stop_before_delay(left)),
            wait=tenacity.wait_exponential(config.retry_base_s)
            + tenacity.wait_random(0, config.retry_base_s),
            before_sleep=_log_retry,
            reraise=True,
        ):
            with attempt:
                return await self._try(query, parameters)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _try(self, query: Query, parameters: Mapping[str, Any]) -> list[neo4j.Record]:
        """One attempt, bounded on both sides: the server may be silent, the client gone."""
        timeout_s = self._time_left(query)
        statement = neo4j.Query(
            query.text, metadata={"app": "memoria", "query": query.name}, timeout=timeout_s
        )
        try:
            async with asyncio.timeout(timeout_s):
                if self._transactions == "managed":
                    return await self._managed(statement, parameters)
                result = await self._session.run(statement, p=dict(parameters))
                return [record async for record in result]
        except TimeoutError as exc:
            raise DeadlineError(
                f"{query.name} took longer than {timeout_s:.3f} s: give more time, or ask for less",
                query=query.name,
            ) from exc
        except (driver_errors.Neo4jError, driver_errors.DriverError, OSError) as exc:
            raise translate(exc, query.name) from exc
        except _PACKING_ERRORS as exc:
            raise InvalidInputError(
                f"{query.name}: a parameter can't be sent ({type(exc).__name__})", query=query.name
            ) from exc

    async def _managed(
        self, statement: neo4j.Query, parameters: Mapping[str, Any]
    ) -> list[neo4j.Record]:
        @neo4j.unit_of_work(metadata=statement.metadata, timeout=statement.timeout)
        async def work(transaction: neo4j.AsyncManagedTransaction) -> list[neo4j.Record]:
            result = await transaction.run(statement.text, p=dict(parameters))
            return [record async for record in result]

        return await self._session.execute_read(work)

    def _time_left(self, query: Query) -> float:
        """Time that one query may take; seconds, > 0."""
        limit = self._config.query_timeout_s
        if self._until is not None:
            limit = min(limit, self._until - asyncio.get_running_loop().time())
        if limit <= 0:
            raise DeadlineError(f"no time left for {query.name}", query=query.name)
        return limit


# By the last part of the server's code; checked before the driver's classes.
_BY_CODE: Mapping[str, tuple[type[MemoriaError], str]] = {
    "MemoryPoolOutOfMemoryError": (OverloadedError, "the server's memory pool is spent"),
    "OutOfMemoryError": (OverloadedError, "the server is out of memory"),
    "StackOverFlowError": (BudgetError, "the query overflowed the server's stack"),
    "MaximumTransactionLimitReached": (OverloadedError, "too many transactions at once"),
    "NoThreadsAvailable": (OverloadedError, "the server has no free thread"),
    "TransactionOutOfMemoryError": (
        BudgetError,
        "the query needs more memory than one transaction may use: lower max_branches or "
        "max_depth, or raise db.memory.transaction.max",
    ),
    "TransactionTimedOut": (DeadlineError, "the server's time limit was up"),
    "TransactionTimedOutClientConfiguration": (DeadlineError, "the time limit was up"),
    "Terminated": (UnavailableError, "the server ended the transaction"),
    "TransactionTerminated": (UnavailableError, "the server ended the transaction"),
    "LockClientStopped": (UnavailableError, "the server ended the transaction"),
    "AuthorizationExpired": (UnavailableError, "the server asks for a new login"),
    "IndexNotFound": (IndexNotReadyError, "an index is missing: run memoria init"),
    "DatabaseNotFound": (ConfigError, "there is no such database: check the database name"),
}

# Codes under which the server speaks of itself or of the query; others may quote parameters.
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

# By the driver's class; the first match counts, so subclasses come first.
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
        "the driver's pool is spent: lower max_sessions below its size",
    ),
    (driver_errors.ConnectionPoolError, UnavailableError, "the driver's pool has no connection"),
    (driver_errors.ConfigurationError, ConfigError, "the driver refuses its configuration"),
    (driver_errors.BrokenRecordError, QueryError, "the driver can't read a value of the result"),
    (driver_errors.DriverError, ClosedError, "the driver can't be used any more"),
    (OSError, UnavailableError, "the connection broke"),
)


def translate(exc: Exception, query: str | None = None) -> MemoriaError:
    """Say a driver's exception in memoria's terms; always an instance, never None."""
    code = exc.code if isinstance(exc, driver_errors.Neo4jError) else ""
    where = f"{query}: " if query else ""
    detail = f" ({code or type(exc).__name__}{_detail(exc, code)})"
    if known := _BY_CODE.get(code.rpartition(".")[2]):
        return _make(known[0], where + known[1] + detail, query)
    if (special := _by_message(str(exc))) is not None:
        return _make(special[0], where + special[1] + detail, query)
    if ".Security." in code and not isinstance(exc, driver_errors.AuthError):
        return _make(AuthError, where + "the server refuses this user" + detail, query)
    for source, target, meaning in _BY_CLASS:
        if isinstance(exc, source):
            return _make(target, where + meaning + detail, query)
    return QueryError(where + "unexpected error" + detail, query=query)


def _by_message(message: str) -> tuple[type[MemoriaError], str] | None:
    """Errors inside index procedures share one code; only their text tells them apart."""
    text = message.lower()
    if "no such" in text and "index" in text:
        return IndexNotReadyError, "an index is missing: run memoria init"
    if "populating" in text and "index" in text:
        return IndexNotReadyError, "an index is still populating: wait, or run memoria init"
    if "dimension" in text and "vector" in text:
        return DimensionError, "the vector has another size than the index: use its embedder"
    return None


def _make(kind: type[MemoriaError], message: str, query: str | None) -> MemoriaError:
    return kind(message, query=query)


def _detail(exc: Exception, code: str) -> str:
    """First line of the message, cut; of the server's only where it can't quote parameters."""
    text = str(exc)
    if isinstance(exc, driver_errors.Neo4jError):
        text = exc.message if not set(_QUOTES_NO_VALUES).isdisjoint(code.split(".")) else ""
    text = text.strip().partition("\n")[0][:200]
    return f": {text}" if text else ""


def _log_retry(state: tenacity.RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    log.info(
        "retry %d of %s after %s",
        state.attempt_number,
        getattr(error, "query", None),
        type(error).__name__,
    )
