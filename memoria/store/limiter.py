"""Limiter: so many at once, the others in the order in which they asked, if that can be in time.

In: who wants a turn, and until when. Out: the turn. Touches nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import fmean
from typing import NamedTuple

from memoria.errors import ClosedError, OverloadedError

# The recent rate is that of so many turns for each place.
_REMEMBERED = 4
# Who stands in line is sent away where the wait would be so many times the time that is left: the
# rate is an estimate, and a short slowdown should not empty the line.
_PATIENCE = 1.25


class _Waiting(NamedTuple):
    """A caller in line, and the time of the loop's clock until which its turn must come."""

    turn: asyncio.Future[None]
    until: float | None


class Limiter:
    """Places for so many at once, and a line in front of them.

    The line is as long as callers have time: a caller is refused at once where, at the recent
    rate, its turn would come too late, and leaves the line when that turns out later. Bound to the
    event loop of the first caller.

    Parameters
    ----------
    places
        How many have a turn at once; >= 1.
    of
        What the turn is for, in the error: ``session``.
    assumed_s
        How long a turn is taken to last before the first turns have ended; seconds, > 0.

    Attributes
    ----------
    taken
        How many have a turn now.
    """

    def __init__(self, places: int, *, of: str, assumed_s: float) -> None:
        self.taken = 0
        self._places = places
        self._of = of
        self._loop: asyncio.AbstractEventLoop | None = None
        self._line: deque[_Waiting] = deque()
        # Time from the end of a turn to the next end, while others were waiting. The first entries
        # are a guess, so that a few turns alone don't decide.
        self._apart_s = deque([assumed_s / places] * places, maxlen=_REMEMBERED * places)
        self._lasted_s: deque[float] = deque(maxlen=_REMEMBERED * places)
        self._full_since = 0.0

    @property
    def waiting(self) -> int:
        """How many wait for a turn."""
        return len(self._line)

    @property
    def lasting_s(self) -> float:
        """Time that a turn took recently; seconds, 0 where none has ended."""
        return fmean(self._lasted_s) if self._lasted_s else 0.0

    @property
    def each_s(self) -> float:
        """Time in which the line moves on by one, at the recent rate; seconds."""
        return fmean(self._apart_s)

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
        loop = self._own_loop()
        if self.taken < self._places:
            self.taken += 1
        else:
            await self._wait(until)
        started = loop.time()
        counts = True
        try:
            yield
        except OverloadedError:  # refused further on: that says nothing about how long turns last
            counts = False
            raise
        finally:
            if counts:
                self._remember(started, loop.time())
            self._pass_on()

    async def _wait(self, until: float | None) -> None:
        """Stand in line until another caller passes its place on."""
        loop = asyncio.get_running_loop()
        wait_s, left_s = (self.waiting + 1) * self.each_s, _left(until, loop)
        if wait_s > left_s:
            raise self._overloaded("the line is too long", wait_s, left_s)
        if not self._line:
            self._full_since = loop.time()
        mine = _Waiting(loop.create_future(), until)
        self._line.append(mine)
        since = loop.time()
        try:
            async with asyncio.timeout_at(until):
                await mine.turn
        except (TimeoutError, asyncio.CancelledError) as exc:
            if mine in self._line:
                self._line.remove(mine)
            elif _was_given(mine):  # the place came at the same moment
                self._pass_on()
            if isinstance(exc, asyncio.CancelledError):
                raise
            why = f"it did not come within {loop.time() - since:.1f} s"
            raise self._overloaded(why, (self.waiting + 1) * self.each_s, 0.0) from exc

    def _pass_on(self) -> None:
        """Give the place to the first in line; send those away whose turn would come too late."""
        while self._line:
            first = self._line.popleft()
            if not first.turn.done():  # done: it was cancelled, and has not run since
                first.turn.set_result(None)
                self._thin_out()
                return
        self.taken -= 1

    def _thin_out(self) -> None:
        loop, each_s = asyncio.get_running_loop(), self.each_s
        staying: deque[_Waiting] = deque()
        leaving: list[tuple[_Waiting, float, float]] = []
        for one in self._line:
            if one.turn.done():
                continue
            wait_s, left_s = (len(staying) + 1) * each_s, _left(one.until, loop)
            if wait_s > _PATIENCE * left_s:
                leaving.append((one, wait_s, left_s))
            else:
                staying.append(one)
        self._line = staying
        for one, wait_s, left_s in leaving:
            one.turn.set_exception(self._overloaded("the line moves on too slowly", wait_s, left_s))

    def _remember(self, started: float, now: float) -> None:
        """Note how long the turn took, and how soon after the last one it ended."""
        self._lasted_s.append(now - started)
        if self._line:
            self._apart_s.append(now - self._full_since)
            self._full_since = now

    def _overloaded(self, why: str, wait_s: float, left_s: float) -> OverloadedError:
        retry_s = max(wait_s - max(left_s, 0.0), self.each_s)
        return OverloadedError(
            f"no turn for a {self._of} in time, {why}: {self._places} are at work and "
            f"{self.waiting} wait, about {wait_s:.1f} s for this call: call again in "
            f"{retry_s:.1f} s, give more time, or send fewer calls at once",
            retry_after_s=retry_s,
        )

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise ClosedError(
                "used from another event loop than before: make one retriever per event loop"
            )
        return loop


def _left(until: float | None, loop: asyncio.AbstractEventLoop) -> float:
    return float("inf") if until is None else until - loop.time()


def _was_given(one: _Waiting) -> bool:
    return one.turn.done() and not one.turn.cancelled() and one.turn.exception() is None
