"""Run queries in one session of the driver: by name, with deadlines, retries and our errors.

In: a query and its parameters, or work for a transaction. Out: the records of the result, or what
the work returns; else one of memoria's errors.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, Self, TypeVar

import neo4j
import tenacity
from neo4j import exceptions as driver_errors

from memoria._support import telemetry
from memoria.errors import DeadlineError, OverloadedError, UnavailableError
from memoria.store.config import StoreConfig
from memoria.store.exchange import Exchange, Records, Work, end
from memoria.store.facts import ServerFacts
from memoria.store.faults import is_unsettled, translate
from memoria.store.limiter import Limiter
from memoria.store.queries import Query
from memoria.store.watchdog import WATCHDOG, Watched

log = logging.getLogger(__name__)

T = TypeVar("T")

# Makes one attempt.
_Send = Callable[[Exchange], Coroutine[Any, Any, T]]

#: A query and its parameters.
Call = tuple[Query, Mapping[str, Any]]

_MAX_WAIT_S = 1.0  # between two retries
# Time to close a session, after which its connection is dropped; seconds.
_CLOSE_S = 0.25
# If the loop is blocked for longer while a session closes, memoria blames the driver; until then,
# it may be other code, such as an embedder that works in the loop. Seconds.
_STUCK_S = 5.0


class Translation(Protocol):
    """What makes memoria's queries queries of another graph; see `memoria.graph.mapping`."""

    @property
    def has_vectors(self) -> bool:
        """Whether there is a vector index to search; known once `facts` has returned."""
        ...

    @property
    def asked_as(self) -> Sequence[tuple[Sequence[str], str]]:
        """The stems of words with which a question asks for edges, and the tag of these edges."""
        ...

    async def facts(self, until: float | None = None) -> ServerFacts:
        """Check the database before the first query, and say what the server is."""
        ...

    def query(self, query: Query) -> Query:
        """Return the query that is to run instead."""
        ...

    def lucene(self, phrases: Sequence[str], *, has_vector: bool) -> str | None:
        """Return the query of the full-text indexes for quoted phrases; None without an index."""
        ...


@dataclass(kw_only=True, eq=False)
class Session:
    """A session of the driver that runs named queries, with deadlines, retries and our errors.

    Only one task may use a session, and nobody may use it after a cancellation.

    Attributes
    ----------
    sessions
        Limits the sessions in use; ``async with`` waits for a turn.
    begin
        Opens the session of the driver.
    until
        Time of the loop's clock at which all work in the session must be over; seconds.
    translation
        What a mapping makes of the queries; None for memoria's own graph.
    """

    sessions: Limiter
    begin: Callable[[], neo4j.AsyncSession]
    config: StoreConfig
    until: float | None
    database: str
    translation: Translation | None
    _started: float = field(init=False)
    _watched: Watched = field(init=False)

    async def __aenter__(self) -> Self:
        if self.translation is not None:
            await self.translation.facts(self.until)
        self._started = await self.sessions.enter(self.until)
        try:
            session = self.begin()
        except Exception as exc:
            self.sessions.leave(self._started)
            if isinstance(exc, driver_errors.DriverError):
                raise translate(exc) from exc
            raise
        self._watched = Watched(session, asyncio.get_running_loop())
        WATCHDOG.watch(self._watched)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close in a separate task: a cancellation must not leave the session half closed.

        Closing is fast: the results have been read, or the connection is gone. If it is not, the
        server does not answer, and the connection is dropped.
        """
        session = self._watched.session
        if kind is not None and issubclass(kind, asyncio.CancelledError):
            session.cancel()
        closing = asyncio.create_task(session.close())
        self._watched.expect(_STUCK_S)
        try:
            await asyncio.wait([closing], timeout=_CLOSE_S)
        finally:
            failed = not closing.done() or closing.cancelled() or closing.exception() is not None
            if failed:
                session.cancel()  # else the driver's pool counts the connection as in use for ever
            WATCHDOG.leave(self._watched)
            counts = kind is None or not issubclass(kind, OverloadedError)
            self.sessions.leave(self._started, counts=counts)
            if failed:
                await end(closing, drop=session.cancel)
        if closing.done() and not closing.cancelled():
            error = closing.exception()
            if isinstance(error, driver_errors.DriverError):
                raise translate(error) from error

    def run(self, query: Query, parameters: Mapping[str, Any]) -> Coroutine[Any, Any, Records]:
        """Run ``query`` with ``parameters`` as its map ``$p``, and fetch all records.

        One round trip; three with ``StoreConfig.transactions="managed"``. A query that fails for a
        temporary reason is repeated, with growing waits, while there is time; all of memoria's
        queries may be repeated without harm.

        Raises
        ------
        MemoriaError
            The query failed; the class of the error says why.
        """
        if self.translation is not None:
            query = self.translation.query(query)
        managed = self.config.transactions == "managed"
        ask = Exchange.ask_managed if managed else Exchange.ask
        return self._perform(query.name, partial(ask, query=query, parameters=parameters))

    def write(self, work: Work[T], *, name: str) -> Coroutine[Any, Any, T]:
        """Do ``work`` in one transaction: all of its queries take effect, or none does.

        Four round trips, and one for each query. The work has the time of one query, and is
        repeated as one query is in `run`.

        Parameters
        ----------
        work
            Runs its queries by `Transaction.run`; an error undoes them. It may be called
            several times, so it must have no effects outside of the transaction.
        name
            Name of the transaction in errors, spans and the server's list.

        Raises
        ------
        MemoriaError
            A query failed; the class of the error says why.
        """
        return self._perform(name, partial(Exchange.transact, work=work))

    def explain(
        self, query: Query, parameters: Mapping[str, Any] | None = None
    ) -> Coroutine[Any, Any, Mapping[str, Any]]:
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
        if self.translation is not None:
            query = self.translation.query(query)
        send = partial(Exchange.explain, query=query, parameters=parameters or {})
        return self._perform(query.name, send)

    async def _perform(self, name: str, send: _Send[T]) -> T:
        """Make an attempt, and repeat it while it fails for a temporary reason and there is time.

        Most queries succeed at once, and need not pay for the retry library.
        """
        now, timeout_s = asyncio.get_running_loop().time(), self.config.query_timeout_s
        if self.until is not None:
            timeout_s = min(timeout_s, self.until - now)
        recall = telemetry.recall_id()
        exchange = Exchange(
            name=name,
            database=self.database,
            watched=self._watched,
            limit_s=self.config.query_timeout_s,
            metadata={"app": "memoria", "query": name, **({"recall": recall} if recall else {})},
        )
        try:
            return await exchange.attempt(send, timeout_s)
        except UnavailableError as exc:
            failed = exc
        return await self._repeat(exchange, send, failed, now + timeout_s)

    async def _repeat(
        self,
        exchange: Exchange,
        send: _Send[T],
        failed: UnavailableError,
        until: float,
    ) -> T:
        """Retry after a failed first attempt, until the time of the query is over.

        If a retry runs out of time, the error is the one that led to it: more time would not help.
        While a cluster elects a leader, or a member of it lags behind, only the time limits the
        retries: both take seconds.
        """
        config, now = self.config, asyncio.get_running_loop().time
        enough = tenacity.stop_after_attempt(config.max_retries + 1)
        out_of_time = tenacity.stop_before_delay(until - now())

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
                    return await exchange.attempt(send, until - now())
                except DeadlineError as exc:
                    raise failed from exc
        raise AssertionError("unreachable: the last attempt returns or raises")


def _log_retry(state: tenacity.RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    log.info(
        "retry %d of %s after %s",
        state.attempt_number,
        getattr(error, "query", None),
        type(error).__name__,
    )
