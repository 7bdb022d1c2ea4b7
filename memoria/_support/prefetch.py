"""Do one piece of work in advance, while something else is waited for.

In: a coroutine. Out: its result, when it is asked for. Touches nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Generic, Self, TypeVar

T = TypeVar("T")


class Prefetch(Generic[T]):
    """Runs at most one piece of work next to its owner, who asks for the result before the next.

    Work that has no result may run as long as the block. An error of the work is raised where the
    result is asked for. Whoever leaves the ``async with``
    block leaves no work behind: it is cancelled, and has ended then.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[T] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def start(self, work: Coroutine[Any, Any, T]) -> None:
        """Begin a piece of work; the result of the one before was asked for."""
        self._task = asyncio.create_task(work)

    async def result(self) -> T:
        """Wait for the work that was started, and return its result."""
        if self._task is None:
            raise RuntimeError("nothing was started")
        task, self._task = self._task, None
        return await task
