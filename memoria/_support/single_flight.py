"""One answer for all who ask at the same time, kept for those who ask later.

In: a coroutine that finds the answer. Out: the answer. Touches nothing by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memoria._support.wording import MORE_TIME
from memoria.errors import ClosedError, DeadlineError

T = TypeVar("T")


@dataclass(slots=True)
class _Question(Generic[T]):
    """A question that is being asked, and how many wait for its answer."""

    task: asyncio.Task[T]
    waiting: int = 0


class SingleFlight(Generic[T]):
    """The answer to one question: asked once at a time, and kept if it will still be right later.

    A failure is raised to all who wait for it, and is not kept: the next caller asks again.
    """

    def __init__(self) -> None:
        self._kept: list[T] = []  # at most one; a list, because None may be an answer
        self._asking: _Question[T] | None = None
        self._is_known = asyncio.Event()

    @property
    def kept(self) -> T | None:
        """The answer that is kept, if any."""
        return self._kept[0] if self._kept else None

    def put(self, answer: T) -> None:
        """Keep an answer that came about in another way."""
        self._kept = [answer]
        self._is_known.set()

    def forget(self, answer: T) -> None:
        """Drop this answer, which is no longer right; another one that came meanwhile stays."""
        self._kept = [kept for kept in self._kept if kept is not answer]

    async def known(self) -> None:
        """Wait until an answer has been kept; asks nothing."""
        await self._is_known.wait()

    async def get(
        self,
        ask: Callable[[], Coroutine[Any, Any, T]],
        *,
        keep: Callable[[T], bool],
        until: float | None = None,
    ) -> T:
        """Return the kept answer, or ask: all callers of the same moment wait for one answer.

        Parameters
        ----------
        keep
            Says whether an answer will still be right later.
        until
            Time of the loop's clock until which this caller waits; seconds. The others go on
            waiting; when the last one leaves, the question is taken back.

        Raises
        ------
        DeadlineError
            The answer did not come in time.
        ClosedError
            Another event loop is asking.
        """
        if self._kept:
            return self._kept[0]
        loop = asyncio.get_running_loop()
        if self._asking is None or self._asking.task.done():
            self._asking = _Question(loop.create_task(ask()))
        question, task = self._asking, self._asking.task
        if task.get_loop() is not loop:
            raise ClosedError(
                "this store belongs to another event loop: make one store for each event loop"
            )
        await self._wait(question, until)
        if not task.done() or task.cancelled():
            raise DeadlineError(f"the server did not answer in time: {MORE_TIME}")
        answer = task.result()
        if self._asking is question:
            self._asking = None
            if keep(answer):
                self.put(answer)
        return answer

    async def _wait(self, question: _Question[T], until: float | None) -> None:
        """Wait for the answer; the last one to leave before it comes takes the question back."""
        task = question.task
        left_s = None if until is None else until - task.get_loop().time()
        question.waiting += 1
        try:
            await asyncio.wait([task], timeout=left_s)
        finally:
            question.waiting -= 1
            if not question.waiting and not task.done():
                self._asking = None
                task.cancel()
                await asyncio.wait([task])
