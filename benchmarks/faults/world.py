"""What is attacked: a server with a small graph, and the calls that are made while it is broken.

In: a server. Out: retrievers on it, and the calls of memoria, each by a name. Writes its graph.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4
from zlib import crc32

import neo4j

import memoria
from benchmarks.faults.table import Setting
from memoria import (
    Conversation,
    Document,
    GraphRetriever,
    Memory,
    MemoryFilter,
    Message,
    Path,
    Recall,
    Relation,
    Seed,
)
from memoria.graph.stats import scope_stats
from memoria.recall.config import RetrieverConfig
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig

DIMENSIONS = 16
MEMORIES = 120
EDGES = 360
QUESTION = "Which oven burnt the buns of batch 7?"
SEEDS = tuple(Seed(id=f"m{number}", score=1.0 - number / 10) for number in range(5))
# Time for a recall or a stream, and for each query of another call; seconds.
DEADLINE_S = 1.5
QUERY_S = 1.0
_PATIENT_S = 60.0


def vector_of(text: str) -> list[float]:
    """Return a vector that depends on the words of a text alone: texts that share words are near.

    >>> vector_of("a b") == vector_of("b a")
    True
    """
    found = [0.01] * DIMENSIONS
    for word in re.findall(r"\w+", text.casefold()):
        found[crc32(word.encode()) % DIMENSIONS] += 1.0
    return found


def embedder() -> memoria.CallableEmbedder:
    """Make an embedder that needs no model."""

    def embed(texts: list[str]) -> list[list[float]]:
        return [vector_of(text) for text in texts]

    return memoria.CallableEmbedder(embed, dimensions=DIMENSIONS, name="words")


def web(rng: random.Random) -> tuple[list[Memory], list[Relation]]:
    """Make a small graph: memories whose words repeat, and edges between any two of them."""
    things = ("oven", "flour", "buns", "delivery", "guest", "batch")
    memories = [
        Memory(
            id=f"m{number}",
            kind="Event",
            text=f"The {rng.choice(things)} of batch {number % 17} was late.",
        )
        for number in range(MEMORIES)
    ]
    pairs = {tuple(rng.sample(range(MEMORIES), 2)) for _ in range(EDGES)}
    edges = [
        Relation(
            source=f"m{source}",
            target=f"m{target}",
            relation="follows",
            weight=rng.choice((0.6, 0.8, 1.0)),
        )
        for source, target in sorted(pairs)
    ]
    return memories, edges


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A server and its graph.

    Attributes
    ----------
    target
        The server itself, without any fault between.
    scope
        Scope of the graph that calls read; nothing writes to it.
    written
        Scope of the same graph, to which calls write.
    clean
        A retriever on the server itself.
    learned
        A recall in ``written``, to learn from.
    grace_s
        So much longer than its limit a call may take; seconds.
    quick
        Whether the run is short.
    right
        The paths of each seed, by the seeds that were explored together: those of ``scope`` never
        change.
    """

    target: Target
    scope: str
    written: str
    clean: GraphRetriever
    learned: Recall
    grace_s: float
    quick: bool
    right: dict[tuple[Seed, ...], dict[str, tuple[Path, ...]]] = field(default_factory=dict)

    @property
    def limit_s(self) -> float:
        """The longest that a call of `attacked` may take; seconds."""
        return max(DEADLINE_S, QUERY_S) + self.grace_s

    @property
    def gone_s(self) -> float:
        """Time after which nothing of a call may be left; seconds."""
        return 2 * self.grace_s

    @asynccontextmanager
    async def attacked(
        self,
        target: Target | None = None,
        config: StoreConfig | None = None,
        deadline_s: float = DEADLINE_S,
    ) -> AsyncIterator[GraphRetriever]:
        """Open a retriever of its own, whose connections may be broken."""
        config = config or StoreConfig(
            query_timeout_s=QUERY_S, long_query_timeout_s=QUERY_S, connect_timeout_s=QUERY_S
        )
        async with open_driver(target or self.target, config) as driver:
            yield GraphRetriever(
                Store(driver, config=config),
                scope=self.scope,
                embedder=embedder(),
                config=RetrieverConfig(deadline_s=deadline_s),
            )

    async def is_right(self, found: Recall) -> bool:
        """Tell whether a recall found seeds, and from each of them the paths that there are."""
        if not found.seeds.seeds:
            return False
        seeds = found.seeds.seeds
        if seeds not in self.right:
            stream = self.clean.explore_seeds(found.seeds, deadline_s=_PATIENT_S)
            async with stream as explorations:
                self.right[seeds] = {each.seed.id: each.paths async for each in explorations}
        right = self.right[seeds]
        return all(each.paths == right[each.seed.id] for each in found.explorations)

    async def recalls_again(self, memory: GraphRetriever) -> bool:
        """Tell whether a retriever recalls what is right, with enough time on a busy machine."""
        patient = GraphRetriever(
            memory.store.patient(_PATIENT_S), scope=self.scope, embedder=embedder()
        )
        return await self.is_right(await patient.recall(QUESTION, deadline_s=_PATIENT_S))

    async def is_well(self) -> str | None:
        """Recall once more without a fault; return in words what is not as it was, or None."""
        found = await self.clean.recall(QUESTION, deadline_s=_PATIENT_S)
        if found.trace.degraded:
            return f"a recall is degraded: {found.trace.degraded[0]}"
        return None if await self.is_right(found) else "a recall no longer finds what it found"


@asynccontextmanager
async def world(setting: Setting, target: Target) -> AsyncIterator[World]:
    """Write the graph into a scope of its own, and ask once for what is right."""
    scope = f"faults-{uuid4().hex[:8]}"
    config = StoreConfig(query_timeout_s=60)
    async with open_driver(target, config) as driver:
        clean = GraphRetriever(Store(driver, config=config), scope=scope, embedder=embedder())
        other = clean.for_scope(f"{scope}-written")
        graph = web(random.Random(setting.seed))
        await clean.writer().write(*graph)
        await other.writer().write(*graph)
        for _ in range(3):  # the server plans its queries
            await clean.recall(QUESTION, deadline_s=60)
        learned = await other.recall(QUESTION, deadline_s=60)
        yield World(
            target=target,
            scope=scope,
            written=other.scope,
            clean=clean,
            learned=learned,
            grace_s=setting.grace_s,
            quick=setting.quick,
        )


async def shared_world(setting: Setting) -> World:
    """Return the world of the server that families share."""
    if "world" not in setting.shared:
        opening = world(setting, setting.target)
        setting.shared["world"] = await setting.stack.enter_async_context(opening)
    found: World = setting.shared["world"]
    return found


async def settled(store: Store, within_s: float) -> str | None:
    """Wait until a store has given back all that calls took; return what it still holds."""
    until = time.monotonic() + within_s
    while True:
        held = {
            "sessions in use": store.sessions_in_use,
            "recalls at work": store.recalls.taken,
            "recalls in line": store.line.taken + store.line.waiting,
            "connections in use": connections_in_use(store.driver),
        }
        left = [f"{number} {name}" for name, number in held.items() if number]
        if not left:
            return None
        if time.monotonic() > until:
            return f"still {', '.join(left)} {within_s:g} s after the call"
        await asyncio.sleep(0.02)


def connections_in_use(driver: neo4j.AsyncDriver) -> int:
    """Count the connections that the pool of a driver has handed out."""
    pool = driver._pool  # not public: the driver tells nobody
    with pool.lock:
        return sum(one.in_use for each in pool.connections.values() for one in each)


Call = Callable[[GraphRetriever, World], Awaitable[object]]


async def _recall(memory: GraphRetriever, _: World) -> object:
    return await memory.recall(QUESTION)


async def _recall_stream(memory: GraphRetriever, _: World) -> object:
    async with memory.recall_stream(QUESTION) as paths:
        return [path async for path in paths]


async def _paths(memory: GraphRetriever, _: World) -> object:
    async with memory.stream_paths(SEEDS) as paths:
        return [path async for path in paths]


async def _explorations(memory: GraphRetriever, _: World) -> object:
    async with memory.explore_seeds(SEEDS) as explorations:
        return [each async for each in explorations]


async def _seeds(memory: GraphRetriever, _: World) -> object:
    return await memory.find_seeds(QUESTION)


async def _read(memory: GraphRetriever, _: World) -> object:
    return await memory.get(["m1", "m2"]), await memory.neighbours("m1")


async def _write(memory: GraphRetriever, world: World) -> object:
    name = uuid4().hex
    memories = [Memory(id=f"{name}-{end}", text=f"one end {end}", kind="Other") for end in "ab"]
    edge = Relation(source=f"{name}-a", target=f"{name}-b", relation="joins")
    return await memory.for_scope(world.written).writer(kinds=("Other",)).write(memories, [edge])


async def _remember(memory: GraphRetriever, world: World) -> object:
    writer = memory.for_scope(world.written).writer()
    return await writer.remember(f"{uuid4().hex} belongs to nobody", kind="Event")


async def _append(memory: GraphRetriever, world: World) -> object:
    conversations = memory.for_scope(world.written).conversations()
    return await conversations.append(uuid4().hex, [Message(text="The oven is late.")])


async def _conversation(memory: GraphRetriever, world: World) -> object:
    messages = [Message(id=f"{uuid4().hex}-{end}", text=f"batch {end}") for end in "ab"]
    writer = memory.for_scope(world.written).writer()
    return await writer.conversation(Conversation(id=uuid4().hex, messages=messages))


async def _document(memory: GraphRetriever, world: World) -> object:
    writer = memory.for_scope(world.written).writer()
    return await writer.document(Document(id=uuid4().hex, text="The oven of batch 7 is late."))


async def _stats(memory: GraphRetriever, _: World) -> object:
    return await scope_stats(memory.store, memory.scope)


async def _learn(memory: GraphRetriever, world: World) -> object:
    used = [entry.id for entry in world.learned.ranked[:2]]
    return (
        await memory.for_scope(world.written)
        .learner()
        .feedback(world.learned.trace, confirmed=used, event_id=uuid4().hex)
    )


async def _link(memory: GraphRetriever, world: World) -> object:
    return await memory.for_scope(world.written).linker().link(["m1", "m2"])


async def _forget(memory: GraphRetriever, world: World) -> object:
    writer = memory.for_scope(world.written).writer()
    return await writer.forget(where=MemoryFilter(kinds=["Other"]))


#: Every call that is made while the server or the wire is broken.
CALLS: Mapping[str, Call] = {
    "recall": _recall,
    "recall_stream": _recall_stream,
    "stream_paths": _paths,
    "explore_seeds": _explorations,
    "find_seeds": _seeds,
    "get": _read,
    "write": _write,
    "remember": _remember,
    "append": _append,
    "conversation": _conversation,
    "document": _document,
    "stats": _stats,
    "feedback": _learn,
    "link": _link,
    "forget": _forget,
}
READS: Sequence[str] = tuple(CALLS)[:6]
