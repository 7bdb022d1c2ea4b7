"""A server that plans its first queries slowly: a recall leaves out late results, and says so.

A proxy delays single queries, like a freshly started server on a busy machine.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from benchmarks.faults.proxy import FaultProxy
from memoria import GraphRetriever
from memoria.embed import CallableEmbedder
from memoria.errors import DeadlineError
from memoria.recall.warming import warm_plans
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.types import Recall
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.integration.recall.test_recall import AXIS, chain

DEADLINE_S = 8.0
LATE_S = 30.0  # later than any deadline here
VECTOR, WORDS = "seeds.vector", "seeds.text"
LEVELS, FACTS, TEXTS = "strategies.level", "ranking.candidates", "graph.hydrate"


@pytest.fixture
def proxy(target: Target) -> Iterator[FaultProxy]:
    with FaultProxy(target) as started:
        yield started


@pytest.fixture
async def slow(proxy: FaultProxy, store: Store, scope: str) -> AsyncIterator[GraphRetriever]:
    """A retriever behind the proxy, on a chain a - b - c - d; the search finds all four."""
    await GraphWriter(store, scope=scope).write(*chain("abcd"))
    embedder = CallableEmbedder(
        lambda texts: [AXIS for _ in texts], dimensions=DIMENSIONS, name=EMBEDDER
    )
    await warm_plans(store, scope=scope)
    async with open_driver(proxy.target) as driver:
        yield GraphRetriever(driver, scope=scope, embedder=embedder)


def said(recall: Recall, words: str) -> bool:
    return any(words in note for note in recall.trace.degraded)


async def recalled(slow: GraphRetriever) -> Recall:
    """Recall, and check that every memory is found, ranked and packed, whatever is late."""
    recall = await slow.recall("link", deadline_s=DEADLINE_S)
    assert {entry.memory.id for entry in recall.ranked} == set("abcd")
    assert {item.id for item in recall.context.items} == set("abcd")
    assert sum(recall.trace.timings_s.values()) < 2 * DEADLINE_S
    return recall


async def test_a_write_may_take_longer_than_other_queries(proxy: FaultProxy, scope: str) -> None:
    proxy.slow_s = {"ingest.memories": 4.0}
    config = StoreConfig(query_timeout_s=3.0)
    async with open_driver(proxy.target, config) as driver:
        report = await GraphWriter(Store(driver, config=config), scope=scope).write(*chain("ab"))
    assert (report.memories, report.relations) == (2, 1)


@pytest.mark.parametrize(
    ("late", "note"), [(VECTOR, "vector search failed"), (WORDS, "full-text search failed")]
)
async def test_where_one_search_is_late_the_other_is_enough(
    slow: GraphRetriever, proxy: FaultProxy, late: str, note: str
) -> None:
    proxy.slow_s = {late: LATE_S}
    recall = await recalled(slow)
    assert said(recall, note)
    assert all(each.status == "complete" for each in recall.explorations)


@pytest.mark.parametrize(("first", "second"), [(VECTOR, WORDS), (WORDS, VECTOR)])
async def test_two_late_searches_take_of_the_time_to_explore(
    slow: GraphRetriever, proxy: FaultProxy, first: str, second: str
) -> None:
    proxy.slow_s = {first: 0.55 * DEADLINE_S, second: LATE_S}
    recall = await recalled(slow)
    assert said(recall, "search failed")


async def test_an_index_that_answers_is_enough_where_comparing_all_is_late(
    slow: GraphRetriever, proxy: FaultProxy
) -> None:
    proxy.slow_s = {"seeds.vector_exact": LATE_S, WORDS: LATE_S}
    await recalled(slow)


async def test_late_explorations_leave_the_hits_without_paths(
    slow: GraphRetriever, proxy: FaultProxy
) -> None:
    proxy.slow_s = {LEVELS: LATE_S}
    recall = await recalled(slow)
    assert {each.status for each in recall.explorations} == {"truncated"}
    assert said(recall, "the deadline cut short")


async def test_late_explorations_and_late_facts_leave_the_hits(
    slow: GraphRetriever, proxy: FaultProxy
) -> None:
    proxy.slow_s = {LEVELS: LATE_S, FACTS: LATE_S, "context.duplicates": LATE_S, VECTOR: LATE_S}
    recall = await recalled(slow)
    assert said(recall, "ranked without cosines and edges")


async def test_a_late_search_a_late_level_and_late_facts_leave_the_hits(
    slow: GraphRetriever, proxy: FaultProxy
) -> None:
    proxy.slow_s = {WORDS: 0.55 * DEADLINE_S, VECTOR: LATE_S, LEVELS: LATE_S, FACTS: LATE_S}
    await recalled(slow)


async def test_a_stream_in_which_all_but_the_words_is_late_ends_with_the_hits(
    slow: GraphRetriever, proxy: FaultProxy
) -> None:
    proxy.slow_s = {VECTOR: LATE_S, LEVELS: LATE_S, FACTS: LATE_S}
    async with slow.recall_stream("link", deadline_s=DEADLINE_S) as paths:
        async for _ in paths:
            pass
    assert {item.id for item in paths.result.context.items} == set("abcd")


async def test_facts_about_the_server_that_are_late_leave_the_words(
    slow: GraphRetriever, proxy: FaultProxy
) -> None:
    slow.store.facts.forget(await slow.server_facts())
    proxy.slow_s = {"graph.components": LATE_S}
    recall = await recalled(slow)
    assert said(recall, "words only")


async def test_where_nothing_is_found_in_time_the_error_says_how_to_give_more(
    slow: GraphRetriever, proxy: FaultProxy
) -> None:
    proxy.slow_s = {VECTOR: LATE_S, WORDS: LATE_S}
    with pytest.raises(DeadlineError, match=r"deadline_s.*--deadline"):
        await slow.recall("link", deadline_s=1.0)
