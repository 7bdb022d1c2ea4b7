"""When a report is not certain: a change was sent again that may have been made already."""

from __future__ import annotations

import asyncio
import copy
import pickle
from dataclasses import replace

import neo4j.exceptions
import pytest

from memoria.store.doubt import Attempts, watch, with_certainty
from memoria.store.queries import load
from memoria.types import Count, ForgetReport, WriteReport

WRITE = load("ingest.memories")
READ = load("graph.page")
EXACT = load("learn.reinforce")


def refused(code: str) -> neo4j.exceptions.Neo4jError:
    return neo4j.exceptions.Neo4jError._hydrate_neo4j(code=code, message="no")


def attempt_twice(attempts: Attempts, error: Exception) -> None:
    """Make an attempt that fails while it is being sent, and one that succeeds."""
    attempts.begin()
    with pytest.raises(type(error)), attempts.sending():
        raise error
    attempts.begin()
    with attempts.sending():
        pass


LOST = neo4j.exceptions.ServiceUnavailable("the connection broke")


def test_a_change_that_is_sent_again_after_its_connection_broke_leaves_a_doubt() -> None:
    with watch() as doubt:
        attempt_twice(Attempts([WRITE]), LOST)
    assert doubt.arose


@pytest.mark.parametrize("query", [READ, EXACT], ids=["read", "same again"])
def test_what_answers_the_same_again_leaves_none(query: object) -> None:
    with watch() as doubt:
        attempt_twice(Attempts([query]), LOST)  # type: ignore[list-item]
    assert not doubt.arose


def test_one_query_of_a_transaction_is_enough_for_a_doubt() -> None:
    with watch() as doubt:
        attempt_twice(Attempts([READ, EXACT, WRITE]), LOST)
    assert doubt.arose


@pytest.mark.parametrize(
    ("code", "arises"),
    [
        ("Neo.TransientError.Transaction.DeadlockDetected", False),
        ("Neo.TransientError.General.DatabaseUnavailable", False),
        ("Neo.TransientError.Cluster.ReplicationFailure", True),
    ],
)
def test_a_server_that_refuses_a_change_has_not_made_it(code: str, arises: bool) -> None:
    with watch() as doubt:
        attempt_twice(Attempts([WRITE]), refused(code))
    assert doubt.arose is arises


def test_an_attempt_that_fails_before_it_is_sent_leaves_no_doubt() -> None:
    attempts = Attempts([WRITE])
    with watch() as doubt:
        attempts.begin()
        attempts.begin()
    assert not doubt.arose


def test_a_commit_by_the_driver_that_is_followed_by_another_attempt_leaves_a_doubt() -> None:
    attempts = Attempts([WRITE])
    with watch() as doubt:
        attempts.begin()
        attempts.commits()
        attempts.begin()
    assert doubt.arose


async def test_a_doubt_is_that_of_the_call_alone_and_of_the_tasks_that_it_starts() -> None:
    @with_certainty
    async def call(error: Exception | None) -> WriteReport:
        async def work() -> None:
            await asyncio.sleep(0)
            if error is not None:
                attempt_twice(Attempts([WRITE]), error)

        await asyncio.create_task(work())
        return WriteReport(memories=1)

    with watch() as around:
        lost, whole = await asyncio.gather(call(LOST), call(None))
    assert (lost, whole) == (WriteReport(memories=1, certain=False), WriteReport(memories=1))
    assert around.arose, "a call within a call makes both uncertain"


async def test_a_count_that_is_not_certain_is_still_a_number() -> None:
    @with_certainty
    async def call() -> Count:
        attempt_twice(Attempts([WRITE]), LOST)
        return Count(3)

    count = await call()
    assert (count, count.certain, count + 1) == (3, False, 4)
    for same in (copy.copy(count), pickle.loads(pickle.dumps(count))):
        assert (same, same.certain) == (3, False)
    assert Count().certain is True


def test_a_sum_of_reports_is_certain_if_all_are() -> None:
    sure = WriteReport(memories=1)
    assert sure.plus(sure).certain is True
    assert sure.plus(replace(sure, certain=False)).certain is False
    assert ForgetReport(certain=False).plus(ForgetReport()).certain is False
