"""A loop in a thread of its own: every caller gets a result or an error, and nothing is left."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

import pytest

from memoria._support.loop_thread import LoopThread
from memoria.errors import ClosedError, UnavailableError

HANG_S = 30.0


class Resource:
    """What is open in the loop; notes what became of it."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.waiting = threading.Event()
        self.closed = threading.Event()

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Resource]:
        self.events.append("opened")
        try:
            yield self
        finally:
            self.events.append("closed")
            self.closed.set()

    async def wait(self) -> None:
        try:
            self.waiting.set()
            await asyncio.sleep(10 * HANG_S)
        finally:
            self.events.append("call ended")


@pytest.fixture
def resource() -> Iterator[Resource]:
    before = threading.active_count()
    yield Resource()
    for _ in range(600):
        if threading.active_count() <= before:
            return
        time.sleep(0.05)
    raise AssertionError(f"threads are left: {threading.enumerate()}")


@pytest.fixture
def keyboard() -> Iterator[None]:
    """Ctrl-C interrupts, also where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def in_a_thread(call: Callable[[], object], *, daemon: bool = False) -> list[BaseException]:
    """Make the call in another thread, wait until it has ended, and return its error."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as exc:  # noqa: BLE001  # the test looks at it
            errors.append(exc)

    thread = threading.Thread(target=run, daemon=daemon)
    thread.start()
    thread.join(HANG_S)
    assert not thread.is_alive()
    return errors


def test_a_call_returns_the_result_of_the_coroutine(resource: Resource) -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    thread = LoopThread(resource.opened())
    assert thread.resource is resource
    assert thread.run(answer) == 42
    thread.close()
    thread.close()
    assert resource.events == ["opened", "closed"]


async def test_a_caller_in_another_loop_awaits_and_its_loop_goes_on(resource: Resource) -> None:
    thread = LoopThread(resource.opened())
    waiting = asyncio.create_task(thread.call(resource.wait))
    await asyncio.sleep(0)  # starts the call; this loop goes on meanwhile
    assert resource.waiting.wait(HANG_S)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    thread.close()
    assert resource.events == ["opened", "call ended", "closed"]


async def test_closing_ends_a_call_that_awaits_with_an_error_of_its_own(resource: Resource) -> None:
    thread = LoopThread(resource.opened())
    waiting = asyncio.create_task(thread.call(resource.wait))
    await asyncio.sleep(0)
    assert resource.waiting.wait(HANG_S)
    thread.close()
    with pytest.raises(ClosedError, match="while this call waited"):
        await waiting
    with pytest.raises(ClosedError, match="was closed: open another one"):
        await thread.call(resource.wait)


def test_an_error_keeps_its_type_and_a_readable_traceback(resource: Resource) -> None:
    async def fail_in_the_loop() -> None:
        await asyncio.sleep(0)
        raise UnavailableError("the server went away", query="strategies.level")

    thread = LoopThread(resource.opened())
    with pytest.raises(UnavailableError, match="the server went away") as caught:
        thread.run(fail_in_the_loop)
    thread.close()
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[0] == "test_an_error_keeps_its_type_and_a_readable_traceback"
    assert names[-1] == "fail_in_the_loop"
    assert caught.value.__context__ is None  # nothing of "During handling of ..."
    assert caught.value.query == "strategies.level"


@pytest.mark.usefixtures("resource")
def test_an_error_while_opening_is_raised_and_leaves_no_thread() -> None:
    @asynccontextmanager
    async def closed_door() -> AsyncIterator[None]:
        raise UnavailableError("no database")
        yield

    with pytest.raises(UnavailableError, match="no database"):
        LoopThread(closed_door())


@pytest.mark.usefixtures("resource")
@pytest.mark.parametrize("error", [asyncio.CancelledError, KeyboardInterrupt, SystemExit])
def test_whatever_ends_the_opening_reaches_the_caller(error: type[BaseException]) -> None:
    @asynccontextmanager
    async def cancelled_door() -> AsyncIterator[None]:
        raise error
        yield

    def opening() -> None:
        LoopThread(cancelled_door())

    assert [type(each) for each in in_a_thread(opening, daemon=True)] == [error]


@pytest.mark.usefixtures("resource")
def test_an_error_while_closing_is_raised_by_close() -> None:
    @asynccontextmanager
    async def stuck_door() -> AsyncIterator[None]:
        yield
        raise UnavailableError("it does not shut")

    thread = LoopThread(stuck_door())
    with pytest.raises(UnavailableError, match="does not shut"):
        thread.close()


@pytest.mark.usefixtures("keyboard")
def test_ctrl_c_ends_the_call_and_the_thread_still_closes(resource: Resource) -> None:
    thread = LoopThread(resource.opened())

    def press() -> None:
        resource.waiting.wait(HANG_S)
        time.sleep(0.2)  # Python loses a signal that comes just before a thread begins to wait
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    pressing = threading.Thread(target=press)
    pressing.start()
    with pytest.raises(KeyboardInterrupt):
        thread.run(resource.wait)
    pressing.join()
    thread.close()
    assert resource.events == ["opened", "call ended", "closed"]


@pytest.mark.usefixtures("keyboard")
def test_ctrl_c_while_it_opens_closes_what_opens_after_all(resource: Resource) -> None:
    @asynccontextmanager
    async def slow_door() -> AsyncIterator[None]:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        await asyncio.sleep(0.2)
        async with resource.opened():
            yield

    with pytest.raises(KeyboardInterrupt):
        LoopThread(slow_door())
    assert resource.closed.wait(HANG_S)


def test_closing_ends_the_calls_that_wait_before_it_closes_the_resource(
    resource: Resource,
) -> None:
    thread = LoopThread(resource.opened())

    def close_later() -> None:
        resource.waiting.wait(HANG_S)
        thread.close()

    closing = threading.Thread(target=close_later)
    closing.start()
    with pytest.raises(ClosedError, match="while this call waited"):
        thread.run(resource.wait)
    closing.join()
    assert resource.events == ["opened", "call ended", "closed"]


def test_a_call_after_closing_is_refused(resource: Resource) -> None:
    thread = LoopThread(resource.opened())
    thread.close()
    with pytest.raises(ClosedError, match="open another one"):
        thread.run(resource.wait)


@pytest.mark.usefixtures("resource")
def test_calls_that_race_with_closing_get_a_result_or_closed_error() -> None:
    async def answer() -> int:
        await asyncio.sleep(0.001)
        return 42

    for _ in range(20):
        thread = LoopThread(Resource().opened())

        def call(_: int, thread: LoopThread[Resource] = thread) -> object:
            try:
                return thread.run(answer)
            except ClosedError:
                return "closed"

        with ThreadPoolExecutor(16) as pool:
            results = [pool.submit(call, number) for number in range(64)]
            thread.close()
            assert {each.result(HANG_S) for each in results} <= {42, "closed"}


def test_a_call_from_its_own_loop_is_refused_instead_of_waiting_forever(
    resource: Resource,
) -> None:
    thread = LoopThread(resource.opened())

    async def call_again() -> None:
        thread.run(resource.wait)

    with pytest.raises(ClosedError, match="from inside the event loop"):
        thread.run(call_again)
    thread.close()


def test_it_works_where_a_loop_is_running(resource: Resource) -> None:
    async def answer() -> int:
        return 42

    async def cell_of_a_notebook() -> int:
        thread = LoopThread(resource.opened())
        try:
            return thread.run(answer)
        finally:
            thread.close()

    assert asyncio.run(cell_of_a_notebook()) == 42


def test_what_is_dropped_without_closing_closes_by_itself(resource: Resource) -> None:
    thread = LoopThread(resource.opened())
    del thread
    gc.collect()
    assert resource.closed.wait(HANG_S)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_a_forked_process_is_told_to_open_another_one(resource: Resource) -> None:
    thread = LoopThread(resource.opened())
    child = os.fork()
    if child == 0:
        try:
            thread.close()  # touches nothing of the parent
            thread.run(resource.wait)
        except ClosedError as exc:
            os._exit(7 if "forked" in str(exc) else 1)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert resource.events == ["opened"]
    thread.close()


def test_context_variables_of_the_caller_reach_the_loop(resource: Resource) -> None:
    from contextvars import ContextVar

    request = ContextVar[str]("request")

    async def read() -> str:
        return request.get()

    thread = LoopThread(resource.opened())
    request.set("r1")
    assert thread.run(read) == "r1"
    assert in_a_thread(lambda: thread.run(read)) != []  # that thread has set nothing
    thread.close()
