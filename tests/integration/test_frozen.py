"""A server that no longer runs, and does not say so: every call ends by its own clock.

How soon after its limit is measured by ``scripts/faults --only server-frozen``.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal

from benchmarks.faults.world import CALLS, settled, world
from memoria.errors import MemoriaError
from memoria.local import EphemeralNeo4j
from memoria.store import Store, Target, open_driver
from tests.integration.test_doctor import wipe

# Far above every limit.
HANG_S = 20.0


async def test_every_call_ends_while_the_server_is_stopped_and_the_next_one_works(
    second_server: EphemeralNeo4j,
) -> None:
    target = Target(uri=second_server.uri, auth=second_server.auth)
    async with open_driver(target) as driver:
        await wipe(Store(driver, database="neo4j"))
    async with world(target, random.Random(1)) as here, here.attacked() as memory:
        assert await here.recalls_again(memory)
        calls = [asyncio.create_task(call(memory, here)) for call in CALLS.values()]
        await asyncio.sleep(0.02)
        os.kill(second_server.pid, signal.SIGSTOP)
        try:
            calls += [asyncio.create_task(call(memory, here)) for call in CALLS.values()]
            _, waiting = await asyncio.wait(calls, timeout=HANG_S)
        finally:
            os.kill(second_server.pid, signal.SIGCONT)
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert not waiting
        for each in ended:
            assert not isinstance(each, BaseException) or isinstance(each, MemoriaError), each
        assert await settled(memory.store, 1.0) is None
        assert await here.recalls_again(memory)
