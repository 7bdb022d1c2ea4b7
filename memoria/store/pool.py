"""One database as all parts of a process share it: sessions, limits, facts about the server.

In: a driver. Out: `Session`s, each for one task.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self, TypeVar
from weakref import WeakKeyDictionary

import neo4j
from neo4j.api import AsyncBookmarkManager

from memoria._support.checks import check_id, check_string
from memoria._support.single_flight import SingleFlight
from memoria._support.wording import kind_of, number_of
from memoria.errors import ConfigError, InvalidInputError, MappingError
from memoria.store.config import StoreConfig
from memoria.store.exchange import Work
from memoria.store.facts import ServerFacts
from memoria.store.limiter import Limiter
from memoria.store.queries import Query
from memoria.store.session import Session, Translation

# Assumed length of a recall until the first recalls have ended; seconds.
_RECALL_S = 0.5

T = TypeVar("T")


class Bookmarks(AsyncBookmarkManager):
    """The bookmarks of one database, as all sessions of one driver share them.

    The server's new bookmark stands for those that were sent with the query as well, and takes
    their place.
    """

    def __init__(self) -> None:
        self.known: frozenset[str] = frozenset()

    def add(self, bookmarks: Collection[str]) -> None:
        """Add bookmarks of somebody else."""
        self.known |= frozenset(bookmarks)

    async def get_bookmarks(self) -> Collection[str]:
        """Return what the next query sends."""
        return self.known

    async def update_bookmarks(
        self, previous_bookmarks: Collection[str], new_bookmarks: Collection[str]
    ) -> None:
        """Put the server's bookmarks in the place of those that were sent.

        A wrong message may hold anything, and the server would refuse every query that sends it.
        """
        new = frozenset(each for each in new_bookmarks if isinstance(each, str))
        if new:
            self.known = self.known.difference(previous_bookmarks) | new


_OF_DRIVERS: WeakKeyDictionary[neo4j.AsyncDriver, dict[str, Bookmarks]] = WeakKeyDictionary()


def bookmarks_of(driver: neo4j.AsyncDriver, database: str) -> Bookmarks:
    """Return the bookmarks of a database: the same ones for all stores on one driver."""
    return _OF_DRIVERS.setdefault(driver, {}).setdefault(database, Bookmarks())


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
    usual_timeout_s
        Limit of a query in the settings, also where the store is `patient`; seconds.
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
        self.usual_timeout_s = self.config.query_timeout_s
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

    def session(
        self, mode: Literal["read", "write"] = "read", *, until: float | None = None
    ) -> Session:
        """Return a session for the current task; ``async with`` opens and closes it.

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
        begin = partial(
            self.driver.session,
            database=self.database,
            default_access_mode=neo4j.READ_ACCESS if mode == "read" else neo4j.WRITE_ACCESS,
            bookmark_manager=self._bookmarks,
            notifications_min_severity="OFF",
        )
        if mode == "write" and self.translation is not None:
            raise _writes_nothing()
        return Session(
            sessions=self._sessions,
            begin=begin,
            config=self.config,
            until=until,
            database=self.database,
            translation=self.translation,
        )

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        """Run one query in a session of its own; see `Session.run`."""
        mode: Literal["read", "write"] = "read" if query.mode == "read" else "write"
        async with self.session(mode, until=until) as session:
            return await session.run(query, parameters)

    async def write(self, work: Work[T], *, name: str = "transaction") -> T:
        """Do work in one writing transaction, as often as it takes; see `Session.write`."""
        async with self.session("write") as session:
            return await session.write(work, name=name)

    async def explain(
        self, query: Query, parameters: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Ask how the server would run a query; see `Session.explain`."""
        async with self.session("read" if query.mode == "read" else "write") as session:
            return await session.explain(query, parameters)


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
                f"make another store for {database!r}",
                field="database",
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
        raise _writes_nothing()
    return store


def _writes_nothing() -> MappingError:
    return MappingError(
        "this graph is read through a mapping, and a mapping writes nothing: another program keeps "
        "this graph. To write, link or learn, use memoria's own graph: a retriever without "
        "mapping, in this database or in another one"
    )


def _check_pool(driver: neo4j.AsyncDriver, config: StoreConfig) -> None:
    """Refuse more sessions than connections: callers would wait in the driver, in any order."""
    pool = getattr(getattr(driver, "_pool", None), "pool_config", None)
    size = getattr(pool, "max_connection_pool_size", None)  # not public, so it may be missing
    if isinstance(size, int) and 0 < size < config.max_sessions:
        raise ConfigError(
            f"max_sessions is {config.max_sessions}, but the driver's pool has "
            f"{number_of(size, 'connection')}: give the Store StoreConfig(max_sessions={size}), or "
            f"the driver a max_connection_pool_size of {config.max_sessions}",
            field="max_sessions",
        )
