"""One call of the server: sent once or more often, watched, and its answer checked.

In: a query with its parameters, or a work function for a transaction. Out: records, or what the
work returns; else one of memoria's errors.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import neo4j
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
from memoria.store.doubt import leave_doubt, may_have_changed
from memoria.store.faults import translate
from memoria.store.queries import OTHER_COLUMNS, Query
from memoria.store.watchdog import Watched

T = TypeVar("T")

# A task of the driver that is told to end is told again after this time, so many times; seconds.
_ENDING_S, _ENDINGS = 0.1, 3
# Deeper values overflow the stack of the server, or that of the driver.
MAX_DEPTH = 64
_INT_BITS = 64


class Sent(dict[str, Any]):
    """The parameters of a query, which print as their names.

    The driver makes a string of all parameters of each query, whether it logs or not. So vectors
    cost nothing there, and no memory ends up in its log.

    >>> Sent(text="My boss is Ann", limit=5)
    <text, limit>
    """

    def __repr__(self) -> str:
        """Return only the names."""
        return f"<{', '.join(self)}>"


class Records(list[neo4j.Record]):
    """The records of an answer, in their order."""

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


@dataclass(slots=True, kw_only=True, eq=False)
class Exchange:
    """One call of the server over the session of a task.

    Attributes
    ----------
    name
        Name of the query, or of the transaction: for errors and spans.
    database
        Name of the database, for spans.
    watched
        The session of the driver, and the time by which it must have answered.
    limit_s
        Time limit of a query in the settings; seconds.
    metadata
        Metadata of its transactions, which the server's own list of transactions shows.
    timeout_s
        Time limit of the attempt at work; seconds.
    sent
        Parameters of the query at work.
    changes
        Whether a second attempt may get another answer, because the first has changed the graph.
    unknown
        Whether the last attempt broke off where the server may have made the change.
    """

    name: str
    database: str
    watched: Watched
    limit_s: float
    metadata: dict[str, Any]
    timeout_s: float = 0.0
    sent: Mapping[str, Any] = field(default_factory=dict)
    changes: bool = False
    unknown: bool = False

    async def attempt(
        self, send: Callable[[Exchange], Coroutine[Any, Any, T]], timeout_s: float
    ) -> T:
        """Make an attempt in a task of its own, with a time limit on both sides.

        The client needs a limit because the server may not answer, and the server needs one because
        the client may be gone.

        ``asyncio.timeout`` does not work here. When the driver's task is cancelled, the driver may
        cancel that task again, which ``asyncio.timeout`` takes for a cancellation by the caller; or
        it may raise an error of its own. The separate task keeps both inside.
        """
        if timeout_s <= 0:
            raise DeadlineError(f"no time left for {self.name}: {MORE_TIME}", query=self.name)
        if self.unknown:
            self._begin_again()
        self.timeout_s = timeout_s
        with telemetry.query_span(self.name, self.database):
            self.watched.expect(timeout_s)
            task = asyncio.create_task(send(self))
            try:
                await asyncio.wait([task], timeout=timeout_s)
                if task.done() and not task.cancelled():
                    return task.result()
                raise self._late()
            finally:
                self.watched.until = math.inf  # nothing is asked between two queries
                if not task.done() or task.cancelled():
                    try:
                        await end(task, drop=self.drop)
                    finally:
                        self.drop()  # nobody knows in which state the connection is

    async def ask(self, query: Query, parameters: Mapping[str, Any]) -> Records:
        """Run a query in a transaction that the server commits by itself."""
        statement = neo4j.Query(query.text, metadata=self.metadata, timeout=self.timeout_s)
        self.sent, self.changes, self.unknown = parameters, query.changes, True
        with self.translated():
            result = await self.watched.session.run(statement, p=Sent(parameters))
            return await self._read(query, result)

    async def ask_managed(self, query: Query, parameters: Mapping[str, Any]) -> Records:
        """Run a query in a transaction of the driver, which repeats it by a policy of its own."""

        @neo4j.unit_of_work(metadata=self.metadata, timeout=self.timeout_s)
        async def work(transaction: neo4j.AsyncManagedTransaction) -> Records:
            if self.unknown:
                self._begin_again()
            records = await self.run_in(transaction, query, parameters)
            self.unknown = True  # the driver commits next
            return records

        session = self.watched.session
        with self.translated():
            if query.mode == "read":
                return await session.execute_read(work)
            return await session.execute_write(work)

    async def transact(self, work: Work[T]) -> T:
        """Do work in one transaction, and commit it; an error of the work undoes it."""
        raised: Exception | None = None
        try:
            transaction = await self.watched.session.begin_transaction(
                metadata=self.metadata, timeout=self.timeout_s
            )
            async with transaction:
                try:
                    done = await work(Transaction(self, transaction))
                except Exception as exc:
                    raised = exc
                    raise
                self.unknown = True
                await transaction.commit()
        except Exception as exc:
            if exc is raised:
                raise
            raise self.failed(exc) from exc
        return done

    async def explain(self, query: Query, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Ask for the plan of a query, which is not run."""
        text = " ".join(("EXPLAIN", query.text))
        statement = neo4j.Query(text, metadata=self.metadata, timeout=self.timeout_s)
        self.sent = parameters
        with self.translated():
            result = await self.watched.session.run(statement, p=Sent(parameters))
            plan: Mapping[str, Any] | None = (await result.consume()).plan
        if plan is None:
            raise QueryError(f"the server returned no plan (query {self.name})", query=self.name)
        return plan

    async def run_in(
        self,
        transaction: neo4j.AsyncTransaction | neo4j.AsyncManagedTransaction,
        query: Query,
        parameters: Mapping[str, Any],
    ) -> Records:
        """Run a query in a transaction; errors are those of the driver.

        The connection is dropped at once where the transaction would read what is left before it
        ends: after an answer that it can't read, the driver looks for the rest of it without end.
        """
        self.sent = parameters
        self.changes = self.changes or query.changes
        try:
            result = await transaction.run(query.text, p=Sent(parameters))
            return await self._read(query, result)
        except driver_errors.Neo4jError:
            raise
        except Exception:
            self.drop()
            raise

    def drop(self) -> None:
        """Drop the connection, so that the driver reads nothing further from it."""
        self.watched.session.cancel()

    @contextmanager
    def translated(self, query: str | None = None) -> Iterator[None]:
        """Raise one of memoria's errors for an exception of the driver; see `failed`."""
        try:
            yield
        except MemoriaError:
            raise
        except Exception as exc:
            raise self.failed(exc, query) from exc

    def failed(self, exc: Exception, query: str | None = None) -> MemoriaError:
        """Return one of memoria's errors for an exception of the driver.

        Whatever fails but a query that the server refused leaves the connection in a state that
        nobody knows: it is dropped.
        """
        name = query or self.name
        if isinstance(exc, driver_errors.Neo4jError):
            self.unknown = self.unknown and may_have_changed(exc)
            return translate(exc, name)
        self.drop()
        is_of_driver = isinstance(exc, driver_errors.DriverError | OSError)
        if isinstance(exc, TimeoutError) or (is_of_driver and self.watched.is_dropped):
            return self._late()  # the server may be well, and the driver can't know
        if is_of_driver:
            return translate(exc, name)
        if not can_be_sent(self.sent):
            return InvalidInputError(
                f"a parameter can't be sent (query {name}, {type(exc).__name__})", query=name
            )
        return _unreadable(name, type(exc).__name__)

    async def _read(self, query: Query, result: neo4j.AsyncResult) -> Records:
        """Return the records of an answer if its columns and their types are those of the query.

        An answer without records has columns, too: those of another query are what an earlier
        answer, cut short by a wrong message, has left on the connection. This is looked at before
        the answer ends, because the driver then gives the connection back to its pool.
        """
        records = Records()
        records.of = query.name
        if query.columns != {*result.keys()}:
            raise self._wrong(query, OTHER_COLUMNS)
        async for record in result:
            if wrong := query.unlike(record):
                raise self._wrong(query, wrong)
            records.append(record)
        return records

    def _wrong(self, query: Query, why: str) -> UnavailableError:
        self.drop()
        return _unreadable(query.name, why)

    def _begin_again(self) -> None:
        if self.changes:
            leave_doubt()
        self.unknown = False

    def _late(self) -> DeadlineError:
        """Return the error about too little time, with what to do, by what limited it."""
        remedy = "raise query_timeout_s or long_query_timeout_s (StoreConfig), or ask for less"
        if self.timeout_s < self.limit_s:
            remedy = MORE_TIME
        text = f"a query took longer than {self.timeout_s:.3f} s ({self.name}): {remedy}"
        return DeadlineError(text, query=self.name)


class Transaction:
    """A transaction as its work function sees it; see `Store.write`."""

    def __init__(self, exchange: Exchange, transaction: neo4j.AsyncTransaction) -> None:
        self._exchange = exchange
        self._transaction = transaction

    async def run(self, query: Query, parameters: Mapping[str, Any]) -> Records:
        """Run a query within the transaction, and fetch all records; one round trip.

        Raises
        ------
        MemoriaError
            The query failed. Let the error pass: what the work raises undoes the transaction, and
            after an `UnavailableError` the whole work is done again.
        """
        with self._exchange.translated(query.name):
            return await self._exchange.run_in(self._transaction, query, parameters)


#: The work of a transaction; see `Store.write`.
Work: TypeAlias = Callable[[Transaction], Awaitable[T]]


async def end(task: asyncio.Task[Any], *, drop: Callable[[], None]) -> None:
    """Cancel a task of the driver, and wait a moment until it is over; nobody waits for longer.

    The driver sometimes takes a cancellation for its own, and waits on for a server that does not
    answer; it ends when its connection is gone.
    """
    for _ in range(_ENDINGS):
        if task.done():
            break
        task.cancel()
        await asyncio.wait([task], timeout=_ENDING_S)
        if not task.done():
            drop()
    task.add_done_callback(_see)


def _see(task: asyncio.Task[Any]) -> None:
    """Mark the error of a task as seen: after a cancellation it says nothing."""
    if not task.cancelled():
        task.exception()


def can_be_sent(value: object, depth: int = 0) -> bool:
    r"""Tell whether the driver can pack a value; what it may pack in other ways counts as such.

    >>> can_be_sent({"p": [1, "a", None]}), can_be_sent({"p": 2**63}), can_be_sent("\ud800")
    (True, False, False)
    """
    match value:
        case None | bool() | float() | bytes() | bytearray():
            return True
        case int():
            return (value if value >= 0 else ~value).bit_length() < _INT_BITS
        case str():
            return _is_unicode(value)
        case list() | tuple():
            return depth < MAX_DEPTH and all(can_be_sent(each, depth + 1) for each in value)
        case Mapping():
            return depth < MAX_DEPTH and all(
                isinstance(key, str) and _is_unicode(key) and can_be_sent(each, depth + 1)
                for key, each in value.items()
            )
        case _:
            return type(value).__module__.partition(".")[0] in ("datetime", "neo4j")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unreadable(query: str, why: str) -> UnavailableError:
    return UnavailableError(
        f"the answer of the server can't be read (query {query}, {why}); its connection was "
        "dropped",
        query=query,
    )
