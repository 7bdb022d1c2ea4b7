"""Hand over results one by one, from a background task to the caller who iterates.

In: a coroutine that emits items and returns a result. Out: an async iterator over the items.
Leaving the ``async with`` early cancels the task and waits until it has released its sessions.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from memoria.errors import ClosedError

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _End:
    """The last entry of the queue, which says how the producer ended."""

    result: Any = None
    error: Exception | None = None


class Stream(AsyncIterator[T], Generic[T, R]):
    """The items of a running producer, in the order in which the producer emits them.

    Iterate over it with ``async for``. Inside ``async with``, an early exit ends the producer at
    once; without it, the producer ends when the iterator is garbage-collected. The producer starts
    when the first item is asked for. The queue is not bounded because the settings of an
    exploration bound the number of its paths.

    Parameters
    ----------
    produce
        Called once, with a function that accepts each item. Its return value becomes `result`.
    """

    def __init__(self, produce: Callable[[Callable[[T], None]], Coroutine[Any, Any, R]]) -> None:
        self._produce = produce
        self._queue: asyncio.Queue[T | _End] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None
        self._end: _End | None = None

    async def __anext__(self) -> T:
        if self._end is not None:
            raise StopAsyncIteration
        if self._task is None:
            self._task = asyncio.create_task(_drive(self._produce, self._queue))
        try:
            item = await self._queue.get()
        except asyncio.CancelledError:
            await self.aclose()
            raise
        if not isinstance(item, _End):
            return item
        self._queue.put_nowait(item)  # another task may wait for the same stream
        if self._end is not None:
            raise StopAsyncIteration
        self._end = item
        if item.error is not None:
            raise item.error
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the producer and wait until it has released its sessions. Safe to call again."""
        if self._end is None:
            self._end = _End(error=ClosedError("the stream was closed before its end"))
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        self._queue.put_nowait(self._end)

    @property
    def result(self) -> R:
        """The return value of the producer, once the stream is at its end.

        Raises
        ------
        ClosedError
            The stream has not been read to its end.
        MemoriaError
            The error with which the producer failed.
        """
        if self._end is None:
            raise ClosedError("no result yet: read the stream to its end first")
        if self._end.error is not None:
            raise self._end.error
        result: R = self._end.result
        return result

    def __del__(self) -> None:
        task = self._task
        if task is not None and not task.done() and not task.get_loop().is_closed():
            task.get_loop().call_soon_threadsafe(task.cancel)


async def _drive(
    produce: Callable[[Callable[[T], None]], Coroutine[Any, Any, R]],
    queue: asyncio.Queue[T | _End],
) -> None:
    """Run the producer.

    The task holds no reference to the stream: otherwise a stream that the caller drops would
    never be garbage-collected, and its producer would go on.
    """
    try:
        queue.put_nowait(_End(result=await produce(queue.put_nowait)))
    except asyncio.CancelledError:
        # Either the stream cancelled this task, and nobody reads the queue any more; or somebody
        # else did, and the consumer, who still waits, must be told.
        queue.put_nowait(_End(error=ClosedError("the stream was cancelled from outside")))
        raise
    except Exception as exc:  # noqa: BLE001  # the consumer raises it
        queue.put_nowait(_End(error=exc))
