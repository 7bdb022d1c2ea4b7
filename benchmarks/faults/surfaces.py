"""Every place where memoria's calls in Python take a string; see `benchmarks.faults.served`, too.

In: what is opened for the tries. Out: a call for each slot. Writes to the scope of the tries.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client

from benchmarks.faults.world import SEEDS
from memoria import (
    Conversation,
    Document,
    GraphRetriever,
    Memory,
    MemoryFilter,
    Message,
    Relation,
)
from memoria.types import Seed


@dataclass(frozen=True, slots=True, kw_only=True)
class Surfaces:
    """What the calls use.

    Attributes
    ----------
    memory
        A retriever on the scope of the tries.
    learned
        A recall of that scope.
    mcp, page, api
        Clients of the servers of MCP, of the page, and of the HTTP API.
    options
        Options of a command that name the database and the scope.
    folder
        A folder for files.
    """

    memory: GraphRetriever
    learned: Any
    mcp: Client
    page: httpx2.AsyncClient
    api: httpx2.AsyncClient
    options: tuple[str, ...]
    folder: Path


#: Makes one call with a string, or with something else, in one slot. Errors of memoria are raised;
#: where the surface has errors of its own, a text is returned if it did not use them.
Slot = Callable[[Surfaces, Any], Awaitable[str | None]]


def _python(call: Callable[[Surfaces, Any], Awaitable[object]]) -> Slot:
    async def slot(surfaces: Surfaces, value: Any) -> None:
        await call(surfaces, value)

    return slot


async def _streamed(surfaces: Surfaces, value: Any) -> None:
    async with surfaces.memory.stream_paths([Seed(id=value, score=1.0)]) as paths:
        async for _ in paths:
            pass


def as_map(value: Any) -> Any:
    """Return a map of a value to itself; one that can't be a key stays as it is."""
    return {value: value} if isinstance(value, Hashable) else value


async def _tagged(surfaces: Surfaces, value: Any) -> None:
    async with surfaces.memory.stream_paths(SEEDS, query_tags=[value]) as paths:
        async for _ in paths:
            pass


async def _recalled(surfaces: Surfaces, value: Any) -> None:
    async with surfaces.memory.recall_stream(value) as paths:
        async for _ in paths:
            pass


PYTHON: Mapping[str, Slot] = {
    f"Python, {name}": _python(call)
    for name, call in {
        "recall": lambda s, v: s.memory.recall(v),
        "recall, query_tags": lambda s, v: s.memory.recall("oven", query_tags=[v]),
        "recall, kinds": lambda s, v: s.memory.recall("oven", kinds=[v]),
        "find_seeds": lambda s, v: s.memory.find_seeds(v),
        "filter, tags": lambda s, v: s.memory.find_seeds("oven", where=MemoryFilter(tags=[v])),
        "filter, metadata": lambda s, v: s.memory.find_seeds(
            "oven", where=MemoryFilter(metadata=as_map(v))
        ),
        "stream_paths": _streamed,
        "stream_paths, query_tags": _tagged,
        "recall_stream": _recalled,
        "recall, as_of": lambda s, v: s.memory.recall("oven", as_of=v),
        "list, after": lambda s, v: s.memory.list(after=v),
        "list, kinds": lambda s, v: s.memory.list(where=MemoryFilter(kinds=[v])),
        "recent, exclude_ids": lambda s, v: s.memory.recent(where=MemoryFilter(exclude_ids=[v])),
        "get": lambda s, v: s.memory.get([v]),
        "neighbours": lambda s, v: s.memory.neighbours(v),
        "for_scope": lambda s, v: s.memory.for_scope(v).recall("oven"),
        "for_scope, database": lambda s, v: s.memory.for_scope("d", database=v).recall("oven"),
        "write, id": lambda s, v: s.memory.writer().write(
            [Memory(id=v, kind="Event", text="a text")]
        ),
        "write, text": lambda s, v: s.memory.writer().write(
            [Memory(id="slot", kind="Event", text=v)]
        ),
        "write, kind": lambda s, v: s.memory.writer(kinds=(v,)).write(
            [Memory(id="slot", kind=v, text="a text")]
        ),
        "write, tags": lambda s, v: s.memory.writer().write(
            [Memory(id="slot", kind="Event", text="a text", tags=[v], metadata=as_map(v))]
        ),
        "write, relation": lambda s, v: s.memory.writer().write(
            [], [Relation(source=SEEDS[0].id, target=v, relation=v)]
        ),
        "remember": lambda s, v: s.memory.writer().remember(v),
        "remember, about": lambda s, v: s.memory.writer().remember("about", about=[v], tags=[v]),
        "remember, because_of": lambda s, v: s.memory.writer().remember(
            "because", because_of=[v], supersedes=[v]
        ),
        "remember, id": lambda s, v: s.memory.writer().remember("by its id", id=v),
        "remember, kind": lambda s, v: s.memory.writer().remember("by its kind", kind=v),
        "append": lambda s, v: s.memory.conversations().append(
            v, [Message(text="a text", reply_to=v)], source=v
        ),
        "message, metadata": lambda s, v: s.memory.conversations().append(
            "slot", [Message(text="a text", metadata=as_map(v))]
        ),
        "conversation, title": lambda s, v: s.memory.writer().conversation(
            Conversation(id="slot", title=v, source=v, messages=[Message(text="a text")])
        ),
        "document, source": lambda s, v: s.memory.writer().document(
            Document(id="slot", source=v, text="a text", tags=[v], aliases=[v], links=[v])
        ),
        "prune, source": lambda s, v: s.memory.documents().prune(v, [v]),
        "conversation": lambda s, v: s.memory.writer().conversation(
            Conversation(id=v, messages=[Message(id=v, speaker=v, text=v)])
        ),
        "document": lambda s, v: s.memory.writer().document(Document(id=v, title=v, text=v)),
        "forget": lambda s, v: s.memory.writer().forget([v]),
        "delete_edge": lambda s, v: s.memory.writer().delete_edge(v, v, v),
        "strengthen_edge": lambda s, v: s.memory.learner().strengthen_edge(
            SEEDS[0].id, v, relation=v, event_id=v
        ),
        "feedback": lambda s, v: s.memory.learner().feedback(
            s.learned.trace, confirmed=[v], event_id=v
        ),
        "reinforce": lambda s, v: s.memory.learner().reinforce(s.learned.trace, [v], event_id=v),
        "reinforce, trace": lambda s, v: s.memory.learner().reinforce(v, []),
        "co_activate": lambda s, v: s.memory.learner().co_activate(s.learned.trace, event_id=v),
        "override": lambda s, v: s.memory.learner().override([v], event_id=v),
        "suppress, kind": lambda s, v: s.memory.learner().suppress(
            SEEDS[0].id, SEEDS[1].id, kind=v
        ),
        "undo": lambda s, v: s.memory.learner().undo(v),
        "forget_scope": lambda s, v: s.memory.for_scope("nobody").writer().forget_scope(confirm=v),
        "suppress": lambda s, v: s.memory.learner().suppress(v, SEEDS[0].id),
        "link": lambda s, v: s.memory.linker().link([v]),
    }.items()
}
