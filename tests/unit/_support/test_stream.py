"""A stream hands over in order, and leaves nothing behind however its consumer goes away."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from memoria._support.stream import Stream
from memoria.errors import ClosedError, QueryError

Emit = Callable[[int], None]


class Producer:
    """Emits numbers, one per ``pause_s``, and notes how it ended."""

    def __init__(self, count: int = 3, *, pause_s: float = 0.0, error: Exception | None = None):
        self.count = count
        self.pause_s = pause_s
        self.error = error
        self.started = 0
        self.ended = ""
        self.cleaned_up = False

    async def __call__(self, emit: Emit) -> str:
        self.started += 1
        try:
            for number in range(self.count):
                await asyncio.sleep(self.pause_s)
                emit(number)
            if self.error is not None:
                raise self.error
        except asyncio.CancelledError:
            await asyncio.sleep(0.01)
            self.cleaned_up = True
            self.ended = "cancelled"
            raise
        self.ended = "done"
        return "result"


@pytest.fixture(autouse=True)
async def _nothing_is_left_behind() -> AsyncIterator[None]:
    """No task outlives its test, and no exception goes unseen."""
    loop = asyncio.get_running_loop()
    unseen: list[dict[str, Any]] = []
    before = asyncio.all_tasks()
    loop.set_exception_handler(lambda _, context: unseen.append(context))
    yield
    gc.collect(0)
    await asyncio.sleep(0)
    loop.set_exception_handler(None)
    assert not unseen
    assert not {task for task in asyncio.all_tasks() - before if "_drive" in repr(task)}


async def test_items_come_in_order_and_the_result_last() -> None:
    stream: Stream[int, str] = Stream(Producer(100))
    assert [item async for item in stream] == list(range(100))
    assert stream.result == "result"
    assert [item async for item in stream] == [], "a stream is read once"
    assert stream.result == "result"


async def test_item_arrives_before_the_producer_is_done() -> None:
    producer = Producer(2, pause_s=0.01)
    async with Stream(producer) as stream:
        assert await anext(stream) == 0
        assert producer.ended == ""
        assert await anext(stream) == 1


async def test_producer_starts_with_the_first_item_asked_for() -> None:
    producer = Producer()
    stream = Stream(producer)
    await asyncio.sleep(0.01)
    assert producer.started == 0
    assert await anext(stream) == 0
    await stream.aclose()
    assert producer.started == 1


async def test_stream_never_read_never_starts() -> None:
    producer = Producer()
    async with Stream(producer):
        pass
    assert producer.started == 0


async def test_empty_stream_ends_at_once_with_its_result() -> None:
    stream: Stream[int, str] = Stream(Producer(0))
    assert [item async for item in stream] == []
    assert stream.result == "result"


async def test_error_comes_after_the_items_before_it() -> None:
    error = QueryError("refused")
    stream: Stream[int, str] = Stream(Producer(3, error=error))
    assert [await anext(stream) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(QueryError) as caught:
        await anext(stream)
    assert caught.value is error
    assert [item async for item in stream] == []
    with pytest.raises(QueryError):
        _ = stream.result


async def test_error_that_nobody_reads_is_no_noise() -> None:
    stream: Stream[int, str] = Stream(Producer(1, error=QueryError("refused")))
    assert await anext(stream) == 0
    await asyncio.sleep(0.01)
    del stream


async def test_result_before_the_end_is_a_closed_error() -> None:
    stream: Stream[int, str] = Stream(Producer())
    with pytest.raises(ClosedError, match="read the stream to its end"):
        _ = stream.result
    await anext(stream)
    with pytest.raises(ClosedError, match="read the stream to its end"):
        _ = stream.result
    await stream.aclose()
    with pytest.raises(ClosedError, match="closed before its end"):
        _ = stream.result


async def test_aclose_cancels_the_producer_and_waits_for_it() -> None:
    producer = Producer(100, pause_s=0.005)
    stream = Stream(producer)
    await anext(stream)
    await stream.aclose()
    assert producer.cleaned_up
    assert [item async for item in stream] == []
    await stream.aclose()


async def test_aclose_after_the_end_keeps_the_result() -> None:
    stream: Stream[int, str] = Stream(Producer())
    assert len([item async for item in stream]) == 3
    await stream.aclose()
    assert stream.result == "result"


async def test_leaving_the_context_early_ends_the_producer() -> None:
    producer = Producer(100, pause_s=0.005)
    async with Stream(producer) as stream:
        async for item in stream:
            if item == 2:
                break
    assert producer.cleaned_up


async def test_exception_of_the_consumer_ends_the_producer_and_passes() -> None:
    producer = Producer(100, pause_s=0.005)

    async def consume() -> None:
        async with Stream(producer) as stream:
            async for _ in stream:
                raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await consume()
    assert producer.cleaned_up


async def test_break_and_drop_ends_the_producer() -> None:
    producer = Producer(100, pause_s=0.005)

    async def first() -> int:
        async for item in Stream(producer):
            return item
        raise AssertionError

    assert await first() == 0
    gc.collect()
    await asyncio.sleep(0.05)
    assert producer.cleaned_up


async def test_cancelling_the_consumer_ends_the_producer_before_it_returns() -> None:
    producer = Producer(100, pause_s=0.01)

    async def consume() -> None:
        async for _ in Stream(producer):
            pass

    task = asyncio.create_task(consume())
    await asyncio.sleep(0.025)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert producer.cleaned_up


async def test_timeout_around_a_stream_ends_the_producer() -> None:
    producer = Producer(100, pause_s=0.02)

    async def consume() -> None:
        async with asyncio.timeout(0.05):
            async for _ in Stream(producer):
                pass

    with pytest.raises(TimeoutError):
        await consume()
    assert producer.cleaned_up


async def test_producer_cancelled_from_elsewhere_ends_the_stream() -> None:
    async def cancelled(emit: Emit) -> None:
        emit(1)
        raise asyncio.CancelledError

    stream: Stream[int, None] = Stream(cancelled)
    async with asyncio.timeout(60):
        assert await anext(stream) == 1
        with pytest.raises(ClosedError, match="cancelled"):
            await anext(stream)
    with pytest.raises(ClosedError):
        _ = stream.result


async def test_producer_that_fails_while_it_is_cancelled_stays_quiet() -> None:
    async def stubborn(emit: Emit) -> None:
        try:
            emit(1)
            await asyncio.sleep(60)
        finally:
            raise QueryError("on the way out")

    async with Stream(stubborn) as stream:
        assert await anext(stream) == 1


async def test_many_streams_at_once_keep_their_items_apart() -> None:
    async def read(count: int) -> list[int]:
        return [item async for item in Stream(Producer(count))]

    results = await asyncio.gather(*(read(count) for count in range(50)))
    assert results == [list(range(count)) for count in range(50)]


def test_stream_dropped_after_its_loop_is_gone_is_no_noise() -> None:
    kept: list[Stream[int, str]] = []

    async def main() -> None:
        stream: Stream[int, str] = Stream(Producer(100, pause_s=0.001))
        await anext(stream)
        kept.append(stream)

    asyncio.run(main())
    kept.clear()
    gc.collect()


async def test_closing_wakes_whoever_waits_for_the_next_item() -> None:
    stream = Stream(Producer(100, pause_s=600.0))
    waiting = asyncio.ensure_future(anext(stream, None))
    await asyncio.sleep(0)
    await stream.aclose()
    assert await asyncio.wait_for(waiting, 60) is None


async def test_two_consumers_both_come_to_the_end() -> None:
    stream = Stream(Producer(3))

    async def read() -> list[int]:
        return [item async for item in stream]

    async with asyncio.timeout(60):
        one, two = await asyncio.gather(read(), read())
    assert sorted(one + two) == [0, 1, 2]
