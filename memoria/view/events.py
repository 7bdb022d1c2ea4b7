"""A recall as server-sent events, sent while it runs.

In: a retriever and a `Question`. Out: texts, an event each::

    event: seeds     {"seeds": [{...}]}                      before the first path
    event: path      {"path": {...}, "memories": {id: {...}}}   each memory only once
    event: recall    what ``recall --json --full`` prints      the last event of a recall
    event: error     {"type", "message"}                      in its place, if it failed

Reads only.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from memoria._support.stream import Stream
from memoria.errors import MemoriaError
from memoria.serialize import plain_memory, plain_path, plain_recall, plain_seed
from memoria.types import Path, Seeds
from memoria.view.asking import Question
from memoria.view.source import Source


async def recall_events(source: Source, asked: Question) -> AsyncIterator[str]:
    """Recall, and yield the events; the recall ends when nobody takes them any more."""

    async def produce(emit: Callable[[str], None]) -> None:
        await _recall(source, asked, emit)

    try:
        async with Stream(produce) as events:
            async for event in events:
                yield event
    except MemoriaError as exc:
        yield _event("error", plain_error(exc))


async def _recall(source: Source, asked: Question, emit: Callable[[str], None]) -> None:
    sent: set[str] = set()

    def on_seeds(seeds: Seeds) -> None:
        emit(_event("seeds", {"seeds": [plain_seed(seed) for seed in seeds.seeds]}))

    retriever = await source.of(asked.scope)
    stream = retriever.recall_stream(
        asked.query, query_tags=asked.query_tags, config=asked.config, on_seeds=on_seeds
    )
    async with stream as paths:
        async for path in paths:
            emit(_event("path", _path(path, sent)))
    source.keep(stream.result.trace)
    emit(_event("recall", plain_recall(stream.result)))


def plain_error(error: MemoriaError) -> dict[str, str]:
    """Return an error as plain data."""
    return {"type": type(error).__name__, "message": str(error)}


def _path(path: Path, sent: set[str]) -> dict[str, Any]:
    new = [memory for memory in path.memories if memory.id not in sent]
    sent.update(memory.id for memory in new)
    return {
        "path": plain_path(path),
        "memories": {memory.id: plain_memory(memory) for memory in new},
    }


def _event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
