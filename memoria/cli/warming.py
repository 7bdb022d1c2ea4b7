"""Let a server plan the queries of recalls: after a start, new indexes, or for a mapped graph.

    python -m memoria.cli.warming

In: a store; for the module, the local server of memoria's home. Out: nothing; the next recall
reports a failure.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import suppress
from functools import partial

from memoria.cli.common import err
from memoria.cli.connection import on_target
from memoria.connection import find_target
from memoria.errors import MemoriaError
from memoria.graph.mapping.model import GraphMapping
from memoria.graph.mapping.parts import WHOLE_GRAPH
from memoria.graph.mapping.reading import MappedGraph
from memoria.recall.config import RetrieverConfig
from memoria.recall.warming import warm_plans
from memoria.store import Store

PLANNING = "planning queries ..."

# A command waits this long for the plans; seconds. Without them, a first recall may fail.
_PATIENCE_S = 60.0
# After `memoria up`, a process in the background continues, and gives up after this time; seconds.
_LONGEST_S = 120.0


async def plan_recalls(
    store: Store, scope: str = "default", config: RetrieverConfig | None = None
) -> None:
    """Let the server plan the queries of recalls, with the texts that these settings send."""
    with suppress(MemoriaError, TimeoutError), err.status(PLANNING):
        async with asyncio.timeout(_PATIENCE_S):
            await warm_plans(store, scope=scope, config=config)


async def plan_mapped_recalls(store: Store, mapping: GraphMapping) -> None:
    """Let the server plan the queries of recalls of a mapped graph, after new indexes as well."""
    await plan_recalls(store.translated(partial(MappedGraph, mapping)), WHOLE_GRAPH)


async def warm_up() -> None:
    """Warm the plans of the local server; if that takes long, leave it to another process."""
    try:
        async with asyncio.timeout(_PATIENCE_S):
            await _warm_local()
    except MemoriaError:
        return
    except TimeoutError:
        _continue_later()


def _continue_later() -> None:
    subprocess.Popen(
        [sys.executable, "-P", "-m", "memoria.cli.warming"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


async def _warm_local() -> None:
    await on_target(await find_target(uri=None), partial(warm_plans, scope="default"))


async def main() -> None:
    """Warm the plans; a server that goes away meanwhile ends it."""
    try:
        async with asyncio.timeout(_LONGEST_S):
            await _warm_local()
    except (MemoriaError, TimeoutError):
        return


if __name__ == "__main__":
    asyncio.run(main())
