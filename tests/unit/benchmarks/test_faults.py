"""The fault bench: how its rows are tried and counted, and its page, which is its record, too."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.environment import ROOT
from benchmarks.faults.agents import Writing
from benchmarks.faults.catalogue import CATALOGUE
from benchmarks.faults.command import FAMILIES, KEYS, kept, numbers_of, parsed, summed
from benchmarks.faults.page import again, markdown, read
from benchmarks.faults.table import Attempt, Row, Tally, tally

PAGE = (ROOT / "docs" / "project" / "reliability.md").read_text(encoding="utf-8")
LONG_S = 60.0


def row(attempt: Attempt, **settings: Any) -> Row:
    return Row(
        key="a-row",
        fault="a fault",
        expected="no harm",
        quick=1,
        full=1,
        attempt=attempt,
        **settings,
    )


async def tried(each: Row, tries: int, within_s: float = LONG_S) -> Tally:
    until = time.monotonic() + within_s
    return await tally(each, None, seed=1, numbers=range(tries), until=until)


async def test_clients_are_waited_for_until_one_is_answered_or_all_are_gone() -> None:
    async def nothing() -> None:
        return

    async def forever() -> None:
        await asyncio.Event().wait()

    writing = Writing(random.Random(1))
    gone = [asyncio.create_task(nothing()) for _ in range(2)]
    async with asyncio.timeout(LONG_S):
        await writing.answered(gone)
        waiting = asyncio.create_task(forever())
        both = asyncio.create_task(writing.answered([*gone, waiting]))
        await asyncio.sleep(0)
        assert not both.done()
        writing.first.set()
        await both
    assert not waiting.done()
    waiting.cancel()


def test_the_page_is_written_as_it_was_read() -> None:
    assert markdown(read(PAGE)) == PAGE


def test_a_row_that_is_tried_further_keeps_what_it_had() -> None:
    async def attempt(_: None, __: random.Random, ___: int) -> None:
        return

    further = parsed(["--only", "soak", "--write-page", "--more", "--tries", "500"])
    known = kept(further)
    earlier = known["soak"]
    same = replace(row(attempt), key="soak", fault=earlier["fault"])
    assert numbers_of(same, further, known) == range(earlier["tries"], 500)
    other = replace(same, fault="another fault")
    assert numbers_of(other, further, known) == range(500), "its earlier tries were of another kind"
    again = parsed(["--only", "soak", "--write-page"])
    assert numbers_of(same, again, kept(again)) == range(1)
    later = {**earlier, "tries": 3, "held": 2, "failures": [[7, "x"]], "took_s": 2.0}
    found = summed(earlier, {**later, "commit": "1234567"})
    assert (found["tries"], found["held"]) == (earlier["tries"] + 3, earlier["held"] + 2)
    assert found["failures"] == [*earlier["failures"], [7, "x"]]
    assert found["commit"] == f"{earlier['commit']}+1234567"


def test_every_row_of_the_page_is_a_row_of_the_bench_as_it_is_now() -> None:
    rows = {row.key: (row.fault, row.expected) for family in FAMILIES for row in family.rows}
    for each in read(PAGE)["rows"]:
        assert rows[each["key"]] == (each["fault"], each["expected"])


def test_every_row_and_every_test_of_the_catalogue_is_there() -> None:
    rows = {key for entry in CATALOGUE for key in entry.rows}
    assert set(KEYS) == rows
    for entry in CATALOGUE:
        assert entry.rows or entry.tests, entry.fault
        for file, _, name in (test.partition("::") for test in entry.tests):
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert f"def {name}(" in text, f"{file}::{name}"


def test_commits_failures_and_rows_left_out_are_read_back() -> None:
    record = read(PAGE)
    first, second, third, *_ = record["rows"]
    first["commit"], second["commit"], third["commit"] = "1234567", "v1.0-rc1-3-g89abcde", "1+2+3"
    second.update(tries=1_234, held=1_232, failures=[[7, "a | b"], [1_000, "c"]])
    record["rows"] = [first, second, third]
    record["left_out"] = ["soak"]
    page = markdown(record)
    (line,) = (line for line in page.splitlines() if line.startswith(f"| `{third['key']}` "))
    assert line.endswith(" | 1, 2, 3 |"), "each row has its commits in its last column"
    back = read(page)
    assert (back["rows"], back["left_out"]) == (record["rows"], ["soak"])
    assert (back["seed"], back["quick"]) == (record["seed"], record["quick"])
    assert back["environment"] == record["environment"]


async def test_each_try_has_random_numbers_of_its_own_whatever_runs_beside_it() -> None:
    drawn: dict[int, set[float]] = {}

    async def draw(_: None, rng: random.Random, number: int) -> None:
        await asyncio.sleep(0)
        drawn.setdefault(number, set()).add(rng.random())

    for at_once in (1, 3):
        found = await tried(row(draw, at_once=at_once), 10)
        assert (found.tries, found.held) == (10, 10)
    assert sorted(drawn) == list(range(10))
    assert all(len(numbers) == 1 for numbers in drawn.values())


async def test_no_more_tries_are_under_way_than_the_row_says() -> None:
    under_way, most = 0, 0

    async def wait(_: None, __: random.Random, ___: int) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1

    await tried(row(wait, at_once=3), 12)
    assert most == 3


async def test_what_fails_hangs_or_raises_is_counted_and_named() -> None:
    async def attempt(_: None, __: random.Random, number: int) -> str | None:
        if number == 1:
            await asyncio.sleep(LONG_S)
        if number == 2:
            raise LookupError("lost")
        return "wrong" if number == 3 else None

    found = await tried(row(attempt, try_s=0.05), 5)
    assert (found.tries, found.held) == (5, 2)
    assert found.failures == [
        (1, "the try did not end within 0.05 s"),
        (2, "LookupError: lost"),
        (3, "wrong"),
    ]


async def test_a_row_is_tried_as_often_as_it_needs_however_little_time_there_is() -> None:
    async def attempt(_: None, __: random.Random, ___: int) -> None:
        await asyncio.sleep(0.001)

    assert (await tried(row(attempt), 5, within_s=-1.0)).tries == 1
    assert (await tried(row(attempt, least=2), 5, within_s=-1.0)).tries == 2


def test_a_quick_run_lets_calls_be_late_so_it_does_not_write_the_page() -> None:
    with pytest.raises(SystemExit):
        parsed(["--quick", "--write-page"])
    command = again("reset", 1, 7, is_quick=True)
    assert command == "scripts/faults --quick --only reset --seed 1 --try 7"
