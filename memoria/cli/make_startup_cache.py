"""Make the start-up cache of the local server in the background: see `memoria.local.startup_cache`.

    python -m memoria.cli.make_startup_cache FILE

In: the file to write. Out: the cache, which later starts of the server read. Touches: a server of
its own, which plans the queries of recalls, at the lowest priority and for about a minute.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil

from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder
from memoria.local import LocalNeo4j
from memoria.local.settings import Layout
from memoria.local.startup_cache import begin, complete
from memoria.recall.warming import warm_plans
from memoria.store import Store, Target, open_driver

# Java writes the cache once the server has ended; seconds.
_WRITING_S = 600.0
_LOWEST_PRIORITY = 19


def make_later(layout: Layout) -> None:
    """Make the cache in another process, unless it is there; its log says why it could not."""
    with suppress(OSError):  # the server runs, and can do without
        unfinished = begin(layout)
        if unfinished is None:
            return
        with layout.log.with_name("startup-cache.log").open("w", encoding="utf-8") as log:
            subprocess.Popen(  # noqa: S603 - the command is made by memoria
                [sys.executable, "-P", "-m", "memoria.cli.make_startup_cache", str(unfinished)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )


async def make(cache: Path) -> None:
    """Write to a file the classes that Java loads for a server and for the queries of recalls.

    Raises
    ------
    MemoriaError
        The disk or the memory has no room for another server, or it fails.
    psutil.TimeoutExpired
        Java took longer than ten minutes to write.
    """
    noted = [f"-XX:AOTCacheOutput={cache}"]
    async with LocalNeo4j.ephemeral(heap_mb=256, page_cache_mb=16, java_options=noted) as server:
        async with open_driver(Target(uri=server.uri, auth=server.auth)) as driver:
            store = Store(driver, database="neo4j")
            await apply_schema(store, embedder=AbsentEmbedder(name="none", dimensions=384))
            await warm_plans(store, scope="default")
        java = psutil.Process(server.pid)
        java.send_signal(signal.SIGTERM)  # leaving the block would not wait for Java to write
        await asyncio.to_thread(java.wait, _WRITING_S)


def main(unfinished: Path) -> None:
    """Make the cache; without it, the next start only takes longer."""
    os.nice(_LOWEST_PRIORITY)
    try:
        asyncio.run(make(unfinished))
        if unfinished.stat().st_size:  # Java could write it
            complete(unfinished)
    finally:
        unfinished.unlink(missing_ok=True)  # unless it is complete, and has another name


if __name__ == "__main__":
    main(Path(sys.argv[1]))
