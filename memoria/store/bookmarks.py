"""Bookmarks: what a member of a cluster must know before it answers.

In: bookmarks that the server returned, or that another process handed over. Out: those that the
next query sends. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from weakref import WeakKeyDictionary

import neo4j
from neo4j.api import AsyncBookmarkManager


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
