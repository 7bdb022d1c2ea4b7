"""The clock of tests that do not wait: it jumps from timer to timer, in their order."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.clock import without_waiting


@without_waiting
async def test_an_hour_passes_at_once_and_timers_keep_their_order() -> None:
    loop, began, woken = asyncio.get_running_loop(), time.monotonic(), []

    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds)
        woken.append((seconds, loop.time()))

    await asyncio.gather(*(sleep(seconds) for seconds in (3_600, 0.5, 60)))
    assert woken == [(0.5, 0.5), (60, 60), (3_600, 3_600)]
    assert time.monotonic() - began < 60


@without_waiting
async def test_a_limit_ends_what_takes_longer_and_nothing_else() -> None:
    async with asyncio.timeout(1):
        await asyncio.sleep(0.999)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await asyncio.sleep(1.001)
    assert asyncio.get_running_loop().time() == pytest.approx(1.999)


@pytest.mark.parametrize("given", [1, 2])
def test_a_test_gets_its_arguments_and_fails_as_any_other(given: int) -> None:
    @without_waiting
    async def test(number: int) -> None:
        await asyncio.sleep(1)
        assert number == 1

    if given == 1:
        test(number=given)
    else:
        with pytest.raises(AssertionError):
            test(number=given)
