"""Many tenants on one store share its limits and what it knows; no call outlives its deadline."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

import neo4j
import pytest

from memoria.embed import CallableEmbedder
from memoria.errors import DeadlineError, MemoriaError, OverloadedError
from memoria.retriever import GraphRetriever
from memoria.store import Records, Session, Store
from memoria.store.config import StoreConfig
from memoria.store.queries import Query
from memoria.types import Memory
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS, EMBEDDER

TENANTS = 20
REFUSED_S = 0.1
# Time that a call may take beyond its deadline, apart from the time for which the loop was stopped.
OVERRUN_S = 0.5


class Slow(Store):
    """A store whose search by words takes a while; counts sessions, and recalls at work."""

    def __init__(self, driver: neo4j.AsyncDriver, *, search_s: float, max_recalls: int) -> None:
        super().__init__(driver, config=StoreConfig(max_recalls=max_recalls))
        self.search_s = search_s
        self.asked: Counter[str] = Counter()
        self.searching = self.most = 0

    @asynccontextmanager
    async def session(  # type: ignore[override]  # callers only enter it
        self, mode: Literal["read", "write"] = "read", *, until: float | None = None
    ) -> AsyncIterator[Session]:
        async with super().session(mode, until=until) as session:
            yield CountingSession(session, self.asked)

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        if query.name == "seeds.text":
            self.searching += 1
            self.most = max(self.most, self.searching)
            await asyncio.sleep(self.search_s)
            self.searching -= 1
        return await super().run(query, parameters, until=until)


class CountingSession(Session):
    """A session that counts its queries."""

    def __init__(self, inner: Session, asked: Counter[str]) -> None:
        self._inner, self._asked = inner, asked

    async def run(self, query: Query, parameters: Mapping[str, Any]) -> Records:
        self._asked[query.name] += 1
        return await self._inner.run(query, parameters)


@dataclass(frozen=True)
class Ended:
    """How a call ended, and after how long."""

    result: Any
    took_s: float


async def recall(memory: GraphRetriever, deadline_s: float) -> Ended:
    started = time.perf_counter()
    try:
        result: Any = await memory.recall("a question of a tenant", deadline_s=deadline_s)
    except MemoriaError as exc:
        result = exc
    return Ended(result, time.perf_counter() - started)


class Stalls:
    """How long the loop was stopped, in all, while this process did not have the processor.

    A busy machine runs other programs meanwhile. Work on the loop itself does not count.
    """

    EVERY_S = 0.01

    def __init__(self) -> None:
        self.sum_s = 0.0
        self._woke, self._worked = time.perf_counter(), time.process_time()

    async def __aenter__(self) -> Stalls:
        self._watching = asyncio.create_task(self._watch())
        await asyncio.sleep(0)  # until it watches
        return self

    async def __aexit__(self, *_: object) -> None:
        self._watching.cancel()
        self._count()

    async def _watch(self) -> None:
        self._woke, self._worked = time.perf_counter(), time.process_time()
        while True:
            await asyncio.sleep(self.EVERY_S)
            self._count()

    def _count(self) -> None:
        woke, worked = self._woke, self._worked
        self._woke, self._worked = time.perf_counter(), time.process_time()
        self.sum_s += max(0.0, self._woke - woke - (self._worked - worked) - self.EVERY_S)


@pytest.fixture
async def scopes(driver: neo4j.AsyncDriver, scope: str) -> list[str]:
    """Tenants with one memory each."""
    names = [f"{scope}-{number}" for number in range(TENANTS)]
    for name in names:
        memory = Memory(id="m", kind="Event", text=f"a question of {name} was answered")
        await GraphWriter(driver, scope=name).write([memory])
    return names


async def test_new_tenants_share_facts_turns_and_answers(
    driver: neo4j.AsyncDriver, scopes: list[str]
) -> None:
    store = Slow(driver, search_s=0.02, max_recalls=2)
    memory = GraphRetriever(store, scope=scopes[0])
    ended = await asyncio.gather(
        *(recall(memory.for_scope(scope), deadline_s=60) for scope in scopes)
    )
    assert [each.result.trace.scope for each in ended] == scopes
    assert all(each.result.ranked for each in ended)
    assert store.asked["graph.components"] == store.asked["graph.indexes"] == 1
    assert store.most == 2
    assert store.sessions_in_use == 0


async def test_who_would_wait_too_long_is_refused_at_once_and_told_when_to_come(
    driver: neo4j.AsyncDriver, scopes: list[str]
) -> None:
    store = Slow(driver, search_s=0.1, max_recalls=1)
    memory = GraphRetriever(store, scope=scopes[0])
    for _ in range(3):
        await asyncio.gather(*(recall(memory, deadline_s=60) for _ in range(4)))
    waiting = [asyncio.create_task(recall(memory, deadline_s=60)) for _ in range(12)]
    await asyncio.sleep(0)
    async with Stalls() as stalls:
        refused = await recall(memory.for_scope(scopes[1]), deadline_s=0.5)
    assert isinstance(refused.result, OverloadedError)
    assert refused.took_s < REFUSED_S + stalls.sum_s
    assert refused.result.retry_after_s is not None
    assert "call again in" in str(refused.result)
    assert "max_recalls" not in str(refused.result)
    served = await asyncio.gather(*waiting)
    assert all(each.result.ranked for each in served), "those in line are served"


async def test_no_call_ends_later_than_its_deadline_however_many_tenants(
    driver: neo4j.AsyncDriver, scopes: list[str]
) -> None:
    async def embed(texts: list[str]) -> list[list[float]]:
        await asyncio.sleep(0.1)
        return [[1.0] * DIMENSIONS for _ in texts]

    store = Slow(driver, search_s=0.5, max_recalls=2)
    embedder = CallableEmbedder(embed, dimensions=DIMENSIONS, name=EMBEDDER)
    memory = GraphRetriever(store, scope=scopes[0], embedder=embedder)
    await memory.server_facts()
    async with Stalls() as stalls:
        ended = await asyncio.gather(
            *(recall(memory.for_scope(scope), deadline_s=4) for scope in scopes * 3)
        )
    assert max(each.took_s for each in ended) < 4 + OVERRUN_S + stalls.sum_s
    kinds = Counter(type(each.result).__name__ for each in ended)
    assert set(kinds) <= {"Recall", "OverloadedError", "DeadlineError"}
    assert kinds["Recall"] >= 2
    assert kinds["OverloadedError"] >= 30
    first = [each.took_s for each in ended if isinstance(each.result, OverloadedError)]
    assert min(first) < REFUSED_S + stalls.sum_s


async def test_a_recall_that_hangs_ends_at_its_deadline(
    driver: neo4j.AsyncDriver, scopes: list[str]
) -> None:
    memory = GraphRetriever(Slow(driver, search_s=30, max_recalls=2), scope=scopes[0])
    await memory.server_facts()
    async with Stalls() as stalls:
        ended = await recall(memory, deadline_s=0.3)
    assert isinstance(ended.result, DeadlineError)
    assert ended.took_s < 0.3 + OVERRUN_S + stalls.sum_s
    assert memory.store.recalls.taken == memory.store.line.taken == 0
