"""When a report is not certain: a change was sent again that may have been made already."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Literal, Self

import neo4j.exceptions
import pytest

from memoria.store import Store, Transaction
from memoria.store.config import StoreConfig
from memoria.store.doubt import watch, with_certainty
from memoria.store.queries import Query, load
from memoria.types import Count, ForgetReport, WriteReport
from tests.unit.store.test_store import Answer

WRITE = load("ingest.memories")
READ = load("graph.page")
EXACT = load("learn.reinforce")
LOST = neo4j.exceptions.ServiceUnavailable("the connection broke")

# The places where an attempt may break off: before the server has the change, or after.
Place = Literal["begin", "run", "commit"]


def refused(code: str) -> neo4j.exceptions.Neo4jError:
    return neo4j.exceptions.Neo4jError._hydrate_neo4j(code=code, message="no")


class FailingOnce:
    """Stands in for the driver, its session and its transaction; fails once, at one place."""

    def __init__(self, place: Place, error: Exception) -> None:
        self.errors = {place: [error]}

    def session(self, **_: Any) -> Self:
        return self

    async def _at(self, place: Place) -> None:
        await asyncio.sleep(0)
        for error in self.errors.pop(place, ()):
            raise error

    async def begin_transaction(self, **_: Any) -> Self:
        await self._at("begin")
        return self

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def run(self, statement: Any, **_: Any) -> Answer:
        await self._at("run")
        text = getattr(statement, "text", statement)
        query = next(each for each in (WRITE, READ, EXACT) if each.text == text)
        return Answer([column.name for column in query.returns])

    async def commit(self) -> None:
        await self._at("commit")

    async def execute_write(self, work: Callable[[Self], Awaitable[Any]]) -> Any:
        done = await work(self)
        try:
            await self.commit()
        except neo4j.exceptions.DriverError:
            return await work(self)
        return done

    async def close(self) -> None:
        pass

    def cancel(self) -> None:
        pass


def store_failing(
    place: Place, error: Exception, transactions: Literal["auto", "managed"] = "auto"
) -> Store:
    config = StoreConfig(retry_base_s=0.001, transactions=transactions)
    return Store(FailingOnce(place, error), config=config)  # type: ignore[arg-type]


async def test_a_change_that_is_sent_again_after_its_connection_broke_leaves_a_doubt() -> None:
    with watch() as doubt:
        await store_failing("run", LOST).run(WRITE, {})
    assert doubt.arose


@pytest.mark.parametrize("query", [READ, EXACT], ids=["read", "same again"])
async def test_what_answers_the_same_again_leaves_none(query: Query) -> None:
    with watch() as doubt:
        await store_failing("run", LOST).run(query, {})
    assert not doubt.arose


@pytest.mark.parametrize(
    ("place", "queries", "arises"),
    [
        ("commit", [READ, EXACT, WRITE], True),
        ("commit", [READ, EXACT], False),
        ("run", [READ, EXACT, WRITE], False),
        ("begin", [READ, EXACT, WRITE], False),
    ],
)
async def test_of_a_transaction_only_a_lost_commit_of_a_change_leaves_a_doubt(
    place: Place, queries: list[Query], arises: bool
) -> None:
    async def work(transaction: Transaction) -> None:
        for query in queries:
            await transaction.run(query, {})

    with watch() as doubt:
        await store_failing(place, LOST).write(work)
    assert doubt.arose is arises


@pytest.mark.parametrize(
    ("code", "arises"),
    [
        ("Neo.TransientError.Transaction.DeadlockDetected", False),
        ("Neo.TransientError.General.DatabaseUnavailable", False),
        ("Neo.TransientError.Cluster.ReplicationFailure", True),
    ],
)
async def test_a_server_that_refuses_a_change_has_not_made_it(code: str, arises: bool) -> None:
    with watch() as doubt:
        await store_failing("run", refused(code)).run(WRITE, {})
    assert doubt.arose is arises


async def test_a_commit_by_the_driver_that_is_followed_by_another_attempt_leaves_a_doubt() -> None:
    with watch() as doubt:
        await store_failing("commit", LOST, "managed").run(WRITE, {})
    assert doubt.arose


async def test_a_doubt_is_that_of_the_call_alone_and_of_the_tasks_that_it_starts() -> None:
    @with_certainty
    async def call(place: Place) -> WriteReport:
        async def work() -> None:
            await store_failing(place, LOST).run(WRITE, {})

        await asyncio.create_task(work())
        return WriteReport(memories=1)

    with watch() as around:
        lost, whole = await asyncio.gather(call("run"), call("begin"))
    assert (lost, whole) == (WriteReport(memories=1, certain=False), WriteReport(memories=1))
    assert around.arose, "a call within a call makes both uncertain"


async def test_a_count_that_is_not_certain_is_still_a_number() -> None:
    @with_certainty
    async def call() -> Count:
        await store_failing("run", LOST).run(WRITE, {})
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
