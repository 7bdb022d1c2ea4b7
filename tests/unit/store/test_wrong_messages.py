"""A server that sends a wrong message: a typed error or another attempt, and a call that ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any, Literal

import pytest

from benchmarks.faults.messages import WRONG_MESSAGES
from benchmarks.faults.world import connections_in_use
from memoria.errors import MemoriaError
from memoria.store import Store, open_driver
from memoria.store.config import StoreConfig
from tests.bolt import QUERY, BoltServer, bolt_server

# HELLO, LOGON, RUN, RECORD, and the end of PULL; with a transaction BEGIN and COMMIT besides.
MESSAGES = {"auto": 5, "managed": 7, "together": 7}
LIMIT_S = 0.1
# Those after which the driver waits without end for another message, and some that it understands.
WHICH = {"auto": [*WRONG_MESSAGES], "managed": ["ignored"], "together": ["ignored", "success"]}
# A call that has not ended by then never will.
HANG_S = 60

Way = Literal["auto", "managed", "together"]


@pytest.fixture(scope="module")
def server() -> Iterator[BoltServer]:
    with bolt_server() as started:
        yield started


async def ask(server: BoltServer, way: Way, limit_s: float = HANG_S) -> list[int]:
    config = StoreConfig(
        query_timeout_s=limit_s, transactions="managed" if way == "managed" else "auto"
    )
    async with open_driver(server.target, config) as driver:
        store = Store(driver, config=config)
        try:
            if way == "together":
                written = await store.write(lambda transaction: transaction.run(QUERY, {}))
                return [row["x"] for row in written]
            return [row["x"] for row in await store.run(QUERY, {})]
        finally:
            assert store.sessions_in_use == 0
            assert connections_in_use(driver) == 0


async def in_each_place(attempt: Callable[[int], Coroutine[Any, Any, None]], places: int) -> None:
    """Attempt it with a server for each place, all at once: most of the time is limits."""
    async with asyncio.TaskGroup() as attempts:
        for at in range(places):
            attempts.create_task(attempt(at))


@pytest.mark.parametrize("way", MESSAGES)
async def test_a_server_that_sends_what_it_must_is_understood(server: BoltServer, way: Way) -> None:
    server.replace(-1, b"")
    assert await ask(server, way) == [1]


@pytest.mark.timeout(HANG_S)
@pytest.mark.parametrize(("way", "name"), [(way, name) for way in WHICH for name in WHICH[way]])
async def test_a_wrong_message_in_any_place_is_a_typed_error_or_asked_for_again(
    way: Way, name: str
) -> None:
    loop = asyncio.get_running_loop()

    async def attempt(at: int) -> None:
        with bolt_server() as server:
            server.replace(at, WRONG_MESSAGES[name])
            began = loop.time()
            try:
                rows = await ask(server, way, LIMIT_S)
            except MemoriaError:
                rows = [1]
            assert rows in ([1], [], [5], [1, 1]), f"message {at}"
            assert loop.time() - began < HANG_S / 4, f"message {at}"
            server.replace(-1, b"")
            assert await ask(server, way) == [1], f"after message {at}"

    await in_each_place(attempt, MESSAGES[way])


@pytest.mark.parametrize("at", range(MESSAGES["auto"]))
async def test_a_query_is_asked_again_where_both_sides_of_its_connection_are_out_of_step(
    server: BoltServer, at: int
) -> None:
    """As after an answer that promised more: the next request gets the answer to an earlier one."""
    server.replace(at, WRONG_MESSAGES["failure, out of step"])
    assert await ask(server, "auto") == [1]


@pytest.mark.timeout(HANG_S)
@pytest.mark.parametrize("name", WRONG_MESSAGES)
async def test_after_a_wrong_message_the_next_query_of_the_store_is_right(name: str) -> None:
    loop = asyncio.get_running_loop()
    config = StoreConfig(query_timeout_s=1.0)

    async def attempt(at: int) -> None:
        with bolt_server() as server:
            async with open_driver(server.target, config) as driver:
                store = Store(driver, config=config)
                server.replace(at, WRONG_MESSAGES[name])
                with suppress(MemoriaError):
                    await store.run(QUERY, {}, until=loop.time() + LIMIT_S)
                server.replace(-1, b"")
                assert [row["x"] for row in await store.run(QUERY, {})] == [1], f"message {at}"

    await in_each_place(attempt, MESSAGES["auto"])
