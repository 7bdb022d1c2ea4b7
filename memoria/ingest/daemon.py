"""Run a blocking call that may never return, so that the program can end without it.

In: a call. Out: its result or error. Touches: one thread per call.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

T = TypeVar("T")


async def in_daemon_thread(call: Callable[[], T]) -> T:
    """Run a call in a daemon thread, and wait for its result.

    If the waiting task is cancelled, the call runs until it returns or the process ends; its
    result is dropped. With ``asyncio.to_thread``, ``asyncio.run`` would wait for the call.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def deliver(outcome: Callable[[], None]) -> None:
        if not future.done():
            outcome()

    def work() -> None:
        try:
            outcome = partial(future.set_result, call())
        except BaseException as exc:  # noqa: BLE001 - the waiting task raises it
            outcome = partial(future.set_exception, exc)
        with contextlib.suppress(RuntimeError):  # the loop was closed in the meantime
            loop.call_soon_threadsafe(deliver, outcome)

    threading.Thread(target=work, name="memoria-read", daemon=True).start()
    return await future
