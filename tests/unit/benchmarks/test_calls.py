"""How far it is from a call of memoria to the driver: counted, with a little room to grow."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from benchmarks.calls import Counts, count_all
from memoria._support import telemetry


@pytest.fixture(scope="module")
def counted() -> Iterator[dict[str, Counts]]:
    installed = telemetry.INSTALLED
    yield asyncio.run(count_all())
    telemetry.INSTALLED = installed


def test_a_trivial_query_takes_few_calls(counted: dict[str, Counts]) -> None:
    assert counted["trivial query"].calls <= 20
    assert len(counted["trivial query"].deepest) <= 4


def test_a_recall_is_fourteen_frames_from_the_driver(counted: dict[str, Counts]) -> None:
    recall = counted["recall"]
    assert recall.queries[0] == "seeds.text"
    assert recall.queries[-1] == "ranking.candidates"
    assert recall.queries.count("strategies.level") == 3
    assert len(recall.deepest) <= 14, recall.deepest


def test_a_message_is_appended_in_six_queries_of_few_files(counted: dict[str, Counts]) -> None:
    append = counted["append"]
    assert len(append.queries) == 6
    assert len(append.files) <= 35, sorted(append.files)
