"""Which memories a filter means, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memoria.errors import InvalidInputError
from memoria.types import MemoryFilter, MemoryNode, filter_of, metadata_pairs
from tests.for_each import for_each

NOON = datetime(2026, 5, 2, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
MEMORY = MemoryNode(
    id="a",
    kind="Event",
    text="It rained.",
    tags=("rain", "weather"),
    created_at=NOON,
    metadata={"channel": "slack", "n": 2, "seen": True, "path": ["x"]},
)


@for_each(
    "fields",
    [
        {},
        {"kinds": ["Event", "Note"]},
        {"tags": ["rain"]},
        {"tags": ["weather", "rain"]},
        {"created_from": NOON},
        {"created_before": NOON + HOUR},
        {"created_from": NOON - HOUR, "created_before": NOON + HOUR},
        {"metadata": {"channel": "slack"}},
        {"metadata": {"channel": "slack", "n": 2.0, "seen": True}},
        {"exclude_ids": ["b"]},
    ],
)
def test_memory_fits_a_filter_all_of_whose_fields_are_true_of_it(fields: dict[str, Any]) -> None:
    assert MemoryFilter(**fields).fits(MEMORY)


@for_each(
    "fields",
    [
        {"kinds": ["Note"]},
        {"tags": ["rain", "snow"]},
        {"tags": ["Rain"]},
        {"created_from": NOON + timedelta(microseconds=1)},
        {"created_before": NOON},
        {"metadata": {"channel": "mail"}},
        {"metadata": {"channel": "slack", "path": "x"}},
        {"metadata": {"n": "2"}},
        {"metadata": {"seen": 1}},
        {"metadata": {"unknown": 0}},
        {"exclude_ids": ["b", "a"]},
        {"kinds": ["Event"], "tags": ["snow"]},
    ],
)
def test_memory_does_not_fit_if_one_field_is_not_true_of_it(fields: dict[str, Any]) -> None:
    assert not MemoryFilter(**fields).fits(MEMORY)


def test_memory_without_a_time_fits_no_time() -> None:
    timeless = replace(MEMORY, created_at=None)
    assert not MemoryFilter(created_from=NOON).fits(timeless)
    assert not MemoryFilter(created_before=NOON).fits(timeless)


def test_times_are_kept_in_utc_and_a_naive_time_counts_as_utc() -> None:
    there = timezone(timedelta(hours=9))
    made = MemoryFilter(created_from=datetime(2026, 5, 2, 21, tzinfo=there))
    naive = MemoryFilter(created_from=datetime(2026, 5, 2, 12))
    assert made == naive == MemoryFilter(created_from=NOON)
    assert made.parameters["where"]["created_from"] == [NOON, NOON.replace(tzinfo=None)]


def test_a_filter_is_empty_only_if_nothing_is_asked() -> None:
    assert MemoryFilter().is_empty
    for field in ({"kinds": ["Event"]}, {"tags": ["a"]}, {"exclude_ids": ["a"]}):
        assert not MemoryFilter(**field).is_empty  # type: ignore[arg-type]
    assert MemoryFilter(kinds=["Event"]).parameters["where"]["plain"], "kinds stand by themselves"


REFUSED: dict[str, list[Any]] = {
    "kinds": [[], "Event", ["no kind"], 5],
    "tags": ["rain", 5, [5], ["x" * 257]],
    "created_from": ["2026-05-02", 5],
    "created_before": [datetime.max.replace(tzinfo=timezone(-HOUR))],
    "metadata": [[], {"a": None}, {"a": [1]}, {1: 2}, {"a": 10**5000}, {"a": "x" * 1_000}],
    "exclude_ids": ["a", [""], [5], [str(n) for n in range(10_001)]],
}


@for_each("field, value", [(field, value) for field, values in REFUSED.items() for value in values])
def test_a_field_that_can_not_be_asked_for_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InvalidInputError) as caught:
        MemoryFilter(**{field: value})
    assert caught.value.field == field


def test_two_times_without_a_time_between_them_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="created_before must be later than created_from"):
        MemoryFilter(created_from=NOON, created_before=NOON)


def test_kinds_are_short_for_a_filter_and_given_once() -> None:
    assert filter_of(None, ["Event"]) == MemoryFilter(kinds=["Event"])
    tagged = MemoryFilter(tags=["a"])
    assert filter_of(tagged, ["Event"]) == MemoryFilter(tags=["a"], kinds=["Event"])
    assert filter_of(tagged) is tagged
    assert filter_of(None) == MemoryFilter()
    with pytest.raises(InvalidInputError, match="given twice"):
        filter_of(MemoryFilter(kinds=["Note"]), ["Event"])
    with pytest.raises(InvalidInputError, match="where must be a MemoryFilter, got a dict"):
        filter_of({"tags": ["a"]})  # type: ignore[arg-type]


def test_metadata_is_compared_by_one_text_for_each_key() -> None:
    metadata = {"b": 'say "é"', "a": 1.0, "c": False, "d": None, "e": {"x": 1}, "f": 0.5}
    assert metadata_pairs(metadata) == (
        *('"a": 1', '"b": "say \\"é\\""', '"c": false', '"d":', '"e":', '"f": 0.5'),
    )
    assert metadata_pairs({}) == ()


def test_a_value_too_long_to_be_asked_for_leaves_its_key_and_a_key_too_long_is_cut() -> None:
    assert metadata_pairs({"a": "x" * 1_000}) == ('"a":',)
    assert [len(pair) for pair in metadata_pairs({"x" * 2_000: 1})] == [1_000]
    longest = {"a": "x" * 993}
    assert metadata_pairs(longest) == tuple(
        MemoryFilter(metadata=longest).parameters["where"]["metadata"]
    )
