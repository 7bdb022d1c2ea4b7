"""Limiter: so many at once, the others in the order in which they asked, if that can be in time.

In: who wants a turn, and until when. Out: the turn. Touches nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import fmean

from memoria.errors import ClosedError, OverloadedError

# How long a turn is taken to last before the first turns have ended; seconds.
ASSUMED_S = 0.5
# The recent rate is that of so many turns for each place.
_REMEMBERED = 4


class Limiter:
    """Places for so many at once, and a line in front of them.

    The line is as long as callers have time: a caller is refused at once where, at the recent
    rate, its turn would come too late. Bound to the event loop of the first caller.

    Parameters
    ----------
    places
        How many have a turn at once; >= 1.
    of
        What the turn is for, in the error: ``session``.

    Attributes
    ----------
    taken
        How many have a turn now.
    waiting
        How many wait for a turn.
    """

    def __init__(self, places: int, *, of: str) -> None:
        self.taken = 0
        self.waiting = 0
        self._places = places
        self._of = of
        self._loop: asyncio.AbstractEventLoop | None = None
        self._free: asyncio.Semaphore | None = None
        # Time from the end of a turn to the next end, while others were waiting. The first entries
        # are a guess, so that a few turns alone don't decide.
        self._apart_s = deque([ASSUMED_S / places] * places, maxlen=_REMEMBERED * places)
        self._lasted_s: deque[float] = deque(maxlen=_REMEMBERED * places)
        self._full_since = 0.0

    @property
    def lasting_s(self) -> float:
        """Time that a turn took recently; seconds, 0 where none has ended."""
        return fmean(self._lasted_s) if self._lasted_s else 0.0

    def wait_s(self) -> float:
        """Time that a new caller would wait at the recent rate; seconds."""
        if self.taken + self.waiting < self._places:
            return 0.0
        return (self.waiting + 1) * fmean(self._apart_s)

    @asynccontextmanager
    async def turn(self, until: float | None) -> AsyncIterator[None]:
        """Wait for a place, and hold it for the body of the ``with``.

        Parameters
        ----------
        until
            Time of the loop's clock until which the turn must have come; seconds. None: the caller
            waits as long as it takes.

        Raises
        ------
        OverloadedError
            The line is too long for that, at the recent rate, or the turn did not come in time.
        ClosedError
            The limiter belongs to another event loop.
        """
        loop, free = asyncio.get_running_loop(), self._semaphore()
        expected_s = self.wait_s()
        if until is not None and expected_s > 0 and loop.time() + expected_s > until:
            raise self._overloaded("the line is too long", expected_s, until - loop.time())
        await self._wait(free, until)
        self.taken += 1
        started = loop.time()
        try:
            yield
        finally:
            self.taken -= 1
            free.release()
            self._remember(started, loop.time())

    async def _wait(self, free: asyncio.Semaphore, until: float | None) -> None:
        loop = asyncio.get_running_loop()
        if self.taken >= self._places and not self.waiting:
            self._full_since = loop.time()
        self.waiting += 1
        since = loop.time()
        try:
            async with asyncio.timeout_at(until):
                await free.acquire()
        except TimeoutError as exc:
            waited = f"it did not come within {loop.time() - since:.1f} s"
            raise self._overloaded(waited, self.wait_s(), 0.0) from exc
        finally:
            self.waiting -= 1

    def _remember(self, started: float, now: float) -> None:
        """Note how long the turn took, and how soon after the last one it ended."""
        self._lasted_s.append(now - started)
        if self.waiting:
            self._apart_s.append(now - self._full_since)
            self._full_since = now

    def _overloaded(self, why: str, wait_s: float, left_s: float) -> OverloadedError:
        retry_s = max(wait_s - max(left_s, 0.0), fmean(self._apart_s))
        return OverloadedError(
            f"no turn for a {self._of} in time, {why}: {self._places} are at work and "
            f"{self.waiting} wait, about {wait_s:.1f} s for a new call: call again in "
            f"{retry_s:.1f} s, give more time, or send fewer calls at once",
            retry_after_s=retry_s,
        )

    def _semaphore(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        if self._free is None:
            self._loop, self._free = loop, asyncio.Semaphore(self._places)
        if self._loop is not loop:
            raise ClosedError(
                "used from another event loop than before: make one retriever per event loop"
            )
        return self._free
