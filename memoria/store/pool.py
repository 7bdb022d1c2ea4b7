"""One database as all parts of a process share it: sessions, limits, facts about the server.

In: a driver. Out: `Session`s, each for one task.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Protocol, Self

import neo4j
from neo4j import exceptions as driver_errors

from memoria._support.checks import check_id, check_string
from memoria._support.single_flight import SingleFlight
from memoria._support.wording import kind_of, number_of
from memoria.errors import ConfigError, InvalidInputError, MappingError
from memoria.store.bookmarks import bookmarks_of
from memoria.store.config import StoreConfig
from memoria.store.facts import ServerFacts
from memoria.store.faults import translate
from memoria.store.limiter import Limiter
from memoria.store.queries import Query
from memoria.store.records import Records
from memoria.store.session import Call, Session, unchanged
from memoria.store.waiting import end
from memoria.store.watchdog import WATCHDOG

# Assumed length of a recall until the first recalls have ended; seconds.
_RECALL_S = 0.5
# Time to close a session, after which its connection is dropped; seconds.
_CLOSE_S = 0.25


class Translation(Protocol):
    """What makes memoria's queries queries of another graph; see `memoria.mapping`."""

    async def facts(self, until: float | None = None) -> ServerFacts:
        """Check the database before the first query, and say what the server is."""
        ...

    def query(self, query: Query) -> Query:
        """Return the query that is to run instead."""
        ...

    def lucene(self, phrases: Sequence[str]) -> str | None:
        """Return the query of the full-text indexes for quoted phrases; None without an index."""
        ...


class Store:
    """One database through one driver: make one for a process, and share it among all scopes.

    Its limits hold for all retrievers and writers together that use it. All stores on one driver
    share the bookmarks of a database, so that a read sees the writes made through the same driver,
    on a cluster too. The server is asked once what it is. A store is bound to the event loop of its
    first session.

    Parameters
    ----------
    driver
        An open driver. The caller keeps it, and closes it.
    database
        Name of the database.
    config
        Time limits, retries, sessions and recalls at once.

    Attributes
    ----------
    facts
        Facts about the server; `memoria.graph.server_facts.server_facts` asks for them.
    line
        Limiter of the recalls that have begun: the recalls at work, and as many more that embed
        their questions. Further recalls wait in line here.
    recalls
        Limiter of the recalls at work.
    translation
        What a mapping makes of memoria's queries; None for memoria's own graph.

    Raises
    ------
    ConfigError
        The driver's pool has fewer connections than ``config.max_sessions``.
    """

    def __init__(
        self,
        driver: neo4j.AsyncDriver,
        *,
        database: str = "neo4j",
        config: StoreConfig | None = None,
    ) -> None:
        self.driver = driver
        self.database = database
        self.config = config or StoreConfig()
        _check_pool(driver, self.config)
        self.facts = SingleFlight[ServerFacts]()
        recalls = self.config.max_recalls
        self.line = Limiter(2 * recalls, of="recall", assumed_s=2 * _RECALL_S)
        self.recalls = Limiter(recalls, of="recall", assumed_s=_RECALL_S)
        self._sessions = Limiter(self.config.max_sessions, of="session", assumed_s=_RECALL_S)
        self._bookmarks = bookmarks_of(driver, database)
        self._databases: dict[str, Store] = {database: self}
        self.translation: Translation | None = None
        self._own: Store = self
        self._translate: Callable[[Store], Translation] | None = None

    def for_database(self, database: str) -> Store:
        """Return the store of another database on the same driver, which keeps to the same limits.

        It has facts about the server and bookmarks of its own. It is made once for each database.
        """
        name = check_id(database, "database")
        if self._translate is not None:
            return self._own.for_database(name).translated(self._translate)
        if name not in self._databases:
            other = copy(self)
            other.database = name
            other.facts = SingleFlight[ServerFacts]()
            other._bookmarks = bookmarks_of(self.driver, name)
            other._own = other
            self._databases[name] = other
        return self._databases[name]

    @property
    def bookmarks(self) -> tuple[str, ...]:
        """Bookmarks of all that was written and read on this driver and database so far, sorted.

        Give them to `follow` in another process, which then sees what this process has written.
        """
        return tuple(sorted(self._bookmarks.known))

    def follow(self, bookmarks: Iterable[str]) -> None:
        """Let later reads on this driver and database see what these bookmarks stand for.

        Parameters
        ----------
        bookmarks
            `Store.bookmarks` of another process, for the same database. A member of a cluster that
            lacks something of it waits before it answers; an invalid one makes queries fail.

        Raises
        ------
        InvalidInputError
            ``bookmarks`` are not strings.
        """
        if isinstance(bookmarks, str | bytes) or not isinstance(bookmarks, Iterable):
            raise InvalidInputError(
                f"bookmarks must be a list of strings, got {kind_of(bookmarks)}", field="bookmarks"
            )
        self._bookmarks.add([check_string(each, "bookmarks") for each in bookmarks])

    def patient(self, seconds: float | None = None) -> Self:
        """Return a copy of this store that gives each query at least ``seconds``.

        None means `StoreConfig.long_query_timeout_s`.

        The copy shares driver, bookmarks, limits and facts about the server with this store. It is
        not what `for_database` returns.
        """
        patient = copy(self)
        longer_s = self.config.long_query_timeout_s if seconds is None else seconds
        limit_s = max(self.config.query_timeout_s, longer_s)
        patient.config = replace(self.config, query_timeout_s=limit_s)
        return patient

    def translated(self, translate: Callable[[Store], Translation]) -> Self:
        """Return a copy of this store that runs what a translation makes of each query.

        The copy shares driver, bookmarks and limits with this store.

        Parameters
        ----------
        translate
            Makes the translation for a store, by which it can ask what there is.
        """
        other = copy(self)
        other._own = self
        other._translate = translate
        other.translation = translate(self)
        return other

    @property
    def sessions_in_use(self) -> int:
        """How many sessions are open."""
        return self._sessions.taken

    @asynccontextmanager
    async def session(
        self, mode: Literal["read", "write"] = "read", *, until: float | None = None
    ) -> AsyncIterator[Session]:
        """Open a session for the current task.

        Parameters
        ----------
        until
            Time of the loop's clock at which all work in the session must be over; seconds.

        Raises
        ------
        OverloadedError
            The line for sessions is too long, or the turn did not come in time. Callers wait here,
            in the order of their calls, because the driver's own pool serves them in any order.
        ClosedError
            The store belongs to another event loop.
        """
        translate = unchanged
        if self.translation is not None:
            await self.translation.facts(until)
            translate = self.translation.query
        async with self._sessions.turn(until), self._driver_session(mode) as driver_session:
            database = self.database
            yield Session(
                driver_session, self.config, until, database=database, translate=translate
            )

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        """Run one query in a session of its own; see `Session.run`."""
        async with self.session(_mode(query), until=until) as session:
            return await session.run(query, parameters)

    async def run_together(
        self, calls: Sequence[Call], *, check: Callable[[Sequence[Records]], None]
    ) -> list[Records]:
        """Run several queries in one writing transaction; see `Session.run_together`."""
        async with self.session("write") as session:
            return await session.run_together(calls, check=check)

    async def explain(
        self, query: Query, parameters: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Ask how the server would run a query; see `Session.explain`."""
        async with self.session(_mode(query)) as session:
            return await session.explain(query, parameters)

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
            yield session
        except asyncio.CancelledError:
            session.cancel()
            raise
        finally:
            await _close(session)


StoreOrDriver = Store | neo4j.AsyncDriver


def store_of(source: StoreOrDriver, database: str | None = None) -> Store:
    """Return a store unchanged; make a store if a driver is given.

    Parameters
    ----------
    database
        Name of the database. None means the database of the store, or ``neo4j`` for a driver.

    Raises
    ------
    ConfigError
        The store is on another database, or the driver's pool has too few connections.
    InvalidInputError
        ``source`` is neither a store nor an async driver.
    """
    if isinstance(source, Store):
        if database not in (None, source.database):
            raise ConfigError(
                f"the store is on the database {source.database!r}, not {database!r}: "
                f"make another store for {database!r}"
            )
        return source
    if not isinstance(source, neo4j.AsyncDriver):
        raise InvalidInputError(
            f"a Store or a neo4j.AsyncDriver is needed, got {kind_of(source)}: "
            "make a driver with neo4j.AsyncGraphDatabase.driver, or use memoria.connect",
            field="store",
        )
    return Store(source, database=database or "neo4j")


def writable_store_of(source: StoreOrDriver, database: str | None = None) -> Store:
    """Return the store as `store_of` does, for what writes.

    Raises
    ------
    MappingError
        The store reads a graph through a mapping, which writes nothing.
    """
    store = store_of(source, database)
    if store.translation is not None:
        raise MappingError(
            "this graph is read through a mapping, and a mapping writes nothing: another program "
            "keeps this graph. To write, link or learn, use memoria's own graph: a retriever "
            "without mapping, in this database or in another one"
        )
    return store


def _mode(query: Query) -> Literal["read", "write"]:
    return "read" if query.mode == "read" else "write"


def _check_pool(driver: neo4j.AsyncDriver, config: StoreConfig) -> None:
    """Refuse more sessions than connections: callers would wait in the driver, in any order."""
    pool = getattr(getattr(driver, "_pool", None), "pool_config", None)
    size = getattr(pool, "max_connection_pool_size", None)  # not public, so it may be missing
    if isinstance(size, int) and 0 < size < config.max_sessions:
        raise ConfigError(
            f"max_sessions is {config.max_sessions}, but the driver's pool has "
            f"{number_of(size, 'connection')}: give the Store StoreConfig(max_sessions={size}), or "
            f"the driver a max_connection_pool_size of {config.max_sessions}"
        )


async def _close(session: neo4j.AsyncSession) -> None:
    """Close a session in a separate task: a cancellation must not leave it half closed.

    Closing is fast: the results have been read, or the connection is gone. If it is not, the
    server does not answer, and the connection is dropped.
    """
    closing = asyncio.create_task(session.close())
    try:
        with WATCHDOG.watch(session, _CLOSE_S):
            await asyncio.wait([closing], timeout=_CLOSE_S)
    finally:
        if not closing.done():
            session.cancel()
            await end(closing, drop=session.cancel)
    if not closing.done():
        return
    error = None if closing.cancelled() else closing.exception()
    if closing.cancelled() or error is not None:
        session.cancel()  # else the driver's pool counts the connection as in use for ever
    if isinstance(error, driver_errors.DriverError):
        raise translate(error) from error
