"""While a part of a conversation is written, the next part is embedded, and no more than that."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import neo4j
import pytest

from memoria.remember import cursors
from memoria.remember.conversations import ConversationWriter
from memoria.store import Store, Work
from memoria.types import Conversation, Message
from tests.integration.ingest.test_ingest import CountingEmbedder
from tests.integration.remember.test_conversations import NOON, graph_of

BATCH = 5
VECTORS = """
MATCH (n:Memory {scope: $scope}) WHERE n.embedding IS NOT NULL
RETURN n.text AS text, n.embedding AS embedding ORDER BY n.id
"""


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cursors, "BATCH_MESSAGES", BATCH)


def talks(*sizes: int) -> list[Conversation]:
    return [
        Conversation(id=f"c{n}", messages=[Message(text=f"{n} said {m}") for m in range(size)])
        for n, size in enumerate(sizes)
    ]


def writer(store: Store, scope: str, embedder: CountingEmbedder | None) -> ConversationWriter:
    return ConversationWriter(store, scope=scope, embedder=embedder, clock=lambda: NOON)


class Waiting(Store):
    """A store whose writes wait for a sign."""

    def __init__(self, driver: neo4j.AsyncDriver, **options: Any) -> None:
        super().__init__(driver, **options)
        self.sign = asyncio.Event()  # shared by the copies of a store
        self.begun = asyncio.Event()

    async def write(self, work: Work[Any], *, name: str = "transaction") -> Any:
        self.begun.set()
        await self.sign.wait()
        return await super().write(work, name=name)


class Telling(CountingEmbedder):
    """Tells when it has embedded two batches."""

    def __init__(self) -> None:
        super().__init__()
        self.two = asyncio.Event()

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        vectors = await super().embed_documents(texts)
        if len(self.texts) >= 2 * BATCH:
            self.two.set()
        return vectors


@pytest.mark.parametrize("sizes", [(23,), (3, 2, 4, 12, 1), (5, 5, 5)])
async def test_the_graph_is_the_same_as_with_vectors_made_afterwards(
    store: Store, driver: neo4j.AsyncDriver, scope: str, sizes: tuple[int, ...]
) -> None:
    embedder = CountingEmbedder()
    report = await writer(store, scope, embedder).write(talks(*sizes))
    assert report.written.embedded == report.messages == sum(sizes)
    assert sorted(embedder.texts) == sorted(m.text for t in talks(*sizes) for m in t.messages)
    plain = writer(store, f"{scope}-plain", None)
    await plain.write(talks(*sizes))
    assert await graph_of(driver, scope) == await graph_of(driver, f"{scope}-plain")
    rows, _, _ = await driver.execute_query(VECTORS, scope=scope)
    alone = await embedder.embed_documents([row["text"] for row in rows])
    assert [row["embedding"] for row in rows] == [list(each) for each in alone]
    again = await writer(store, scope, embedder).write(talks(*sizes))
    assert (again.known, again.written.embedded) == (sum(sizes), 0)


@pytest.mark.parametrize("sizes", [(23,), (5, 5, 5, 5, 3)])
async def test_one_batch_is_embedded_while_the_one_before_is_written_and_no_other(
    store: Store, driver: neo4j.AsyncDriver, scope: str, sizes: tuple[int, ...]
) -> None:
    embedder, waiting = Telling(), Waiting(driver, config=store.config)
    task = asyncio.create_task(writer(waiting, scope, embedder).write(talks(*sizes)))
    async with asyncio.timeout(60):
        await embedder.two.wait()
        await waiting.begun.wait()
    await asyncio.sleep(0.2)
    assert len(embedder.texts) == 2 * BATCH
    waiting.sign.set()
    assert (await task).messages == 23


async def test_a_conversation_that_comes_again_longer_is_embedded_in_vain_for_a_step_only(
    store: Store, scope: str
) -> None:
    embedder = CountingEmbedder()
    (whole,) = talks(8 * BATCH)
    begun = replace(whole, messages=whole.messages[:3])
    report = await writer(store, scope, embedder).write([begun, whole])
    assert (report.messages, report.known) == (8 * BATCH, 3)
    assert report.written.embedded == len(embedder.texts) <= 8 * BATCH + 2 * BATCH


async def test_vectors_made_in_vain_are_counted(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    embedder, waiting = Telling(), Waiting(driver, config=store.config)
    task = asyncio.create_task(writer(waiting, scope, embedder).write(talks(2 * BATCH)))
    async with asyncio.timeout(60):
        await embedder.two.wait()
        await waiting.begun.wait()
    await writer(store, scope, CountingEmbedder()).write(talks(2 * BATCH))
    waiting.sign.set()
    report = await task
    assert (report.messages, report.known) == (0, 2 * BATCH)
    assert report.written.embedded == len(embedder.texts) == 2 * BATCH


async def test_what_was_embedded_before_an_error_is_kept_and_the_rest_is_written_by_words(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    embedder = CountingEmbedder(breaks_after=2)
    report = await writer(store, scope, embedder).write(talks(23))
    assert (report.messages, report.written.pending_vectors) == (23, 13)
    rows, _, _ = await driver.execute_query(VECTORS, scope=scope)
    assert [row["text"] for row in rows] == [f"0 said {n}" for n in (0, 9, 1, 2, 3, 4, 5, 6, 7, 8)]


async def test_what_was_read_before_an_error_is_written(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    def read() -> Any:
        yield from talks(5, 5)
        raise ValueError("a broken file")

    with pytest.raises(ValueError, match="a broken file"):
        await writer(store, scope, CountingEmbedder()).write(read())
    rows, _, _ = await driver.execute_query(VECTORS, scope=scope)
    assert len(rows) == 5  # the conversation before the error was still being collected


async def test_a_write_that_is_cancelled_leaves_no_work_behind(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> None:
    before = asyncio.all_tasks()
    embedder, waiting = CountingEmbedder(), Waiting(driver, config=store.config)
    task = asyncio.create_task(writer(waiting, scope, embedder).write(talks(23)))
    async with asyncio.timeout(60):
        await waiting.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() - before == set()
    assert (await graph_of(driver, scope)) == ([], [])
    waiting.sign.set()
    await writer(waiting, scope, embedder).write(talks(23))
    rows, _, _ = await driver.execute_query(VECTORS, scope=scope)
    assert len(rows) == 23
