"""The levers of the benchmark: both sides must answer the same, and the page has every table."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.levers.lever import Lever, pull
from benchmarks.levers.page import markdown
from benchmarks.race.contender import DisagreementError
from memoria._support.progress import silent


async def test_each_side_of_a_lever_goes_first_in_turn_and_the_warm_up_does_not_count() -> None:
    asked: list[tuple[str, int]] = []

    async def ours(case: int) -> int:
        asked.append(("ours", case))
        return case

    async def other(case: int) -> int:
        asked.append(("other", case))
        return case

    lever = Lever(kept="this", against="that", cases=[0, 1, 2], ours=ours, other=other, warm_up=1)
    found = await pull(lever, silent)
    assert asked == [
        ("other", 0),
        ("ours", 0),
        ("ours", 1),
        ("other", 1),
        ("other", 2),
        ("ours", 2),
    ]
    assert len(found.each_ours_ms) == len(found.each_other_ms) == 2


async def test_a_lever_whose_sides_differ_counts_for_nothing() -> None:
    async def ours(case: int) -> int:
        return case

    async def other(case: int) -> int:
        return case + 1

    lever = Lever(kept="this", against="that", cases=[0], ours=ours, other=other, warm_up=0)
    with pytest.raises(DisagreementError, match="this / that"):
        await pull(lever, silent)


def test_the_page_has_every_table_and_says_which_commit_was_measured() -> None:
    record: dict[str, Any] = {
        "environment": {
            "commit": "abc1234",
            "neo4j": "1",
            "driver": "2",
            "python": "3",
            "cores": 2,
            "load_start": "0.0, 0.0, 0.0",
            "load_end": "0.1, 0.0, 0.0",
        },
        "settings": {"arguments": "--quick", "took_s": 60.0},
        "graph": "whole recalls, 2,000 memories",
        "levers": [
            {
                "kept": "ours",
                "against": "theirs",
                "ours_ms": 1.0,
                "other_ms": 2.0,
                "ratio": "2 (1.5 to 2.5)",
            }
        ],
        "delays": [
            {"delay_ms": 5, "round_trip_ms": 5.5, "recall_ms": 60.0, "trips": 4.0}
            | {"single_ms": 45.0, "ratio": "0.75 (0.7 to 0.8)"}
        ],
    }
    page = markdown(record)
    assert "Made by `scripts/bench levers --quick` at commit abc1234 in 60 s" in page
    lines = page.splitlines()
    for line in (
        "| ours | 1.0 | theirs | 2.0 | 2 (1.5 to 2.5) |",
        "| 5 | 5.5 | 60.0 | 4 | 45.0 | 0.75 (0.7 to 0.8) |",
    ):
        assert line in lines
    rows = [line.count("|") for line in lines if line.startswith("|")]
    heads = [lines[at - 1].count("|") for at, line in enumerate(lines) if line.startswith("|---")]
    assert heads == [6, 7]
    assert len(rows) == 3 * len(heads)
