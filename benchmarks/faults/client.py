"""A client that is to be killed: it writes without end, and says what it began and what is done.

    python -m benchmarks.faults.client URI USER SCOPE SEED [LIMIT_S]

In: the address of a server; its password in MEMORIA_FAULTS_PASSWORD. Out: lines on standard output:
``begin OPERATION NAME`` before a write, ``done NAME`` after it. Writes.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys

from benchmarks.faults.journal import OPERATIONS, Journal, enter
from benchmarks.faults.world import embedder
from memoria import GraphRetriever
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig

# A client that nobody kills stops after so many writes.
_MOST = 5_000


async def main(uri: str, user: str, scope: str, seed: str, limit_s: str = "10") -> None:
    """Write until killed, each query within ``limit_s`` seconds."""
    rng = random.Random(seed)
    journal = Journal()
    auth = (user, os.environ["MEMORIA_FAULTS_PASSWORD"])
    limit = float(limit_s)
    config = StoreConfig(query_timeout_s=limit, long_query_timeout_s=limit)
    async with open_driver(Target(uri=uri, auth=auth), config) as driver:
        memory = GraphRetriever(Store(driver, config=config), scope=scope, embedder=embedder())
        for number in range(_MOST):
            operation = rng.choice(OPERATIONS)
            name = f"{seed}-{number}"
            print(f"begin {operation} {name}", flush=True)
            if await enter(memory, journal, operation, name) is None:
                print(f"done {name}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
