"""Options for every Java that a test starts, also those that commands and pages start.

A server of the tests lives for seconds or minutes. The second compiler takes more time than it
gives back, half of it during the start and while queries are planned; a collector with threads
of its own has no core to run them on; and most of a start is reading and linking some ten
thousand classes, which a cache (JEP 514) saves.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from memoria.home import default_home
from memoria.ingest import GraphWriter
from memoria.jars import resolve_jars
from memoria.local import process, readiness
from memoria.local.settings import COORDINATE, Layout, Sizes
from memoria.retriever import GraphRetriever
from memoria.schema import apply_schema
from memoria.store import Store, Target, open_driver
from memoria.types import Memory, Relation

VARIABLE = "JDK_JAVA_OPTIONS"  # the program java reads it, and says so on stderr
SHORT_LIFE = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
AUTH = ("neo4j", "")
STOP_TIMEOUT_S = 120


async def class_cache(folder: Path) -> Path:
    """A file of loaded and linked classes for ``-XX:AOTCache``; made where it is not there yet.

    Java goes on without it, with a warning in the server's log, where it does not fit.
    """
    jars = await asyncio.to_thread(resolve_jars, COORDINATE, home=default_home())
    cache = await asyncio.to_thread(_place, folder, jars)
    with TemporaryDirectory(dir=folder) as root:
        if not await asyncio.to_thread(cache.exists):
            made = await _train(Layout(Path(root)), jars)
            await asyncio.to_thread(made.replace, cache)
    return cache


def _place(folder: Path, jars: list[Path]) -> Path:
    """A file for these jars and this Java; those for others are removed."""
    parts = [(process.java().parents[1] / "release").read_text(), SHORT_LIFE]
    parts += [f"{jar} {jar.stat().st_size} {jar.stat().st_mtime_ns}" for jar in jars]
    cache = folder / f"{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}.aot"
    for other in set(folder.glob("*.aot")) - {cache}:
        other.unlink(missing_ok=True)
    return cache


async def _train(layout: Layout, jars: list[Path]) -> Path:
    """Use a server a little; Java writes down at its end what it has loaded."""
    cache = layout.root / "classes.aot"
    port = readiness.free_port()
    open_to_all = {"dbms.security.auth_enabled": "false"}
    sizes = Sizes(heap_mb=512, page_cache_mb=64)
    process.write_configuration(layout, jars, port=port, sizes=sizes, extra=open_to_all)
    server = await asyncio.create_subprocess_exec(
        *process.server_command(layout),
        env={**os.environ, VARIABLE: f"{SHORT_LIFE} -XX:AOTCacheOutput={cache}"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await readiness.wait_until_ready(
            port, AUTH, alive=lambda: server.returncode is None, layout=layout
        )
        await _use(Target(uri=f"bolt://127.0.0.1:{port}", auth=AUTH))
        server.terminate()
        async with asyncio.timeout(STOP_TIMEOUT_S):
            await server.wait()
    finally:
        if server.returncode is None:
            server.kill()
            await server.wait()
    return cache


async def _use(target: Target) -> None:
    async with open_driver(target) as driver:
        store = Store(driver, database="neo4j")
        await apply_schema(store, dimensions=3, embedder="test")
        memories = [
            Memory(id=str(n), kind="Event", text=f"It rained {n}", embedding=[1.0, n, 0.5])
            for n in range(20)
        ]
        edges = [Relation(source=str(n), target=str(n // 2)) for n in range(1, 20)]
        await GraphWriter(store, scope="a").write(memories, edges)
        retriever = GraphRetriever(driver, scope="a")
        await retriever.recall("rain 7")
