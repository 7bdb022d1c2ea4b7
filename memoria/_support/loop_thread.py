"""An event loop in a thread of its own, for callers that can't wait with ``await``.

In: something to open, then coroutines from any thread. Out: their results. Starts one thread.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any, Generic, TypeVar

from memoria.errors import ClosedError

R = TypeVar("R")
T = TypeVar("T")


class LoopThread(Generic[T]):
    """An event loop in a daemon thread, and one resource that is open in it as long as it runs.

    Dropped without `close`, it closes by itself. An interpreter that exits does not wait for it.

    Parameters
    ----------
    resource
        Opened at once and in the thread; the error of a failure is raised here.

    Attributes
    ----------
    resource
        What the opening returned.
    """

    def __init__(self, resource: AbstractAsyncContextManager[T]) -> None:
        self._process = os.getpid()
        self._gate = threading.Lock()
        self._loop = asyncio.new_event_loop()
        self._ended: Future[None] = Future()
        opened: Future[T] = Future()
        stop = asyncio.Event()
        holding = _hold(resource, opened, stop)
        # The thread knows nothing of this object, which may therefore be garbage-collected.
        self._thread = threading.Thread(
            target=_serve, args=(self._loop, holding, self._ended), name="memoria", daemon=True
        )
        # Called once at most: by `close`, or when this object is garbage-collected.
        self._stop = weakref.finalize(self, _tell, self._loop, stop)
        self._stop.atexit = False
        try:
            self._thread.start()
            self.resource = opened.result()
        except BaseException:  # also Ctrl-C: what opens after all is closed at once
            self._stop()
            raise

    def run(self, start: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Run a coroutine in the loop, and wait for its result; Ctrl-C cancels the coroutine.

        Raises
        ------
        ClosedError
            The loop was closed, before or during the call, or can't work for this caller.
        """
        future: Future[R] | None = None
        try:
            future = self._submit(start)
            return future.result()
        except CancelledError:
            raise ClosedError("the connection was closed while this call waited") from None
        except BaseException:
            if future is not None:
                future.cancel()
            raise
        finally:
            del future  # else the error that it holds, and this frame, would hold each other

    async def call(self, start: Callable[[], Coroutine[Any, Any, R]]) -> R:
        """Run a coroutine in the loop for a caller in another loop, which keeps running.

        The caller waits with ``await``, and no further thread is used. Cancelling the caller
        cancels the coroutine. Errors as of `run`.
        """
        waiting = asyncio.wrap_future(self._submit(start))
        try:
            return await waiting
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise ClosedError("the connection was closed while this call waited") from None
        finally:
            del waiting  # as in `run`

    def _submit(self, start: Callable[[], Coroutine[Any, Any, R]]) -> Future[R]:
        self._check_caller()
        # What is submitted under the gate is in the loop before it is told to stop: every call
        # gets its result, or is cancelled.
        with self._gate:
            if not self._stop.alive:
                raise ClosedError("the connection was closed: open another one")
            return asyncio.run_coroutine_threadsafe(start(), self._loop)

    def close(self) -> None:
        """Cancel what runs in the loop, close the resource, end the thread. Safe to call again."""
        if os.getpid() != self._process:
            return  # the connection belongs to the process that opened it
        self._check_caller()
        with self._gate:
            self._stop()
        self._ended.result()

    def _check_caller(self) -> None:
        """Refuse the callers that would wait forever."""
        if os.getpid() != self._process:
            raise ClosedError(
                "this connection was opened before the process was forked, and its thread is not "
                "in this process: open another one here"
            )
        if threading.current_thread() is self._thread:
            raise ClosedError(
                "this call comes from inside the event loop that must answer it: an embedder or a "
                "callback can't use the connection that calls it"
            )


async def _hold(
    resource: AbstractAsyncContextManager[T], opened: Future[T], stop: asyncio.Event
) -> None:
    """Open the resource, wait until told to stop, end all other tasks, and close the resource."""
    try:
        async with resource as value:
            opened.set_result(value)
            await stop.wait()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
    except BaseException as exc:  # also a cancellation: who opens waits for this alone
        if opened.done():
            raise
        opened.set_exception(exc)


def _serve(
    loop: asyncio.AbstractEventLoop, holding: Coroutine[Any, Any, None], ended: Future[None]
) -> None:
    """Run the thread; who closes it learns how it ended."""
    try:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(holding)
    except BaseException as exc:  # noqa: BLE001  # `close` raises it
        ended.set_exception(exc)
    else:
        ended.set_result(None)


def _tell(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the opening failed, and the loop has ended by itself
        loop.call_soon_threadsafe(stop.set)
