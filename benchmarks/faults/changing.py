"""A graph that changes while it is read, and one question asked many times.

In: a server. Out: rows of the table. Writes to a scope of its own for each try.
"""

from __future__ import annotations

import asyncio
import random
from uuid import uuid4

from benchmarks.faults.table import Row
from benchmarks.faults.world import QUESTION, SEEDS, World, web
from memoria import GraphRetriever, Memory, Path, Recall, Relation
from memoria.errors import MemoriaError
from memoria.store.config import StoreConfig

_READERS, _QUICK_READERS = 12, 2
_CHANGES, _QUICK_CHANGES = 5, 1
_ASKED, _QUICK_ASKED = 100, 8
_GONE_AT_ONCE = 10
_PATIENT_S = 240.0


async def _deleted(here: World, rng: random.Random, _: int) -> str | None:
    """Read while memories and edges are deleted and written again."""
    memories, edges = web(rng)
    readers = _QUICK_READERS if here.quick else _READERS
    least = _QUICK_CHANGES if here.quick else _CHANGES
    async with here.attacked(config=StoreConfig(query_timeout_s=_PATIENT_S)) as shared:
        memory = shared.for_scope(f"changing-{uuid4().hex}")
        await memory.writer().write(memories, edges)
        known = {(each.source, each.target) for each in edges}
        ended: list[str | None] = []
        changes = 0
        reading = asyncio.create_task(_read_on(memory, known, ended, readers))
        try:
            while not reading.done() and (changes < least or len(ended) < readers):
                await _change(memory, memories, edges, rng)
                changes += 1
        finally:
            reading.cancel()
            (stopped,) = await asyncio.gather(reading, return_exceptions=True)
        if not isinstance(stopped, asyncio.CancelledError):
            return f"a reading failed: {type(stopped).__name__}"
        await memory.writer().forget_scope(confirm=memory.scope)
    return next((wrong for wrong in ended if wrong), None)


async def _read_on(
    memory: GraphRetriever, known: set[tuple[str, str]], ended: list[str | None], readers: int
) -> None:
    """Recall and stream, several at once, again and again, and keep what was wrong."""
    while True:
        readings = (_read(memory, known, is_stream=number % 2 == 0) for number in range(readers))
        ended.extend(await asyncio.gather(*readings))


async def _change(
    memory: GraphRetriever, memories: list[Memory], edges: list[Relation], rng: random.Random
) -> None:
    """Delete some memories with their edges, and some edges alone, and write them again."""
    gone = {each.id for each in rng.sample(memories, _GONE_AT_ONCE)}
    cut = rng.sample(edges, _GONE_AT_ONCE)
    await memory.writer().forget(sorted(gone))
    for edge in cut:
        await memory.writer().delete_edge(edge.source, edge.target)
    lost = [each for each in edges if each in cut or gone & {each.source, each.target}]
    await memory.writer().write([each for each in memories if each.id in gone], lost)


async def _read(
    memory: GraphRetriever, known: set[tuple[str, str]], *, is_stream: bool
) -> str | None:
    """Recall, or stream paths, and look at each path."""
    try:
        if is_stream:
            async with memory.stream_paths(SEEDS, deadline_s=_PATIENT_S) as stream:
                paths = [path async for path in stream]
        else:
            found = await memory.recall(QUESTION, deadline_s=_PATIENT_S)
            paths = [path for each in found.explorations for path in each.paths]
    except MemoriaError as exc:
        return f"{type(exc).__name__}: {exc}"
    return next((wrong for path in paths if (wrong := _wrong(path, known))), None)


def _wrong(path: Path, known: set[tuple[str, str]]) -> str | None:
    """Say what can't be in a path, whatever was deleted when."""
    if len(set(path.ids)) < len(path.ids):
        return f"a path comes twice to one memory: {path.ids}"
    for hop in path.hops:
        if not known & {(hop.source, hop.target), (hop.target, hop.source)}:
            return f"a path has an edge that never was: {hop.source} to {hop.target}"
    if len(path.memories) not in (0, len(path.ids)):
        return f"a path of {len(path.ids)} memories has {len(path.memories)} texts"
    return None


async def _asked_again(here: World, _: random.Random, __: int) -> str | None:
    """Ask one question many times at once; answers come in any order, and are all the same."""
    asked = _QUICK_ASKED if here.quick else _ASKED
    config = StoreConfig(query_timeout_s=_PATIENT_S)
    async with here.attacked(config=config, deadline_s=_PATIENT_S) as memory:
        answers = await asyncio.gather(*(memory.recall(QUESTION) for _ in range(asked)))
    different = {_shape(each) for each in answers}
    if any(each.trace.degraded for each in answers):
        return "a recall is degraded"
    return None if len(different) == 1 else f"{len(different)} different answers"


def _shape(found: Recall) -> tuple[object, ...]:
    paths = [(path.ids, path.energy) for each in found.explorations for path in each.paths]
    return tuple(paths), tuple(entry.id for entry in found.ranked), found.context.text


ROWS = (
    Row(
        key="changing-graph",
        fault=f"{_READERS} simultaneous recalls and streams, repeatedly, while memories and edges "
        f"are deleted and written again at least {_CHANGES} times ({_QUICK_READERS} and "
        f"{_QUICK_CHANGES} in a quick run)",
        expected="no error; no path has an edge that never existed, or visits a memory twice",
        quick=1,
        full=50,
        attempt=_deleted,
        try_s=2 * _PATIENT_S,
    ),
    Row(
        key="asked-again",
        fault=f"{_ASKED} simultaneous recalls ask the same question ({_QUICK_ASKED} in a quick "
        "run)",
        expected="all get the same paths, ranking and context",
        quick=1,
        full=20,
        attempt=_asked_again,
        try_s=2 * _PATIENT_S,
    ),
)
