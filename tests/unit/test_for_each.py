"""The helper that tries many cases in one test hides none that fails."""

from __future__ import annotations

import inspect

import pytest

from tests.for_each import for_each


@for_each("left, right", [(1, 1), (2, 3), (4, 4), (5, 6)])
def equal(left: int, right: int, place: str = "here") -> None:
    assert left == right, place


def test_every_case_is_tried_and_each_that_fails_is_named() -> None:
    with pytest.RaisesGroup(
        pytest.RaisesExc(AssertionError, match="here"),
        pytest.RaisesExc(AssertionError, match="here"),
        match="2 of 4 cases failed",
    ) as caught:
        equal()
    notes = [note for error in caught.value.exceptions for note in error.__notes__]
    assert notes == ["case: left=2, right=3", "case: left=5, right=6"]


def test_only_what_no_case_gives_is_a_fixture() -> None:
    assert list(inspect.signature(equal).parameters) == ["place"]


async def test_a_test_may_wait() -> None:
    seen = []

    @for_each("n", range(3))
    async def waits(n: int) -> None:
        seen.append(n)

    assert inspect.iscoroutinefunction(waits)
    await waits()
    assert seen == [0, 1, 2]


def test_an_error_that_was_not_raised_is_a_failed_case_too() -> None:
    @for_each("n", [0, 1])
    def refused(n: int) -> None:
        with pytest.raises(ZeroDivisionError):
            assert 1 / n

    with pytest.RaisesGroup(AssertionError) as caught:
        refused()
    assert caught.value.exceptions[0].__notes__ == ["case: n=1"]


def test_a_case_that_is_skipped_hides_none_that_failed() -> None:
    @for_each("n", [0, 1])
    def skipped(n: int) -> None:
        if n:
            pytest.skip("not here")
        assert n

    with pytest.RaisesGroup(AssertionError, AssertionError):
        skipped()


def test_a_case_too_deep_to_print_is_named_by_its_types() -> None:
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]

    @for_each("value", [deep])
    def empty(value: list[object]) -> None:
        assert not value, "deep"

    with pytest.RaisesGroup(AssertionError) as caught:
        empty()
    assert caught.value.exceptions[0].__notes__ == ["case: value: list"]


def test_without_a_case_there_is_no_test() -> None:
    with pytest.raises(AssertionError, match="nothing is tested"):
        for_each("n", [])
