"""What the page shows without a question: an overview of a scope, and one memory with all about it.

In: a retriever of the scope. Out: plain data. Reads only. Query: ``graph.versions``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from memoria._support.sentences import asks
from memoria._support.wording import cut
from memoria.graph.hydrate import superseded_of, versions_of
from memoria.graph.stats import scope_stats
from memoria.retriever import GraphRetriever
from memoria.serialize import plain_memory, plain_neighbourhood
from memoria.types import MemoryFilter, MemoryNode
from memoria.types.memory import CONVERSATION

NEIGHBOURS = 50
RECENT = 8
QUESTIONS = 4
#: Newest memories and requests that are read, and letters of a question.
_READ, _ASKED, _QUESTION_CHARS = 40, 200, 160
#: Between the title of a note and a heading in it, as `memoria.importers` writes them.
_BELOW = " › "
#: Messages of a conversation that are read, and that are shown before and after one of them.
_MESSAGES, _AROUND = 1_000, 4
_NEVER = datetime.min.replace(tzinfo=UTC)


async def overview_of(retriever: GraphRetriever) -> dict[str, Any]:
    """Return what a scope holds, its newest memories, and questions to try.

    Notes
    -----
    Two round trips at a time, some of which read all memories of the scope.
    """
    stats = await scope_stats(retriever.store, retriever.scope)
    newest = await retriever.recent(limit=_READ)
    asked = await retriever.recent(where=MemoryFilter(kinds=("UserRequest",)), limit=_ASKED)
    by_head = {_head(memory): memory for memory in reversed(newest)}  # of a note, its newest part
    recent = [memory for memory in newest if by_head[_head(memory)] is memory][:RECENT]
    return {
        "scope": retriever.scope,
        "memories": stats.memories,
        "kinds": dict(stats.kinds),
        "recent": [plain_memory(memory) for memory in recent],
        "questions": _questions(asked, stats.top_tags, newest),
    }


def _questions(
    asked: Iterable[MemoryNode], tags: Iterable[str], newest: Iterable[MemoryNode]
) -> list[str]:
    """Return questions to try: those asked before, else tags, else titles of the newest notes."""
    texts = (" ".join(memory.text.split()) for memory in asked)
    found = [text for text in texts if asks(text) and len(text) <= _QUESTION_CHARS]
    found += [f"What is known about {tag}?" for tag in tags]
    notes = (memory for memory in newest if memory.kind == "DataSource")
    titles = (_head(memory).partition(_BELOW)[0] for memory in notes)
    found += [cut(title, _QUESTION_CHARS) for title in titles]
    return list(dict.fromkeys(filter(None, found)))[:QUESTIONS]


def _head(memory: MemoryNode) -> str:
    """Return the first line: of a part of a note, the title and the headings above it."""
    return " ".join(memory.text.strip().partition("\n")[0].split())


async def memory_of(retriever: GraphRetriever, id_: str) -> dict[str, Any]:
    """Return a memory with its edges, its earlier and later versions, and its conversation."""
    near = await retriever.neighbours(id_, limit=NEIGHBOURS)
    replaced = await superseded_of(retriever.store, retriever.scope, [id_])
    versions = await _versions(retriever, id_)
    thread = [] if near.memory is None else await _thread(retriever, near.memory)
    return plain_neighbourhood(near) | {
        "superseded_by": replaced.get(id_),
        "versions": [plain_memory(memory) for memory in versions],
        "thread": [plain_memory(memory) for memory in thread],
    }


async def _versions(retriever: GraphRetriever, id_: str) -> list[MemoryNode]:
    """Return what a memory has replaced and what has replaced it, oldest first; [] if nothing."""
    ids = await versions_of(retriever.store, retriever.scope, id_)
    if len(ids) < 2:
        return []
    return sorted((await retriever.get(ids)).memories, key=_made)


async def _thread(retriever: GraphRetriever, memory: MemoryNode) -> list[MemoryNode]:
    """Return the messages around one of a conversation, in their order; [] for anything else."""
    name = memory.metadata.get(CONVERSATION)
    if not isinstance(name, str):
        return []
    where = MemoryFilter(metadata={CONVERSATION: name})
    messages = sorted((await retriever.list(where=where, limit=_MESSAGES)).memories, key=_made)
    at = next((n for n, each in enumerate(messages) if each.id == memory.id), 0)
    return messages[max(0, at - _AROUND) : at + _AROUND + 1]


def _made(memory: MemoryNode) -> tuple[datetime, str]:
    return (memory.created_at or _NEVER, memory.id)
