"""Memories from the time of a question are preferred, by a bounded amount."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memoria.recall.ranking.within import LIFT, with_window
from memoria.types import TimeWindow

MAY, JUNE = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
IN_MAY = TimeWindow(phrase="in May", starts=MAY, ends=JUNE)


def test_what_is_inside_gains_the_lift_and_nothing_else_changes() -> None:
    times = [MAY, JUNE - timedelta(seconds=1), JUNE, MAY - timedelta(seconds=1), None]
    sums = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    expected = [1.0 + LIFT, 2.0 + LIFT, 3.0, 4.0, 5.0]
    assert with_window(sums, times, IN_MAY).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("window", [None, IN_MAY])
def test_without_a_window_or_with_all_inside_the_sums_stay(window: TimeWindow | None) -> None:
    sums = np.array([1.0, 2.0])
    assert with_window(sums, [MAY, MAY], window).tolist() == [1.0, 2.0]


def test_a_window_may_be_open() -> None:
    since = TimeWindow(phrase="since May", starts=MAY, ends=None)
    assert with_window(np.zeros(2), [JUNE, MAY - timedelta(1)], since).tolist() == [LIFT, 0.0]
    until = TimeWindow(phrase="until May", starts=None, ends=JUNE)
    assert with_window(np.zeros(2), [JUNE, MAY], until).tolist() == [0.0, LIFT]
