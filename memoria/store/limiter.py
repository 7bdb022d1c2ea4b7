"""Limiter: so many at once, the others in the order in which they asked.

In: who wants a turn, and until when. Out: the turn. Touches nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memoria.errors import ClosedError, OverloadedError


class Limiter:
    """Places for so many at once. Bound to the event loop of the first who takes one.

    Parameters
    ----------
    places
        How many have a turn at once; >= 1.
    of
        What the turn is for, in the error: ``session``.
    advice
        What to do when it does not come in time, for the same.

    Attributes
    ----------
    taken
        How many have a turn now.
    """

    def __init__(self, places: int, *, of: str, advice: str) -> None:
        self.taken = 0
        self._places = places
        self._of = of
        self._advice = advice
        self._loop: asyncio.AbstractEventLoop | None = None
        self._free: asyncio.Semaphore | None = None

    @asynccontextmanager
    async def turn(self, until: float | None) -> AsyncIterator[None]:
        """Wait for a place, and hold it for the body of the ``with``.

        Parameters
        ----------
        until
            Time of the loop's clock until which to wait; seconds. None: as long as it takes.

        Raises
        ------
        OverloadedError
            It did not come in time.
        ClosedError
            They belong to another event loop.
        """
        free = self._semaphore()
        try:
            async with asyncio.timeout_at(until):
                await free.acquire()
        except TimeoutError as exc:
            raise OverloadedError(
                f"no turn for a {self._of} came in time, {self._places} are at work: "
                f"{self._advice}, or call less at once"
            ) from exc
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1
            free.release()

    def _semaphore(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        if self._free is None:
            self._loop, self._free = loop, asyncio.Semaphore(self._places)
        if self._loop is not loop:
            raise ClosedError(
                "used from another event loop than before: make one retriever per event loop"
            )
        return self._free
