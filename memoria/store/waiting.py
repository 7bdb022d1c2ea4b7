"""Wait for the driver for a limited time, whatever it does with a cancellation.

In: a coroutine of the driver. Out: its result. Touches nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

# A task of the driver that is told to end is told again after this time, so many times; seconds.
_ENDING_S, _ENDINGS = 0.1, 3


async def within(timeout_s: float, work: Coroutine[Any, Any, T], *, drop: Callable[[], None]) -> T:
    """Await ``work`` in a separate task, for at most ``timeout_s``.

    ``asyncio.timeout`` does not work here. When the driver's task is cancelled, the driver may
    cancel that task again, which ``asyncio.timeout`` takes for a cancellation by the caller; or it
    may raise an error of its own. The separate task keeps both inside. After a timeout the
    connection can't be used any more: cancel the session.

    Parameters
    ----------
    drop
        Drops the connection; called for work that does not end when it is cancelled.

    Raises
    ------
    TimeoutError
        The work took longer, or the driver cancelled it.
    """
    task = asyncio.create_task(work)
    try:
        await asyncio.wait([task], timeout=timeout_s)
        if task.done() and not task.cancelled():
            return task.result()
        raise TimeoutError
    finally:
        await end(task, drop=drop)


async def end(task: asyncio.Task[Any], *, drop: Callable[[], None]) -> None:
    """Cancel a task of the driver, and wait a moment until it is over; nobody waits for longer.

    The driver sometimes takes a cancellation for its own, and goes on waiting for a server that
    does not answer; it ends when its connection is gone.
    """
    for _ in range(_ENDINGS):
        if task.done():
            break
        task.cancel()
        await asyncio.wait([task], timeout=_ENDING_S)
        if not task.done():
            drop()
    task.add_done_callback(_see)


def _see(task: asyncio.Task[Any]) -> None:
    """Mark the error of a task as seen: after a cancellation it says nothing."""
    if not task.cancelled():
        task.exception()
