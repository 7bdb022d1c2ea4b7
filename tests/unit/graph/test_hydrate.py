"""What explorations keep of the memories they read, over a store that answers as told."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from memoria.graph.hydrate import Memories


def row(id_: str, text: str) -> list[Any]:
    return [id_, ["Memory"], text, [], [], [], None, None, None, None, None]


class Texts:
    """Stands in for the store: it has these texts, and answers when it is let go."""

    def __init__(self, **texts: str) -> None:
        self.texts = texts
        self.asked: list[list[str]] = []
        self.let_go = asyncio.Event()
        self.let_go.set()

    async def run(self, _: object, parameters: Mapping[str, Any], **__: object) -> list[Any]:
        self.asked.append(parameters["ids"])
        await self.let_go.wait()
        found = [row(id_, self.texts[id_]) for id_ in parameters["ids"] if id_ in self.texts]
        return [{"memories": found}]


def memories_of(store: Texts) -> Memories:
    return Memories(store, scope="s", until=None)  # type: ignore[arg-type]


def texts_of(memories: Memories) -> dict[str, str]:
    return {id_: memory.text for id_, memory in memories.known.items()}


async def test_what_came_along_is_not_asked_for() -> None:
    store = Texts(a="asked", b="asked")
    memories = memories_of(store)
    memories.take([row("a", "taken")])
    assert memories.has(["a"])
    assert not memories.has(["a", "b"])
    await memories.read(["a", "b"])
    assert store.asked == [["b"]]
    assert memories.has(["a", "b"])
    assert texts_of(memories) == {"a": "taken", "b": "asked"}


async def test_nothing_is_asked_where_all_is_known() -> None:
    store = Texts()
    memories = memories_of(store)
    memories.take([row("a", "taken")])
    await memories.read(["a"])
    assert store.asked == []


@pytest.mark.parametrize("built", [False, True])
async def test_a_text_is_that_of_its_first_read(built: bool) -> None:
    memories = memories_of(Texts())
    memories.take([row("a", "first"), row("a", "in the same answer")])
    if built:
        memories.build()
    memories.take([row("a", "later")])
    assert texts_of(memories) == {"a": "first"}


@pytest.mark.parametrize("built", [False, True])
async def test_what_comes_by_another_way_while_it_is_read_stays(built: bool) -> None:
    store = Texts(a="asked", b="asked")
    store.let_go.clear()
    memories = memories_of(store)
    reading = asyncio.create_task(memories.read(["a", "b"]))
    await asyncio.sleep(0)
    memories.take([row("a", "taken")])
    if built:
        memories.build()
    store.let_go.set()
    await reading
    assert store.asked == [["a", "b"]]
    assert texts_of(memories) == {"a": "taken", "b": "asked"}


async def test_a_memory_that_is_gone_stays_unknown() -> None:
    memories = memories_of(Texts(a="asked"))
    await memories.read(["a", "gone"])
    assert not memories.has(["gone"])
    assert texts_of(memories) == {"a": "asked"}
