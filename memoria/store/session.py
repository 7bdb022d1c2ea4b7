"""Run queries in one session of the driver: by name, with deadlines, retries and our errors.

In: a query and its parameters. Out: the records of the result, or one of memoria's errors.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import neo4j
import tenacity
from neo4j import exceptions as driver_errors

from memoria.errors import DeadlineError, InvalidInputError, QueryError, UnavailableError
from memoria.store.config import StoreConfig
from memoria.store.faults import translate
from memoria.store.queries import Query

log = logging.getLogger(__name__)

T = TypeVar("T")

# Sends a statement within a session, and reads its result.
_Send = Callable[[Query, neo4j.Query, Mapping[str, Any]], Coroutine[Any, Any, T]]

# The driver raises these while it packs parameters; nothing has been sent by then.
_PACKING_ERRORS = (TypeError, ValueError, OverflowError, RecursionError)


class Session:
    """A session of the driver that runs named queries, with deadlines, retries and our errors.

    Only one task may use a session, and nobody may use it after a cancellation.
    """

    def __init__(
        self,
        session: neo4j.AsyncSession,
        config: StoreConfig,
        until: float | None,
    ) -> None:
        self._session = session
        self._config = config
        self._until = until

    async def run(self, query: Query, parameters: Mapping[str, Any]) -> list[neo4j.Record]:
        """Run ``query`` with ``parameters`` as its map ``$p``, and fetch all records.

        One round trip; three with ``StoreConfig.transactions="managed"``. A query that fails for a
        temporary reason is repeated, with growing waits, while there is time; all of memoria's
        queries may be repeated without harm.

        Raises
        ------
        MemoriaError
            The query failed; the class of the error says why.
        """
        until = asyncio.get_running_loop().time() + self._time_left(query)
        try:
            return await self._try(query, parameters, self._records)
        except UnavailableError as exc:
            failed = exc
        left_s = until - asyncio.get_running_loop().time()
        return await self._retry(query, parameters, failed, left_s)

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
        text = " ".join(("EXPLAIN", query.text))
        explained = replace(query, text=text)
        return await self._try(explained, parameters or {}, self._plan)

    async def _retry(
        self, query: Query, parameters: Mapping[str, Any], failed: UnavailableError, left_s: float
    ) -> list[neo4j.Record]:
        """Retry after a failed first attempt.

        The first attempt is made by the caller: most queries succeed at once, and need not pay
        for the retry library.
        """
        config = self._config
        stop = tenacity.stop_after_attempt(config.max_retries + 1)
        async for attempt in tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(UnavailableError),
            stop=tenacity.stop_any(stop, tenacity.stop_before_delay(left_s)),
            wait=tenacity.wait_exponential(config.retry_base_s)
            + tenacity.wait_random(0, config.retry_base_s),
            before_sleep=_log_retry,
            reraise=True,
        ):
            with attempt:
                if attempt.retry_state.attempt_number == 1:
                    raise failed  # the attempt of the caller counts as the first
                return await self._try(query, parameters, self._records)
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _try(self, query: Query, parameters: Mapping[str, Any], send: _Send[T]) -> T:
        """Make one attempt, with a time limit on both sides.

        The client needs a limit because the server may not answer, and the server needs a limit
        because the client may be gone.
        """
        timeout_s = self._time_left(query)
        statement = neo4j.Query(
            query.text, metadata={"app": "memoria", "query": query.name}, timeout=timeout_s
        )
        try:
            return await _within(timeout_s, send(query, statement, parameters))
        except asyncio.CancelledError:
            self._session.cancel()
            raise
        except TimeoutError as exc:
            self._session.cancel()
            raise DeadlineError(
                f"{query.name} took longer than {timeout_s:.3f} s: {self._remedy(timeout_s)}",
                query=query.name,
            ) from exc
        except (driver_errors.Neo4jError, driver_errors.DriverError, OSError) as exc:
            raise translate(exc, query.name) from exc
        except _PACKING_ERRORS as exc:
            raise InvalidInputError(
                f"{query.name}: a parameter can't be sent ({type(exc).__name__})", query=query.name
            ) from exc

    async def _plan(
        self, query: Query, statement: neo4j.Query, parameters: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        result = await self._session.run(statement, p=dict(parameters))
        plan: Mapping[str, Any] | None = (await result.consume()).plan
        if plan is None:
            raise QueryError(f"{query.name}: the server returned no plan", query=query.name)
        return plan

    async def _records(
        self, query: Query, statement: neo4j.Query, parameters: Mapping[str, Any]
    ) -> list[neo4j.Record]:
        if self._config.transactions == "managed":
            return await self._managed(query, statement, parameters)
        result = await self._session.run(statement, p=dict(parameters))
        return [record async for record in result]

    async def _managed(
        self, query: Query, statement: neo4j.Query, parameters: Mapping[str, Any]
    ) -> list[neo4j.Record]:
        @neo4j.unit_of_work(metadata=statement.metadata, timeout=statement.timeout)
        async def work(transaction: neo4j.AsyncManagedTransaction) -> list[neo4j.Record]:
            result = await transaction.run(statement.text, p=dict(parameters))
            return [record async for record in result]

        if query.mode == "read":
            return await self._session.execute_read(work)
        return await self._session.execute_write(work)

    def _remedy(self, timeout_s: float) -> str:
        """Return what to do about a query that took this long, by what limited it."""
        if timeout_s < self._config.query_timeout_s:
            return "give more time, or ask for less"
        return "raise query_timeout_s (StoreConfig), or ask for less"

    def _time_left(self, query: Query) -> float:
        """Return the time that one query may take; seconds, > 0."""
        limit = self._config.query_timeout_s
        if self._until is not None:
            limit = min(limit, self._until - asyncio.get_running_loop().time())
        if limit <= 0:
            raise DeadlineError(
                f"no time left for {query.name}: give more time, or ask for less", query=query.name
            )
        return limit


async def _within(timeout_s: float, work: Coroutine[Any, Any, T]) -> T:
    """Await ``work`` in a separate task, for at most ``timeout_s``.

    ``asyncio.timeout`` does not work here. When the driver's task is cancelled, the driver may
    cancel that task again, which ``asyncio.timeout`` takes for a cancellation by the caller; or it
    may raise an error of its own. The separate task keeps both inside. After a timeout the
    connection can't be used any more: cancel the session.

    Raises
    ------
    TimeoutError
        The work took longer, or the driver cancelled it.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait([task], timeout=timeout_s)
        if task.done() and not task.cancelled():
            return task.result()
        raise TimeoutError
    finally:
        while not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=1.0)
        if not task.cancelled():
            task.exception()  # marks it as seen: an error after a cancellation says nothing


def _log_retry(state: tenacity.RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    log.info(
        "retry %d of %s after %s",
        state.attempt_number,
        getattr(error, "query", None),
        type(error).__name__,
    )
