"""Tenants whose names look alike: none may see, or change, what another one has.

In: a server. Out: rows of the table.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from benchmarks.faults.journal import prepare
from benchmarks.faults.table import Family, Row, Setting
from benchmarks.faults.world import embedder
from memoria import GraphRetriever, Memory, MemoryFilter, Relation
from memoria.graph.stats import list_scopes, scope_stats
from memoria.ingest.export import export_lines
from memoria.store import Store, open_driver
from memoria.store.config import StoreConfig

#: Names that differ for a computer, and look alike to people, to analyzers, or as parts of a key.
NAMES = (
    *("ann", "Ann", "ANN", "ann ", " ann", "ann.", "ann/", "a nn", "an\u200bn", "\uff41nn"),
    *("änn", "a\u0308nn", "\u0430nn", "ann\u202e", "ann\t", "'ann'", '"ann"', "`ann`", "ann*"),
    *("ann?", "an", "annn", "ann:ann", "scope:ann", "documents:ann", "ann:x", "memoria", "ann%"),
    *("$ann", "ann OR ann", "ann AND", "{ann}", "[ann]", "ann\\", "ann\n", "null", "None", "0"),
    *("ann\r", "ann\u00a0", "ånn", "ann#", "ann+", "ann-", "ann_", "a.n.n", "ann.ann", "ann/ann"),
    *("ANN:ann", "ann&ann"),
)
# A quick run has some of the tenants.
_SOME = NAMES[::4]
# Memories of a tenant in a quick run, and in a full one; `prepare` adds some.
_FEW, _MANY = 6, 1_000
_WORDS = ("oven", "flour", "invoice", "bicycle", "cellar")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenants:
    """A retriever, what each tenant wrote (name -> text), and the memories of each."""

    memory: GraphRetriever
    texts: Mapping[str, str]
    size: int


@asynccontextmanager
async def opened(setting: Setting) -> AsyncIterator[Tenants]:
    """Let every tenant write the same ids, with a text of its own."""
    config = StoreConfig(query_timeout_s=20)
    async with open_driver(setting.target, config) as driver:
        memory = GraphRetriever(Store(driver, config=config), scope="t", embedder=embedder())
        names = _SOME if setting.quick else NAMES
        texts = {name: f"The oven is secret number {n}." for n, name in enumerate(names)}
        size = _FEW if setting.quick else _MANY
        for name, text in texts.items():
            await _fill(memory.for_scope(name), text, size)
        (one,) = {(await scope_stats(memory.store, scope=name)).memories for name in texts}
        yield Tenants(memory=memory, texts=texts, size=one)


async def _fill(memory: GraphRetriever, text: str, size: int) -> None:
    memories = [Memory(id="m0", kind="Event", text=text, tags=["oven"])]
    memories += [
        Memory(id=f"m{n}", kind="Event", text=f"{text} And the {_WORDS[n % len(_WORDS)]} {n}.")
        for n in range(1, size)
    ]
    edges = [
        Relation(source="m0", target=f"m{n}", relation="about", weight=0.9)
        for n in range(1, len(_WORDS) + 1)
    ]
    await memory.writer().write(memories, edges)
    await prepare(memory)


async def _through_every_call(tenants: Tenants, rng: random.Random, number: int) -> str | None:
    """Let one tenant read and write by every call, and look at what it and another one have."""
    names = list(tenants.texts)
    name = names[number % len(names)]
    other = rng.choice([each for each in names if each != name])
    memory, mine = tenants.memory.for_scope(name), tenants.texts[name]
    foreign = tenants.memory.for_scope(other)
    before = await _all_of(foreign)
    found = await memory.recall("Which oven is secret?", deadline_s=20)
    seen = [entry.memory.text for entry in found.ranked]
    async with memory.stream_paths(found.seeds, deadline_s=20) as paths:
        seen += [node.text async for path in paths for node in path.memories]
    seen += [each.text for each in (await memory.get(["m0", "m1", "edge-a"])).memories]
    around = await memory.neighbours("m0")
    seen += [each.memory.text for each in around.neighbours]
    seen += [each.text for each in await memory.recent()]
    seen += [each.text for each in (await memory.list(limit=50)).memories]
    by_filter = MemoryFilter(tags=["oven"])
    seen += [seed.id for seed in (await memory.find_seeds("oven", where=by_filter)).seeds]
    strange = [text for text in seen if not _is_own(text, mine)]
    if strange:
        return f"{name!a} saw {strange[0]!r}"
    wrong = await _writes(memory, found.trace, tenants.size)
    if wrong is not None:
        return f"{name!a}: {wrong}"
    if await _all_of(foreign) != before:
        return f"what {name!a} wrote changed {other!a}"
    listed = [each.scope for each in await list_scopes(memory.store)]
    return None if listed.count(name) == 1 else f"{name!a} is listed {listed.count(name)} times"


async def _writes(memory: GraphRetriever, trace: object, size: int) -> str | None:
    """Write, learn, link, undo and forget; the scope is afterwards as it was."""
    learner = memory.learner()
    report = await learner.feedback(trace, confirmed=["m0"], event_id="one")  # type: ignore[arg-type]
    if report.memories != 1:
        return f"feedback reached {report.memories} memories"
    await learner.strengthen_edge("m0", "m1", relation="about", increment=0.01, event_id="two")
    done = await memory.writer().remember(f"Only {memory.scope!a} knows the kettle.")
    await memory.linker().link([done.id])
    gone = await memory.writer().forget([done.id])
    if gone.deleted != 1:
        return f"forget deleted {gone.deleted} memories"
    stats = await scope_stats(memory.store, scope=memory.scope)
    return None if stats.memories == size else f"{stats.memories} memories instead of {size}"


def _is_own(text: str, mine: str) -> bool:
    return text.startswith((mine, "edge-", "m"))


async def _all_of(memory: GraphRetriever) -> list[str]:
    return [line async for line in export_lines(memory.store, scope=memory.scope)]


FAMILY = Family(
    name="tenants",
    opened=opened,
    rows=(
        Row(
            key="look-alikes",
            fault=f"{len(NAMES)} tenants with similar names and {_MANY:,} memories each use every "
            f"call ({len(_SOME)} tenants with {_FEW} memories in a quick run)",
            expected="each reads and changes only its own memories",
            quick=8,
            full=1_000,
            attempt=_through_every_call,
        ),
    ),
)
