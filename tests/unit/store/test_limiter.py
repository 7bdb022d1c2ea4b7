"""A limiter serves in order, and refuses at once whoever would wait too long."""

from __future__ import annotations

import asyncio

import pytest

from memoria.errors import OverloadedError
from memoria.store.limiter import Limiter
from tests.clock import without_waiting

SOON_S = 0.1
ASSUMED_S = 0.5


def now() -> float:
    return asyncio.get_running_loop().time()


async def hold(limiter: Limiter, seconds: float, until: float | None = None) -> float:
    """Take a turn for so long; return when it began."""
    async with limiter.turn(until):
        started = now()
        await asyncio.sleep(seconds)
        return started


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


@without_waiting
async def test_turns_are_given_in_the_order_of_asking() -> None:
    limiter = Limiter(2, of="recall", assumed_s=ASSUMED_S)
    starts = await asyncio.gather(*(hold(limiter, 0.002) for _ in range(20)))
    assert starts == sorted(starts)
    assert (limiter.taken, limiter.waiting) == (0, 0)


@without_waiting
async def test_a_free_place_is_given_however_little_time_is_left() -> None:
    limiter = Limiter(1, of="recall", assumed_s=ASSUMED_S)
    await hold(limiter, 0.0, until=now() - 1)


@without_waiting
async def test_before_any_turn_has_ended_a_guess_decides_how_long_the_line_may_be() -> None:
    limiter = Limiter(2, of="recall", assumed_s=ASSUMED_S)
    held = [asyncio.create_task(hold(limiter, 10)) for _ in range(2)]
    await settle()
    each_s = ASSUMED_S / 2
    waiting = [asyncio.create_task(hold(limiter, 0, now() + 4.5 * each_s)) for _ in range(10)]
    await settle()
    refused = [task for task in waiting if task.done()]
    assert len(refused) == 6, "four fit: the fifth would wait for five times the guess"
    for task in (*held, *waiting):
        task.cancel()
    await asyncio.gather(*held, *waiting, return_exceptions=True)
    assert (limiter.taken, limiter.waiting) == (0, 0)


@without_waiting
async def test_who_would_wait_too_long_at_the_recent_rate_is_refused_at_once() -> None:
    limiter = Limiter(2, of="recall", assumed_s=ASSUMED_S)
    await asyncio.gather(*(hold(limiter, 0.02) for _ in range(40)))  # one each 0.01 s
    waiting = [asyncio.create_task(hold(limiter, 0.02)) for _ in range(52)]
    await settle()
    started = now()
    with pytest.raises(OverloadedError, match="line is too long: 2 at work, 50 in line") as caught:
        await hold(limiter, 0, until=now() + 0.2)
    assert now() - started < SOON_S
    assert caught.value.retryable
    assert caught.value.retry_after_s is not None
    assert 0.1 < caught.value.retry_after_s < 2
    await hold(limiter, 0, until=now() + 30)
    await asyncio.gather(*waiting)


@without_waiting
async def test_the_rate_follows_when_turns_become_slower() -> None:
    limiter = Limiter(1, of="recall", assumed_s=ASSUMED_S)
    await asyncio.gather(*(hold(limiter, 0.001) for _ in range(10)))
    fast_s = limiter.lasting_s
    await asyncio.gather(*(hold(limiter, 0.05) for _ in range(6)))
    assert limiter.lasting_s > 5 * fast_s
    waiting = [asyncio.create_task(hold(limiter, 0.05)) for _ in range(5)]
    await settle()
    assert limiter.each_s > 0.03
    await asyncio.gather(*waiting)


@without_waiting
async def test_time_in_which_nobody_waited_does_not_count() -> None:
    limiter = Limiter(1, of="recall", assumed_s=0.01)
    await asyncio.sleep(0.2)
    before = now()
    await asyncio.gather(*(hold(limiter, 0.01) for _ in range(2)))
    assert limiter.each_s <= now() - before


@without_waiting
async def test_a_turn_that_does_not_come_in_time_is_refused_then() -> None:
    limiter = Limiter(1, of="session", assumed_s=ASSUMED_S)
    await asyncio.gather(*(hold(limiter, 0.001) for _ in range(10)))
    held = asyncio.create_task(hold(limiter, 10))
    await settle()
    started = now()
    with pytest.raises(OverloadedError, match=r"session in time, it did not come within 0\.\d s"):
        await hold(limiter, 0, until=now() + 0.05)
    assert 0.04 < now() - started < 0.05 + SOON_S
    held.cancel()


@without_waiting
async def test_who_gives_up_leaves_the_line() -> None:
    limiter = Limiter(1, of="recall", assumed_s=ASSUMED_S)
    held = asyncio.create_task(hold(limiter, 10))
    waiting = asyncio.create_task(hold(limiter, 10))
    await settle()
    assert (limiter.taken, limiter.waiting) == (1, 1)
    waiting.cancel()
    await settle()
    assert (limiter.taken, limiter.waiting) == (1, 0)
    held.cancel()
    await settle()
    await hold(limiter, 0, until=now() + 1)


@without_waiting
async def test_who_can_no_longer_be_served_in_time_leaves_the_line_early() -> None:
    limiter = Limiter(1, of="recall", assumed_s=0.001)
    until = now() + 1.0
    started = now()
    first = [asyncio.create_task(hold(limiter, 0.1)) for _ in range(4)]
    await settle()
    late = [asyncio.create_task(hold(limiter, 0.1, until)) for _ in range(60)]
    done = await asyncio.gather(*late, return_exceptions=True)
    refused = [each for each in done if isinstance(each, OverloadedError)]
    assert 45 <= len(refused) <= 58, "about six were served before their time was up"
    assert any("moves on too slowly" in str(each) for each in refused)
    assert isinstance(done[-1], OverloadedError)
    assert max(each for each in done if isinstance(each, float)) < until
    assert now() - started < 2
    await asyncio.gather(*first)


@without_waiting
async def test_a_place_given_to_who_is_cancelled_at_that_moment_is_passed_on() -> None:
    limiter = Limiter(1, of="recall", assumed_s=ASSUMED_S)
    release = asyncio.Event()

    async def wait_for_release() -> None:
        async with limiter.turn(None):
            await release.wait()

    held = asyncio.create_task(wait_for_release())
    await settle()
    cancelled = asyncio.create_task(hold(limiter, 10))
    last = asyncio.create_task(hold(limiter, 0))
    await settle()
    release.set()
    while limiter.waiting == 2:  # noqa: ASYNC110  # one step at a time
        await asyncio.sleep(0)
    cancelled.cancel()  # it has been given the place, and has not run yet
    await asyncio.wait([held, cancelled, last], timeout=5)
    assert last.done()
    assert (limiter.taken, limiter.waiting) == (0, 0)


@without_waiting
async def test_who_is_cancelled_when_sent_away_gives_no_place_back() -> None:
    limiter = Limiter(1, of="recall", assumed_s=0.001)
    until = now() + 1.1
    held = asyncio.create_task(hold(limiter, 0.8))
    await settle()
    following = asyncio.create_task(hold(limiter, 10))
    late = asyncio.create_task(hold(limiter, 0, until))
    await asyncio.sleep(0.8)
    while limiter.waiting:  # noqa: ASYNC110  # one step at a time
        await asyncio.sleep(0)
    late.cancel()  # it was sent away when the other got the place, and has not run yet
    await asyncio.wait([late])
    assert (limiter.taken, limiter.waiting) == (1, 0)
    following.cancel()
    await asyncio.gather(held, following, return_exceptions=True)
    assert limiter.taken == 0


@without_waiting
async def test_who_stands_behind_a_caller_cancelled_at_that_moment_keeps_its_place() -> None:
    limiter = Limiter(1, of="recall", assumed_s=ASSUMED_S)
    async with limiter.turn(None):
        first, cancelled, last = (asyncio.create_task(hold(limiter, 0)) for _ in range(3))
        await settle()
        cancelled.cancel()  # it has not run since, so it still stands in line
    await asyncio.wait([first, cancelled, last], timeout=5)
    assert last.done(), "it would wait for ever"
    assert (limiter.taken, limiter.waiting) == (0, 0)


@without_waiting
async def test_who_waited_in_vain_is_told_when_the_line_will_be_over() -> None:
    limiter = Limiter(1, of="recall", assumed_s=0.01)
    held = asyncio.create_task(hold(limiter, 10))
    await settle()
    waiting = [asyncio.create_task(hold(limiter, 0)) for _ in range(3)]
    await settle()
    with pytest.raises(OverloadedError, match="did not come within") as caught:
        await hold(limiter, 0, until=now() + 0.3)
    assert caught.value.retry_after_s == pytest.approx(0.04), "three stand before it"
    for task in (held, *waiting):
        task.cancel()
    await asyncio.gather(held, *waiting, return_exceptions=True)


@without_waiting
async def test_a_refusal_within_a_turn_does_not_count_as_a_short_turn() -> None:
    limiter = Limiter(1, of="recall", assumed_s=ASSUMED_S)
    await hold(limiter, 0.02)
    before_s = limiter.lasting_s
    with pytest.raises(OverloadedError):
        async with limiter.turn(None):
            raise OverloadedError("no room further on")
    assert limiter.lasting_s == before_s


@without_waiting
async def test_the_rate_follows_when_turns_become_faster() -> None:
    limiter = Limiter(1, of="recall", assumed_s=ASSUMED_S)
    await asyncio.gather(*(hold(limiter, 0.1) for _ in range(12)))
    for _ in range(20):  # one after the other: nobody waits
        await hold(limiter, 0.0)
    held = asyncio.create_task(hold(limiter, 0.01))
    await settle()
    await hold(limiter, 0.0, until=now() + 0.09)
    await held
