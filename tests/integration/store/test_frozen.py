"""A server that no longer runs, and does not say so: every call ends by its own clock.

How soon after its limit is measured by ``scripts/faults --only server-frozen``.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import AsyncExitStack

from benchmarks.faults.table import Setting
from benchmarks.faults.world import CALLS, Call, settled, world
from memoria.errors import MemoriaError
from memoria.local import EphemeralNeo4j
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from tests.integration.doctor.test_doctor import wipe

# Far above every limit.
HANG_S = 60.0


def setting(server: EphemeralNeo4j) -> Setting:
    return Setting(server=server, seed=1, quick=False, stack=AsyncExitStack())


async def test_every_call_ends_while_the_server_is_stopped_and_the_next_one_works(
    second_server: EphemeralNeo4j,
) -> None:
    target = Target(uri=second_server.uri, auth=second_server.auth)
    async with open_driver(target) as driver:
        await wipe(Store(driver, database="neo4j"))
    async with world(setting(second_server), target) as here, here.attacked() as memory:
        assert await here.recalls_again(memory)

        def begin() -> list[asyncio.Future[object]]:
            return [asyncio.ensure_future(call(memory, here)) for call in CALLS.values()]

        calls = begin()
        await asyncio.sleep(0.02)
        os.kill(second_server.pid, signal.SIGSTOP)
        try:
            calls += begin()
            _, waiting = await asyncio.wait(calls, timeout=HANG_S)
        finally:
            os.kill(second_server.pid, signal.SIGCONT)
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert not waiting
        for each in ended:
            assert not isinstance(each, BaseException) or isinstance(each, MemoriaError), each
        assert await settled(memory.store, 1.0) is None
        assert await here.recalls_again(memory)


async def test_what_writes_whole_texts_or_reads_a_scope_ends_by_the_limit_with_that_name(
    second_server: EphemeralNeo4j,
) -> None:
    """These calls used to have their own limits of 60 s and 120 s."""
    target = Target(uri=second_server.uri, auth=second_server.auth)
    config = StoreConfig(query_timeout_s=0.2, long_query_timeout_s=2, connect_timeout_s=2)
    loop = asyncio.get_running_loop()

    async def timed(call: Call) -> tuple[float, type[BaseException] | None]:
        began = loop.time()
        try:
            await call(memory, here)
        except MemoriaError as exc:
            return loop.time() - began, type(exc)
        return loop.time() - began, None

    async with (
        world(setting(second_server), target) as here,
        here.attacked(config=config) as memory,
    ):
        names = ("write", "remember", "append", "conversation", "document", "stats")
        for name in names:  # opens the driver's connections
            await CALLS[name](here.clean, here)
        os.kill(second_server.pid, signal.SIGSTOP)
        try:
            async with asyncio.timeout(HANG_S):
                ended = await asyncio.gather(*(timed(CALLS[name]) for name in names))
        finally:
            os.kill(second_server.pid, signal.SIGCONT)
    assert [name for name, (_, kind) in zip(names, ended, strict=True) if kind is None] == []
    assert max(took_s for took_s, _ in ended) < HANG_S / 2
