"""One answer for all who ask at the same time; failures are not kept."""

from __future__ import annotations

import asyncio

import pytest

from memoria._support.single_flight import SingleFlight
from memoria.errors import ClosedError, DeadlineError
from tests.clock import without_waiting


class Question:
    """Counts how often it is asked; answers as told, after a while."""

    def __init__(self, *answers: str | Exception, delay_s: float = 0.01) -> None:
        self.answers = list(answers)
        self.asked = self.taken_back = 0
        self.delay_s = delay_s

    async def __call__(self) -> str:
        self.asked += 1
        try:
            await asyncio.sleep(self.delay_s)
        except asyncio.CancelledError:
            self.taken_back += 1
            raise
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def always(_: str) -> bool:
    return True


async def test_callers_of_the_same_moment_share_one_answer_and_later_ones_get_it_too() -> None:
    once, question = SingleFlight[str](), Question("yes")
    answers = await asyncio.gather(*(once.get(question, keep=always) for _ in range(20)))
    assert set(answers) == {"yes"}
    assert await once.get(question, keep=always) == "yes"
    assert question.asked == 1


async def test_an_answer_that_will_not_hold_is_asked_for_again() -> None:
    once, question = SingleFlight[str](), Question("not yet", "yes")
    for expected in ("not yet", "yes", "yes"):
        assert await once.get(question, keep=lambda answer: answer == "yes") == expected
    assert question.asked == 2


async def test_a_failure_reaches_all_who_wait_and_is_not_kept() -> None:
    once, question = SingleFlight[str](), Question(OSError("gone"), "yes")
    failed = await asyncio.gather(
        *(once.get(question, keep=always) for _ in range(5)), return_exceptions=True
    )
    assert [type(each) for each in failed] == [OSError] * 5
    assert await once.get(question, keep=always) == "yes"
    assert question.asked == 2


@without_waiting
async def test_each_caller_waits_for_its_own_time() -> None:
    once, question = SingleFlight[str](), Question("yes", delay_s=0.2)
    now = asyncio.get_running_loop().time()
    patient = asyncio.create_task(once.get(question, keep=always))
    with pytest.raises(DeadlineError):
        await once.get(question, keep=always, until=now + 0.01)
    assert asyncio.get_running_loop().time() == pytest.approx(now + 0.01)
    assert await patient == "yes"
    assert question.asked == 1


@without_waiting
async def test_the_last_who_leaves_takes_the_question_back() -> None:
    once, question = SingleFlight[str](), Question("yes", "yes", delay_s=0.05)
    callers = [asyncio.create_task(once.get(question, keep=always)) for _ in range(3)]
    await asyncio.sleep(0.01)
    for caller in callers:
        assert question.taken_back == 0
        caller.cancel()
        await asyncio.wait([caller])
    assert question.taken_back == 1
    assert await once.get(question, keep=always) == "yes"


async def test_an_answer_may_be_put_from_elsewhere() -> None:
    once, question = SingleFlight[str](), Question()
    once.put("known")
    assert await once.get(question, keep=always) == "known"
    assert question.asked == 0


async def test_another_event_loop_is_told_so() -> None:
    once, answered = SingleFlight[str](), asyncio.Event()

    async def question() -> str:
        await answered.wait()
        return "yes"

    first = asyncio.create_task(once.get(question, keep=always))
    await asyncio.sleep(0)

    def elsewhere() -> None:
        asyncio.run(once.get(question, keep=always))

    with pytest.raises(ClosedError, match="another event loop"):
        await asyncio.to_thread(elsewhere)
    answered.set()
    assert await first == "yes"


@without_waiting
async def test_who_waited_for_an_earlier_question_takes_no_later_one_back() -> None:
    once, question = SingleFlight[str](), Question("yes", delay_s=0.05)
    later: list[asyncio.Task[str]] = []

    async def fail() -> str:
        await asyncio.sleep(0)
        # It asks anew before those who wait for this failure go on.
        later.append(asyncio.create_task(once.get(question, keep=always)))
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await once.get(fail, keep=always)
    later.append(asyncio.create_task(once.get(question, keep=always)))
    await asyncio.sleep(0.01)
    later[1].cancel()
    assert await later[0] == "yes"
    assert (question.asked, question.taken_back) == (1, 0)
