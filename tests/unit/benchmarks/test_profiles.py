"""The benchmark's profile of the client."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time

import pytest

from benchmarks.race.contender import Contender, Outcome
from benchmarks.race.meter import server_cpu_s
from benchmarks.race.profiles import client_profile


def work(busy_s: float) -> None:
    until = time.process_time() + busy_s
    while time.process_time() < until:
        json.loads("[" * 50 + "]" * 50)


async def answer(busy_s: float) -> Outcome:
    work(busy_s)
    return Outcome()


async def answer_in_thread(busy_s: float) -> Outcome:
    await asyncio.to_thread(work, busy_s)
    return Outcome()


async def test_every_sample_belongs_to_one_part_and_callers_are_as_wide_as_what_they_call() -> None:
    found = await client_profile(Contender(name="busy", run=answer), [0.05] * 6, 60)
    assert found["samples"] > 10
    assert sum(found["parts"].values()) == pytest.approx(1)
    shares = {tuple(stack): share for stack, share in found["frames"]}
    assert any(stack[-1].endswith(".answer") and share > 0.5 for stack, share in shares.items())
    for stack in shares:
        called = [share for other, share in shares.items() if other[:-1] == stack]
        assert sum(called) <= shares[stack] + 1e-9


async def test_what_a_thread_does_meanwhile_is_seen() -> None:
    found = await client_profile(Contender(name="busy", run=answer_in_thread), [0.05] * 6, 60)
    assert found["samples"] > 10
    assert sum(share for stack, share in found["frames"] if stack[-1].endswith(".work")) > 0.5


def test_processor_time_of_threads_that_have_ended_counts() -> None:
    def spin() -> None:
        until = time.thread_time() + 0.2
        while time.thread_time() < until:
            pass

    before = server_cpu_s(os.getpid())
    thread = threading.Thread(target=spin)
    thread.start()
    thread.join()
    assert server_cpu_s(os.getpid()) - before >= 0.2
