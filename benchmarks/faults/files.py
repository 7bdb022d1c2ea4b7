"""Hostile files, and exports during writes.

In: a server. Out: rows of the table. Writes files into temporary folders, and scopes of its own.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from uuid import uuid4

from benchmarks.environment import ROOT
from benchmarks.faults.hostile_files import (
    HELD,
    MEMORY_BYTES,
    PROCESSOR_S,
    WALL_S,
    cases,
    command,
)
from benchmarks.faults.table import Family, Row, Setting
from benchmarks.faults.world import embedder
from memoria import GraphRetriever, Memory, Message, Relation
from memoria.errors import MemoriaError
from memoria.ingest import ingest_files
from memoria.ingest.export import export_lines
from memoria.store import Store, open_driver
from memoria.store.config import StoreConfig

_CASES = cases()
_WRITERS = 3
_PATIENT_S = 240.0


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[GraphRetriever]:
    """Open a retriever with time limits for a busy machine."""
    config = StoreConfig(query_timeout_s=_PATIENT_S)
    async with open_driver(setting.target, config) as driver:
        yield GraphRetriever(Store(driver, config=config), scope="files", embedder=embedder())


async def _hostile(_: GraphRetriever, __: random.Random, number: int) -> str | None:
    """Read one hostile file in a process of its own."""
    hostile, reader = _CASES[number % len(_CASES)]
    with tempfile.TemporaryDirectory(prefix="memoria-faults-") as folder:
        path = await asyncio.to_thread(hostile.make, Path(folder))
        process = await asyncio.create_subprocess_exec(
            *command([(reader, path)]),
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        said, wrong = (each.decode(errors="replace") for each in await process.communicate())
    if said.startswith(HELD):
        return None
    return f"{hostile.name}, {reader}: {(wrong.strip() or said).splitlines()[-1]}"


async def _exported(memory: GraphRetriever, _: random.Random, __: int) -> str | None:
    """Export a scope while others append, write and forget, then ingest the export."""
    here, back = (memory.for_scope(f"files-{uuid4().hex}") for _ in range(2))
    stop = asyncio.Event()
    await _turns(here, 0, 10, stop)
    writers = [asyncio.create_task(_write_on(here, number, stop)) for number in range(_WRITERS)]
    try:
        lines = [line async for line in export_lines(here.store, scope=here.scope)]
    finally:
        stop.set()
        ended = await asyncio.gather(*writers, return_exceptions=True)
    if wrong := next((each for each in ended if isinstance(each, BaseException)), None):
        return f"a writer ended with {type(wrong).__name__}: {wrong}"
    try:
        return await _read_back(back, lines)
    finally:
        for each in (here, back):
            await each.writer().forget_scope(confirm=each.scope)


async def _turns(memory: GraphRetriever, writer: int, turns: int, stop: asyncio.Event) -> None:
    """Append turns to a conversation, each with an edge from the previous turn."""
    conversations = memory.conversations()
    for turn in range(turns):
        if stop.is_set():
            return
        said = Message(text=f"writer {writer} says {turn}: the oven is {turn} degrees", role="user")
        await conversations.append(f"c{writer}", [said])


async def _write_on(memory: GraphRetriever, number: int, stop: asyncio.Event) -> None:
    """Write turns and connected memories, and forget some, until ``stop`` is set."""
    writer = memory.writer()
    for turn in count():
        if stop.is_set():
            return
        ids = [f"{uuid4().hex}-{each}" for each in range(10)]
        edges = [Relation(source=ids[each], target=ids[each - 1]) for each in range(10)]
        await writer.write([Memory(id=id_, kind="Event", text=id_) for id_ in ids], edges)
        await _turns(memory, number, 2, stop)
        if turn % 3 == 2:
            await writer.forget(ids[:3])


async def _read_back(memory: GraphRetriever, lines: list[str]) -> str | None:
    with tempfile.NamedTemporaryFile(prefix="memoria-faults-", suffix=".jsonl") as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
        file.flush()
        try:
            await ingest_files(memory.writer(), [file.name])
        except MemoriaError as exc:
            return f"the export can't be ingested: {exc}"
    again = [line async for line in export_lines(memory.store, scope=memory.scope)]
    return None if len(again) == len(lines) else f"{len(again)} of {len(lines)} lines came back"


FAMILY = Family(
    name="files",
    opened=opened,
    rows=(
        Row(
            key="hostile-files",
            fault=f"files made to exhaust memory or time, {len(_CASES)} pairs of a file and a "
            "reader: YAML, TOML, JSON, zip, gzip, arrays, Markdown, pipes, links",
            expected=f"the file is read, or a typed error; at most {MEMORY_BYTES // 1_000_000:,} "
            f"MB of memory and {PROCESSOR_S} s of processor time; nothing outside the folder is "
            "read",
            quick=10,
            full=len(_CASES),
            attempt=_hostile,
            try_s=WALL_S + 20,  # the row promises processor time
        ),
        Row(
            key="export-beside-writers",
            fault=f"a scope is exported while {_WRITERS} writers append, write and forget",
            expected="the export can be ingested, and the copy exports as many lines",
            quick=1,
            full=100,
            attempt=_exported,
            try_s=_PATIENT_S,
        ),
    ),
)
