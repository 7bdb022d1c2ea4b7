"""A server that may be killed or stopped, and what stands in it.

In: nothing but the seed. Out: a server of its own, whose data stay.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

from benchmarks.faults.journal import Journal, prepare
from benchmarks.faults.table import Setting
from benchmarks.faults.world import SEEDS, World, world
from memoria import GraphRetriever, Path
from memoria.local import EphemeralNeo4j, LocalNeo4j
from memoria.store import Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A server, its contents, its paths by their ids, and a scope for noted writes.

    ``quick`` says whether the run is short.
    """

    server: EphemeralNeo4j
    world: World
    paths: dict[tuple[str, ...], Path]
    noted: GraphRetriever
    journal: Journal
    quick: bool


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Machine]:
    """Start a server, and write what calls need."""
    rng = random.Random(setting.seed)
    async with LocalNeo4j.ephemeral() as server:
        target = Target(uri=server.uri, auth=server.auth)
        async with world(target, rng, setting.grace_s) as here:
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
                quick=setting.quick,
            )
