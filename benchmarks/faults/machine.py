"""A server that may be killed or stopped, and what stands in it.

In: a setting. Out: a server whose data stay when it is killed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

from benchmarks.faults.journal import Journal, prepare
from benchmarks.faults.table import Setting
from benchmarks.faults.world import SEEDS, World, shared_world, world
from memoria import GraphRetriever, Path
from memoria.local import EphemeralNeo4j, LocalNeo4j
from memoria.store import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A server, its contents, its paths by their ids, and a scope for noted writes."""

    server: EphemeralNeo4j
    world: World
    paths: dict[tuple[str, ...], Path]
    noted: GraphRetriever
    journal: Journal


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Machine]:
    """Write the data of the calls to a server of its own; in a quick run to that of all rows."""
    async with AsyncExitStack() as stack:
        if setting.quick:  # it has planned the queries, which takes longer than all tries
            server, here = setting.server, await shared_world(setting)
        else:
            server = await stack.enter_async_context(LocalNeo4j.ephemeral())
            target = Target(uri=server.uri, auth=server.auth)
            here = await stack.enter_async_context(world(setting, target))
        noted = here.clean.for_scope(f"noted-{uuid4().hex[:8]}")
        await prepare(noted)
        async with here.clean.stream_paths(SEEDS, deadline_s=60) as stream:
            paths = {path.ids: path async for path in stream}
        yield Machine(
            server=server,
            world=here,
            paths=paths,
            noted=noted,
            journal=Journal(),
        )
