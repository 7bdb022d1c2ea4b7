"""A server of its own for each graph: loaded, indexed, and gone at the end.

In: a graph. Out: a `Served`. Touches a local Neo4j below a folder, which it starts and stops.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import neo4j

from benchmarks.queries import text_of
from benchmarks.race.graphs import DIMENSIONS, Graph
from benchmarks.race.load import write, write_tables
from memoria._support.home import default_home
from memoria._support.progress import ProgressCallback
from memoria.downloads.jars import resolve_jars
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder
from memoria.local import LocalNeo4j
from memoria.local.settings import COORDINATE
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig

EMBEDDER = "benchmark"
DATABASE = "neo4j"
OFFLINE_FROM_EDGES = 50_000
IMPORTED = "offline import"
SCHEMA_TIMEOUT_S = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Memory of a server; MB."""

    heap_mb: int = 2_048
    page_cache_mb: int = 2_048


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A graph behind a running server.

    Attributes
    ----------
    driver
        For contenders that are async: one for all of them.
    target
        For those that bring a driver of their own.
    pid
        Process id of the server.
    load
        How the graph came in: the way, its size, seconds of each step.
    degrees
        Id -> edges at the memory.
    """

    graph: Graph
    driver: neo4j.AsyncDriver
    target: Target
    pid: int
    load: dict[str, Any]
    degrees: Mapping[str, int]

    def session(self) -> neo4j.AsyncSession:
        """Open a session for reading; without the server's advice on each query, as memoria's."""
        return self.driver.session(
            database=DATABASE, default_access_mode="READ", notifications_min_severity="OFF"
        )


@asynccontextmanager
async def serve(
    graph: Graph, folder: Path, memory: Memory, progress: ProgressCallback
) -> AsyncIterator[Served]:
    """Load a graph into an empty server below ``folder``, and remove both afterwards."""
    resolve_jars(COORDINATE, home=default_home())
    shutil.copytree(default_home() / "jars", folder / "jars")  # the notes; the jars are shared
    server = LocalNeo4j(folder, heap_mb=memory.heap_mb, page_cache_mb=memory.page_cache_mb)
    offline = len(graph.source) >= OFFLINE_FROM_EDGES
    degrees = dict(zip(graph.ids, graph.degrees().tolist(), strict=True))
    load: dict[str, Any] = {
        "way": IMPORTED if offline else "GraphWriter",
        "nodes": len(graph.ids),
        "edges": len(graph.source),
        "largest_degree": max(degrees.values()),
        "embedded": graph.embedded,
    }
    config = StoreConfig(query_timeout_s=600, max_sessions=50)
    try:
        if offline:
            with _timed(load, "tables_s"):
                files = write_tables(graph, folder / "tables", progress)
            with _timed(load, "import_s"):
                await server.import_files(files, progress=progress)
            shutil.rmtree(folder / "tables")
        info = await server.start()
        target = Target(uri=info.uri, auth=server.auth, database=DATABASE)
        async with open_driver(target, config) as driver:
            store = Store(driver, database=DATABASE, config=config)
            with _timed(load, "schema_s"):
                await apply_schema(
                    store,
                    embedder=AbsentEmbedder(name=EMBEDDER, dimensions=DIMENSIONS),
                    timeout_s=SCHEMA_TIMEOUT_S,
                )
            if not offline:
                with _timed(load, "write_s"):
                    await write(graph, store, progress)
            for name in ("id_index", "await_indexes"):
                await driver.execute_query(text_of(name), database_=DATABASE)
            yield Served(
                graph=graph,
                driver=driver,
                target=target,
                pid=info.pid,
                load=load,
                degrees=degrees,
            )
    finally:
        await server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _timed(load: dict[str, Any], name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    load[name] = round(time.perf_counter() - started, 2)
