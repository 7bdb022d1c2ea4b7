"""Run queries in one session of the driver: by name, with deadlines, retries and our errors.

In: a query and its parameters. Out: the records of the result, or one of memoria's errors.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import neo4j
import tenacity
from neo4j import exceptions as driver_errors

from memoria._support import telemetry
from memoria._support.wording import MORE_TIME
from memoria.errors import (
    DeadlineError,
    InvalidInputError,
    MemoriaError,
    QueryError,
    UnavailableError,
)
from memoria.store.config import StoreConfig
from memoria.store.doubt import Attempts
from memoria.store.faults import is_unsettled, translate
from memoria.store.queries import Query
from memoria.store.records import Records
from memoria.store.sending import can_be_sent
from memoria.store.waiting import within
from memoria.store.watchdog import WATCHDOG

log = logging.getLogger(__name__)

T = TypeVar("T")

#: A query and its parameters.
Call = tuple[Query, Mapping[str, Any]]

#: Returns the query that is to run instead of one of memoria's, in a graph that is mapped.
Translate = Callable[[Query], Query]

# Sends a statement within a session, and reads its result.
_Send = Callable[[neo4j.Query], Coroutine[Any, Any, T]]

# Makes one attempt; a repeated one until the time of the loop's clock at which the query must end.
_Attempt = Callable[[float | None], Awaitable[T]]

_MAX_WAIT_S = 1.0  # between two retries


def unchanged(query: Query) -> Query:
    """Return a query as it is: that of memoria's own graph."""
    return query


class _RefusedError(Exception):
    """The caller's own check refused what a transaction had read; not an error of the driver."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(reason)
        self.reason = reason


class Session:
    """A session of the driver that runs named queries, with deadlines, retries and our errors.

    Only one task may use a session, and nobody may use it after a cancellation.
    """

    def __init__(
        self,
        session: neo4j.AsyncSession,
        config: StoreConfig,
        until: float | None,
        *,
        database: str,
        translate: Translate = unchanged,
    ) -> None:
        self._session = session
        self._translate = translate
        self._database = database
        self._config = config
        self._until = until
        self._sent: object = None  # what the query at work sends

    async def run(self, query: Query, parameters: Mapping[str, Any]) -> Records:
        """Run ``query`` with ``parameters`` as its map ``$p``, and fetch all records.

        One round trip; three with ``StoreConfig.transactions="managed"``. A query that fails for a
        temporary reason is repeated, with growing waits, while there is time; all of memoria's
        queries may be repeated without harm.

        Raises
        ------
        MemoriaError
            The query failed; the class of the error says why.
        """
        self._sent = parameters
        query = self._translate(query)
        attempts = Attempts([query])

        async def attempt(until: float | None) -> Records:
            send = partial(self._records, query, parameters, attempts)
            return await self._try(query, send, until)

        return await self._repeat(query, attempt)

    async def run_together(
        self, calls: Sequence[Call], *, check: Callable[[Sequence[Records]], None]
    ) -> list[Records]:
        """Run several queries in one transaction: all of them take effect, or none does.

        Four round trips, and one for each query. The whole transaction is repeated as one query
        is in `run`.

        Parameters
        ----------
        calls
            At least one; all together have the time of one query.
        check
            Called with the records of all queries before they take effect; what it raises undoes
            them.

        Raises
        ------
        MemoriaError
            A query failed; the class of the error says why.
        """
        calls = [(self._translate(query), parameters) for query, parameters in calls]
        first = calls[0][0]
        self._sent = [parameters for _, parameters in calls]
        attempts = Attempts(query for query, _ in calls)

        async def attempt(until: float | None) -> list[Records]:
            send = partial(self._transaction, calls, check, attempts)
            return await self._try(first, send, until)

        return await self._repeat(first, attempt)

    async def explain(
        self, query: Query, parameters: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Ask for the plan by which the server would run a query; the query is not run.

        Parameters
        ----------
        parameters
            Parameters of the query. They may be left out, since plans hardly ever depend on them.

        Returns
        -------
        Mapping
            The plan as the driver gives it: ``operatorType``, ``args``, ``children``.

        Raises
        ------
        MemoriaError
            The server can't plan the query.
        """
        query = self._translate(query)
        text = " ".join(("EXPLAIN", query.text))
        explained = replace(query, text=text)
        self._sent = parameters or {}
        return await self._try(explained, partial(self._plan, explained, self._sent))

    async def _repeat(self, query: Query, attempt: _Attempt[T]) -> T:
        """Make an attempt, and repeat it while it fails for a temporary reason and there is time.

        Most queries succeed at once, and need not pay for the retry library.
        """
        until = asyncio.get_running_loop().time() + self._time_left(query)
        try:
            return await attempt(None)
        except UnavailableError as exc:
            failed = exc
        return await self._retry(attempt, failed, until)

    async def _retry(self, attempt: _Attempt[T], failed: UnavailableError, until: float) -> T:
        """Retry after a failed first attempt, until the time of the query is over.

        If a retry runs out of time, the error is the one that led to it: more time would not help.
        While a cluster elects a leader, or a member of it lags behind, only the time limits the
        retries: both take seconds.
        """
        config = self._config
        enough = tenacity.stop_after_attempt(config.max_retries + 1)
        out_of_time = tenacity.stop_before_delay(until - asyncio.get_running_loop().time())

        def stop(state: tenacity.RetryCallState) -> bool:
            error = state.outcome.exception() if state.outcome else None
            patient = config.max_retries > 0 and is_unsettled(error)
            return (enough(state) and not patient) or out_of_time(state)

        async for retrying in tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(UnavailableError),
            stop=stop,
            wait=tenacity.wait_exponential(config.retry_base_s, max=_MAX_WAIT_S)
            + tenacity.wait_random(0, config.retry_base_s),
            before_sleep=_log_retry,
            reraise=True,
        ):
            with retrying:
                if retrying.retry_state.attempt_number == 1:
                    raise failed  # the attempt of the caller counts as the first
                try:
                    return await attempt(until)
                except DeadlineError as exc:
                    raise failed from exc
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _try(self, query: Query, send: _Send[T], until: float | None = None) -> T:
        """Make one attempt, and record it."""
        with telemetry.query_span(query.name, self._database):
            return await self._attempt(query, send, until)

    async def _attempt(self, query: Query, send: _Send[T], until: float | None) -> T:
        """Make one attempt, with a time limit on both sides.

        The client needs a limit because the server may not answer, and the server needs a limit
        because the client may be gone. Whatever fails but a query that the server refused leaves
        the connection in a state that nobody knows: it is dropped, so that the driver reads nothing
        further from it.
        """
        timeout_s = self._time_left(query, until)
        recall = {} if (id_ := telemetry.recall_id()) is None else {"recall": id_}
        metadata = {"app": "memoria", "query": query.name, **recall}
        statement = neo4j.Query(query.text, metadata=metadata, timeout=timeout_s)
        try:
            with WATCHDOG.watch(self._session, timeout_s):
                return await within(timeout_s, send(statement), drop=self._session.cancel)
        except asyncio.CancelledError:
            self._session.cancel()
            raise
        except TimeoutError as exc:
            self._session.cancel()
            raise DeadlineError(
                f"a query took longer than {timeout_s:.3f} s ({query.name}): "
                f"{self._remedy(timeout_s)}",
                query=query.name,
            ) from exc
        except _RefusedError as exc:
            raise exc.reason from None
        except MemoriaError:
            raise
        except driver_errors.Neo4jError as exc:
            raise translate(exc, query.name) from exc
        except (driver_errors.DriverError, OSError) as exc:
            self._session.cancel()
            raise translate(exc, query.name) from exc
        except Exception as exc:
            self._session.cancel()
            if not can_be_sent(self._sent):
                raise InvalidInputError(
                    f"a parameter can't be sent (query {query.name}, {type(exc).__name__})",
                    query=query.name,
                ) from exc
            raise _unreadable(query, type(exc).__name__) from exc

    async def _plan(
        self, query: Query, parameters: Mapping[str, Any], statement: neo4j.Query
    ) -> Mapping[str, Any]:
        result = await self._session.run(statement, p=dict(parameters))
        plan: Mapping[str, Any] | None = (await result.consume()).plan
        if plan is None:
            raise QueryError(f"the server returned no plan (query {query.name})", query=query.name)
        return plan

    async def _records(
        self,
        query: Query,
        parameters: Mapping[str, Any],
        attempts: Attempts,
        statement: neo4j.Query,
    ) -> Records:
        if self._config.transactions == "managed":
            return await self._managed(query, parameters, attempts, statement)
        attempts.begin()
        with attempts.sending():
            result = await self._session.run(statement, p=dict(parameters))
            return await self._read(query, result)

    async def _transaction(
        self,
        calls: Sequence[Call],
        check: Callable[[Sequence[Records]], None],
        attempts: Attempts,
        statement: neo4j.Query,
    ) -> list[Records]:
        attempts.begin()
        results: list[Records] = []
        transaction = await self._session.begin_transaction(
            metadata=statement.metadata, timeout=statement.timeout
        )
        async with transaction:
            for query, parameters in calls:
                with self._dropped_if_unreadable():
                    result = await transaction.run(query.text, p=dict(parameters))
                    results.append(await self._read(query, result))
            try:
                check(results)
            except Exception as exc:
                raise _RefusedError(exc) from exc
            with attempts.sending():
                await transaction.commit()
        return results

    async def _managed(
        self,
        query: Query,
        parameters: Mapping[str, Any],
        attempts: Attempts,
        statement: neo4j.Query,
    ) -> Records:
        @neo4j.unit_of_work(metadata=statement.metadata, timeout=statement.timeout)
        async def work(transaction: neo4j.AsyncManagedTransaction) -> Records:
            attempts.begin()
            with self._dropped_if_unreadable():
                result = await transaction.run(statement.text, p=dict(parameters))
                records = await self._read(query, result)
            attempts.commits()
            return records

        if query.mode == "read":
            return await self._session.execute_read(work)
        return await self._session.execute_write(work)

    @contextmanager
    def _dropped_if_unreadable(self) -> Iterator[None]:
        """Drop the connection at once where a transaction would read what is left before it ends.

        After an answer that it can't read, the driver looks for the rest of it without end.
        """
        try:
            yield
        except driver_errors.Neo4jError:
            raise
        except Exception:
            self._session.cancel()
            raise

    async def _read(self, query: Query, result: neo4j.AsyncResult) -> Records:
        """Return the records of an answer if its columns and their types are those of the query.

        An answer without records has columns, too: those of another query are what an earlier
        answer, cut short by a wrong message, has left on the connection. This is looked at before
        the answer ends, because the driver then gives the connection back to its pool.
        """
        self._check_columns(query, result.keys() or ())
        records = Records()
        records.of = query.name
        async for record in result:
            self._check_columns(query, record.keys())
            self._check(query, query.unlike(record))
            records.append(record)
        return records

    def _check_columns(self, query: Query, names: Iterable[str]) -> None:
        right = query.has_columns(names)
        self._check(query, "" if right else "other columns than those of the query")

    def _check(self, query: Query, wrong: str) -> None:
        if wrong:
            self._session.cancel()
            raise _unreadable(query, wrong)

    def _remedy(self, timeout_s: float) -> str:
        """Return what to do about a query that took this long, by what limited it."""
        if timeout_s < self._config.query_timeout_s:
            return MORE_TIME
        return "raise query_timeout_s (StoreConfig), or ask for less"

    def _time_left(self, query: Query, until: float | None = None) -> float:
        """Return the time that one query may take; seconds, > 0."""
        now = asyncio.get_running_loop().time()
        ends = [end - now for end in (self._until, until) if end is not None]
        limit = min([self._config.query_timeout_s, *ends])
        if limit <= 0:
            raise DeadlineError(f"no time left for {query.name}: {MORE_TIME}", query=query.name)
        return limit


def _unreadable(query: Query, why: str) -> UnavailableError:
    return UnavailableError(
        f"the answer of the server can't be read (query {query.name}, {why}); its connection was "
        "dropped",
        query=query.name,
    )


def _log_retry(state: tenacity.RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    log.info(
        "retry %d of %s after %s",
        state.attempt_number,
        getattr(error, "query", None),
        type(error).__name__,
    )
