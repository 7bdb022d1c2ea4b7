"""Warnings that would repeat with every call come once a minute."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from memoria._support.throttling import Throttle

log = logging.getLogger("memoria.test_seldom")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


def test_the_same_warning_comes_once_a_minute_and_says_how_many_were_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    throttle = Throttle(clock=clock)
    for _ in range(5):
        throttle.warn(log, "the embedder %s", "failed")
        clock.now += 10
    assert said(caplog) == ["the embedder failed"]
    clock.now += 10  # a minute after the first
    throttle.warn(log, "the embedder %s", "took too long")
    assert said(caplog)[1:] == ["the embedder took too long (4 such warnings left out before)"]
    clock.now += 60
    throttle.warn(log, "the embedder %s", "failed")
    assert said(caplog)[2:] == ["the embedder failed"]


def test_other_warnings_are_not_held_back(caplog: pytest.LogCaptureFixture) -> None:
    throttle = Throttle(clock=Clock())
    for text in ("one", "two", "one", "two", "two"):
        throttle.warn(log, text)
    assert said(caplog) == ["one", "two"]
    throttle.warn(logging.getLogger("memoria.other"), "one")
    assert said(caplog) == ["one", "two", "one"]


def test_one_left_out_is_counted_as_one(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    throttle = Throttle(clock=clock)
    for _ in range(2):
        throttle.warn(log, "slow")
    clock.now += 61
    throttle.warn(log, "slow")
    assert said(caplog) == ["slow", "slow (1 such warning left out before)"]


def test_many_threads_warn_once(caplog: pytest.LogCaptureFixture) -> None:
    throttle = Throttle(clock=Clock())
    with ThreadPoolExecutor(8) as pool:
        for _ in range(200):
            pool.submit(throttle.warn, log, "slow")
    assert said(caplog) == ["slow"]


def test_a_warning_that_nobody_hears_is_not_counted(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    throttle = Throttle(clock=clock)
    with caplog.at_level(logging.ERROR, logger=log.name):
        for _ in range(3):
            throttle.warn(log, "slow")
    throttle.warn(log, "slow")
    assert said(caplog) == ["slow"]
