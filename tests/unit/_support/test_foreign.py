"""Values that anybody may have written: read where they fit, empty where they do not."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria._support import foreign
from tests.for_each import for_each

READERS = (
    foreign.string,
    foreign.strings,
    foreign.number,
    foreign.count,
    foreign.json_map,
    foreign.moment,
)
EMPTY: dict[Any, Any] = dict(zip(READERS, (None, (), None, 0, {}, None), strict=True))


@for_each("value", [None, True, False, b"1", (1,), {"a": 1}, object(), math.nan])
@for_each("read", READERS)
def test_value_of_another_type_reads_as_empty(read: Any, value: object) -> None:
    assert read(value) == EMPTY[read]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_no_value_is_an_error(value: object) -> None:
    for read in READERS:
        read(value)


def test_string_is_a_string_alone() -> None:
    assert [foreign.string(value) for value in ("", "a", 1, ["a"])] == ["", "a", None, None]


def test_entries_of_a_list_read_as_their_texts() -> None:
    assert foreign.strings(["b", "a", "b"]) == ("b", "a", "b")
    assert foreign.strings([1, 2.5, True]) == ("1", "2.5", "True")
    assert foreign.strings("ab") == ()


@pytest.mark.parametrize("value", [0, -3, 2.5, 2**62])
def test_number_reads_as_a_float(value: float) -> None:
    found = foreign.number(value)
    assert type(found) is float
    assert found == value


@for_each("value", [True, False, "1", [1], math.nan, math.inf, -math.inf, 10**400])
def test_bool_and_what_is_not_finite_is_not_a_number(value: object) -> None:
    assert foreign.number(value) is None
    assert foreign.count(value) == 0


def test_count_is_a_whole_number_from_0() -> None:
    assert [foreign.count(value) for value in (0, 7, 3.9, -1, -0.5)] == [0, 7, 3, 0, 0]


@pytest.mark.parametrize("text", ["", "{", "[1]", "1", "null", '{"a":1,}', '{"a":' * 100_000])
def test_text_that_is_not_a_map_reads_as_an_empty_map(text: str) -> None:
    assert foreign.json_map(text) == {}


def test_map_reads_as_it_was_written() -> None:
    assert foreign.json_map('{"season": "autumn", "n": [1, null]}') == {
        "season": "autumn",
        "n": [1, None],
    }


def test_time_without_a_zone_counts_as_utc_and_the_name_of_a_zone_is_passed_over() -> None:
    assert foreign.moment("2026-01-02T00:00:00") == datetime(2026, 1, 2, tzinfo=UTC)
    in_tokyo = foreign.moment("2026-07-02T12:00:00+09:00[Asia/Tokyo]")
    assert in_tokyo == datetime(2026, 7, 2, 3, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "now", "-0044-03-15T12:00Z", "+12000-01-01T00:00:00Z"])
def test_time_that_python_does_not_know_reads_as_none(text: str) -> None:
    assert foreign.moment(text) is None
