"""Write to a server until its disk is full, and look at what is left.

    TMPDIR=/mnt python -m benchmarks.faults.full_disk SEED

Started by `benchmarks.faults.limits` where ``TMPDIR`` is a small file system. Out: the exit status,
and in words what did not hold.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from uuid import uuid4

from benchmarks.faults.journal import Journal, compare, enter, prepare
from benchmarks.faults.world import embedder
from memoria import GraphRetriever, Memory
from memoria.errors import MemoriaError
from memoria.local import LocalNeo4j
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig

_BLOCK = 1 << 16
_TEXT = "full " * 2_000


async def main(seed: str) -> str | None:
    """Fill, write on, make room, restart, compare."""
    filler = Path(os.environ["TMPDIR"]) / "filler"
    journal = Journal()
    config = StoreConfig(query_timeout_s=10)
    async with LocalNeo4j.ephemeral(heap_mb=256, page_cache_mb=16) as server:
        target = Target(uri=server.uri, auth=server.auth)
        async with open_driver(target, config) as driver:
            memory = GraphRetriever(Store(driver, config=config), scope=seed, embedder=embedder())
            await prepare(memory)
            await _fill(filler)
            wrong = await _write_on(memory, journal, seed)
            filler.unlink()
            await server.restart()
            return wrong or await compare(memory, journal)


async def _fill(filler: Path) -> None:
    """Take all of the disk but a little."""
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * _BLOCK)
        except OSError:
            file.truncate(max(0, file.tell() - 8 * _BLOCK))


async def _write_on(memory: GraphRetriever, journal: Journal, seed: str) -> str | None:
    """Write until writes fail; each error must be one of memoria's."""
    failed = 0
    for number in range(400):
        try:
            await memory.writer().write(
                [Memory(id=uuid4().hex, kind="Event", text=f"{number} {_TEXT}")]
            )
            if await enter(memory, journal, "write", f"{seed}-{number}") is not None:
                failed += 1
        except MemoriaError:
            failed += 1
        if failed == 3:
            return None
    return "the disk was never full"


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
