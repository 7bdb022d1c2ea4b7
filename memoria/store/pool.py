"""Sessions of one database: as many at once as allowed, handed out in order.

In: a driver. Out: `Session`s, each for one task.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import neo4j
from neo4j import exceptions as driver_errors

from memoria.store.config import StoreConfig
from memoria.store.faults import translate
from memoria.store.limiter import Limiter
from memoria.store.queries import Query
from memoria.store.session import Session, Transactions


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
        self._bookmarks = neo4j.AsyncGraphDatabase.bookmark_manager()
        self._turns = Limiter(
            self.config.max_sessions,
            of="session",
            advice="raise max_sessions (and the driver's pool)",
        )

    @property
    def sessions_in_use(self) -> int:
        """How many sessions are open."""
        return self._turns.taken

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
            Its turn did not come in time. Callers wait in the order they came, here and not in
            the driver, whose waiters have no order.
        ClosedError
            The store belongs to another event loop.
        """
        async with self._turns.turn(until), self._driver_session(mode) as driver_session:
            yield Session(driver_session, self.config, until, transactions)

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        """Run one query in a session of its own; see `Session.run`."""
        mode: Literal["read", "write"] = "read" if query.mode == "read" else "write"
        async with self.session(mode, until=until) as session:
            return await session.run(query, parameters)

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


async def _close(session: neo4j.AsyncSession) -> None:
    """Close a session in a task of its own: a cancellation must not leave it half closed.

    There is nothing to wait for: its results have been read, or its connection is gone.
    """
    closing = asyncio.create_task(session.close())
    try:
        await asyncio.wait([closing])
    finally:
        if not closing.done():
            session.cancel()
            await asyncio.wait([closing])
    if closing.cancelled():
        session.cancel()
    elif isinstance(error := closing.exception(), driver_errors.DriverError):
        raise translate(error) from error
