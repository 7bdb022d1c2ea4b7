"""Let a limited number of callers work at once; the others wait in the order of their calls.

In: a call, and the time until which its turn must come. Out: the turn, or an error if the turn
would come too late. Touches nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from statistics import fmean
from typing import NamedTuple

from memoria.errors import ClosedError, OverloadedError

# The recent rate is measured over this many turns for each place.
_REMEMBERED = 4
# A waiting caller is sent away when its estimated wait is more than this many times the time it
# has left. The factor is above 1 because the rate is an estimate, and a short slowdown should not
# empty the line.
_PATIENCE = 1.25


class _Waiting(NamedTuple):
    """A caller in line, and the time of the loop's clock until which its turn must come."""

    turn: asyncio.Future[None]
    until: float | None


class Limiter:
    """A number of places for callers, and a line in front of them.

    The time of the callers bounds the line. If, at the recent rate, the turn of a caller would
    come too late, the caller is refused at once; if the line slows down later, the caller is sent
    away then. A limiter is bound to the event loop of its first caller.

    Parameters
    ----------
    places
        How many callers have a turn at once; >= 1.
    of
        What a turn is for, such as ``session``; the error names it.
    assumed_s
        Assumed length of a turn until the first turns have ended; seconds, > 0.

    Attributes
    ----------
    taken
        How many callers have a turn now.
    """

    def __init__(self, places: int, *, of: str, assumed_s: float) -> None:
        self.taken = 0
        self._places = places
        self._of = of
        self._loop: asyncio.AbstractEventLoop | None = None
        self._line: deque[_Waiting] = deque()
        # Times between the ends of two turns when all places are taken. The list begins with
        # assumed values, so that the first few turns don't decide the rate alone.
        self._apart_s = deque([assumed_s / places] * places, maxlen=_REMEMBERED * places)
        self._lasted_s: deque[float] = deque(maxlen=_REMEMBERED * places)
        self._full_since = 0.0

    @property
    def waiting(self) -> int:
        """How many callers wait for a turn."""
        return len(self._line)

    @property
    def lasting_s(self) -> float:
        """Mean length of the recent turns; seconds, 0 if no turn has ended yet."""
        return fmean(self._lasted_s) if self._lasted_s else 0.0

    @property
    def each_s(self) -> float:
        """Time after which the next caller in line gets a turn, at the recent rate; seconds."""
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
            At the recent rate the line is too long, or the turn did not come in time.
        ClosedError
            The limiter belongs to another event loop.
        """
        started = await self.enter(until)
        counts = True
        try:
            yield
        except OverloadedError:  # another limiter refused it: its length says nothing about turns
            counts = False
            raise
        finally:
            self.leave(started, counts=counts)

    async def enter(self, until: float | None) -> float:
        """Wait for a place, and take it; return the time of the loop's clock. See `turn`."""
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop = loop
        if self._loop is not loop:
            raise ClosedError(
                "this store belongs to another event loop: make one store for each event loop"
            )
        if self.taken < self._places:
            self.taken += 1
        else:
            await self._wait(until)
        return loop.time()

    def leave(self, started: float, *, counts: bool = True) -> None:
        """Give the place of `enter` back.

        Parameters
        ----------
        counts
            Whether the length of the turn says how long turns last.
        """
        if counts:
            now = asyncio.get_running_loop().time()
            self._lasted_s.append(now - started)
            if self._line:
                self._apart_s.append(now - self._full_since)
                self._full_since = now
            else:  # nobody waits: if all places were taken, such turns would end this far apart
                self._apart_s.append((now - started) / self._places)
        if self._line:
            self._pass_on()
        else:
            self.taken -= 1

    async def _wait(self, until: float | None) -> None:
        """Wait in line until another caller passes its place on."""
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
            elif _was_given(mine):  # the place was given at the moment the wait ended
                self._pass_on()
            if isinstance(exc, asyncio.CancelledError):
                raise
            why = f"it did not come within {loop.time() - since:.1f} s"
            raise self._overloaded(why, (self.waiting + 1) * self.each_s, 0.0) from exc

    def _pass_on(self) -> None:
        """Give the place to the first in line; send those away whose turn would come too late."""
        while self._line:
            first = self._line.popleft()
            # A turn that is done belongs to a cancelled caller, whose task has not run since.
            if not first.turn.done():
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

    def _overloaded(self, why: str, wait_s: float, left_s: float) -> OverloadedError:
        retry_s = max(wait_s - max(left_s, 0.0), self.each_s)
        return OverloadedError(
            f"no turn for a {self._of} in time, {why}: {self._places} at work, "
            f"{self.waiting} in line; this call would wait about {wait_s:.1f} s: call again in "
            f"{retry_s:.1f} s, give more time, or send fewer calls at once",
            retry_after_s=retry_s,
        )


def _left(until: float | None, loop: asyncio.AbstractEventLoop) -> float:
    return float("inf") if until is None else until - loop.time()


def _was_given(one: _Waiting) -> bool:
    return one.turn.done() and not one.turn.cancelled() and one.turn.exception() is None
