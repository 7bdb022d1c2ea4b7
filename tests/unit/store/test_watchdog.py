"""A loop that stands still past the limit of a query: its connection is dropped, and told once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

import neo4j
import pytest

from memoria.errors import DeadlineError
from memoria.store import Store, open_driver
from memoria.store.watchdog import Watchdog, Watched
from tests.bolt import QUERY, bolt_server


class _Session:
    """Counts how often its connection is dropped."""

    def __init__(self) -> None:
        self.dropped = 0

    def cancel(self) -> None:
        self.dropped += 1


@contextmanager
def watching(watchdog: Watchdog, session: _Session) -> Iterator[None]:
    watched = Watched(session, asyncio.get_running_loop())  # type: ignore[arg-type]
    watched.expect(0.01)
    watchdog.watch(watched)
    yield
    watchdog.leave(watched)


async def test_each_session_of_a_loop_that_stands_still_is_dropped_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watchdog, sessions = Watchdog(), [_Session(), _Session()]
    with watching(watchdog, sessions[0]), watching(watchdog, sessions[1]):
        time.sleep(1)  # noqa: ASYNC251  # as a breakpoint would, or a model that is being loaded
    assert all(session.dropped for session in sessions)
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert len(told) == 2
    assert all(line.startswith("the event loop is blocked") for line in told)


async def test_a_session_of_a_loop_that_runs_is_left_to_its_own_limit() -> None:
    """Of ten sessions one is enough: a machine that is busy may hold up a loop that runs."""
    watchdog = Watchdog()
    for _ in range(10):
        session = _Session()
        with watching(watchdog, session):
            await asyncio.sleep(0.5)
        if not session.dropped:
            return
    pytest.fail("each of ten sessions of a loop that runs was dropped")


async def test_code_that_holds_up_the_loop_while_a_session_closes_costs_no_connection(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An embedder of one's own may work in the loop for a second; nothing is wrong with that."""
    close = neo4j.AsyncSession.close

    async def held_up(session: neo4j.AsyncSession) -> None:
        time.sleep(1)  # noqa: ASYNC251
        await close(session)

    monkeypatch.setattr(neo4j.AsyncSession, "close", held_up)
    with bolt_server() as server:
        async with open_driver(server.target) as driver:
            assert [row["x"] for row in await Store(driver).run(QUERY, {})] == [1]
    assert [each for each in caplog.records if each.levelno == logging.ERROR] == []


async def test_a_query_dropped_because_others_block_the_loop_says_that_its_time_was_over() -> None:
    """The server is well, and more time would have helped."""
    with bolt_server() as server:
        async with open_driver(server.target) as driver:
            store = Store(driver)
            await store.run(QUERY, {})  # the driver connects
            server.replace(2, b"")  # the answer never ends
            limit = asyncio.get_running_loop().time() + 0.1
            asking = asyncio.create_task(store.run(QUERY, {}, until=limit))
            await asyncio.sleep(0.05)
            time.sleep(1)  # noqa: ASYNC251  # as a breakpoint would
            with pytest.raises(DeadlineError, match="give more time"):
                await asking
            server.replace(-1, b"")
            assert [row["x"] for row in await store.run(QUERY, {})] == [1]
