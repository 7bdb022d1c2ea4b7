"""Questions about a time: memories of that time are found, and come first, in order."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zlib import crc32

import neo4j
import pytest

from memoria.embed import CallableEmbedder
from memoria.recall import at_time
from memoria.recall.config import RetrieverConfig
from memoria.retriever import GraphRetriever
from memoria.serialize import plain_recall, trace_from
from memoria.store import Store
from memoria.store.queries import Query
from memoria.types import Memory, MemoryFilter, Recall
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.integration.steady import Steady
from tests.oracle.agreement import remove

NOW = datetime(2026, 5, 20, 14, 30, tzinfo=UTC)  # a Wednesday
FIRST = datetime(2026, 1, 21, 18, tzinfo=UTC)
# An entry about every 29 hours from then on: 100 entries, up to the evening before.
EVERY = timedelta(hours=28, minutes=40)
DONE = ["Baked rye bread", "Ran along the canal", "Fixed the tap", "Read a novel", "Saw Ingrid"]
PLACES = ["in the old mill", "before breakfast", "with the neighbours", "until late"]


def embed(texts: list[str]) -> list[list[float]]:
    """Count words, so that texts with the same words are near."""
    vectors = []
    for text in texts:
        vector = [0.01] * DIMENSIONS
        for word in re.findall(r"\w+", text.lower()):
            vector[crc32(word.encode()) % DIMENSIONS] += 1.0
        vectors.append(vector)
    return vectors


WORDS = CallableEmbedder(embed, dimensions=DIMENSIONS, name=EMBEDDER)


def entries() -> list[Memory]:
    found = []
    for n in range(100):
        text = f"{DONE[n % 5]} {PLACES[n % 4]}, day {n}"
        made = FIRST + n * EVERY
        found.append(Memory(id=f"d{n:03}", kind="Event", text=text, created_at=made))
    return found


DIARY = entries()
BOAT = [
    Memory(
        id=f"boat-{time:%m}",
        kind="Event",
        text=f"The boat needs {what} before the summer",
        created_at=time,
    )
    for time, what in [
        (datetime(2025, 7, 9, 10, tzinfo=UTC), "a new sail"),
        (datetime(2026, 3, 9, 10, tzinfo=UTC), "paint"),
        (datetime(2026, 5, 9, 10, tzinfo=UTC), "a motor"),
    ]
]


@pytest.fixture
async def diary(
    store: Store, driver: neo4j.AsyncDriver, scope: str
) -> AsyncIterator[GraphRetriever]:
    writer = GraphWriter(store, scope=scope, embedder=WORDS)
    await writer.write([*DIARY, *BOAT])
    yield GraphRetriever(store, scope=scope, embedder=WORDS, config=RetrieverConfig(as_of=NOW))
    await remove(driver, scope)


def inside(first: str, end: str) -> list[str]:
    begin, until = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (first, end))
    found = [one for one in (*DIARY, *BOAT) if one.created_at and begin <= one.created_at < until]
    return [one.id for one in sorted(found, key=lambda one: one.created_at or NOW)]


def ids(found: Recall) -> list[str]:
    return [one.id for one in found.ranked]


@pytest.mark.parametrize(
    ("question", "first", "end"),
    [
        ("What did I do last week?", "2026-05-11", "2026-05-18"),
        ("What happened two weeks ago?", "2026-05-04", "2026-05-11"),
        ("What did I do in February?", "2026-02-01", "2026-03-01"),
        ("What did I write since March?", "2026-03-01", "2026-05-21"),
        ("What did I do until February?", "2026-01-01", "2026-03-01"),
        ("Was habe ich letzte Woche gemacht?", "2026-05-11", "2026-05-18"),
        ("Qu'ai-je fait la semaine dernière ?", "2026-05-11", "2026-05-18"),
        ("¿Qué hice la semana pasada?", "2026-05-11", "2026-05-18"),
        ("Cosa ho fatto la settimana scorsa?", "2026-05-11", "2026-05-18"),
        ("O que eu fiz na semana passada?", "2026-05-11", "2026-05-18"),
        ("Wat heb ik vorige week gedaan?", "2026-05-11", "2026-05-18"),
        ("Что я делал на прошлой неделе?", "2026-05-11", "2026-05-18"),
    ],
)
async def test_a_question_about_a_time_alone_brings_all_of_it_in_order(
    diary: GraphRetriever, question: str, first: str, end: str
) -> None:
    found = await diary.recall(question, budget_tokens=20_000)
    wanted = inside(first, end)
    if "until" in question:
        wanted = ["boat-07", *wanted]
    assert len(wanted) >= 5
    assert ids(found) == wanted
    assert [item.id for item in found.context.items] == wanted


async def test_without_a_relevance_model_too(diary: GraphRetriever) -> None:
    config = replace(diary.config, relevance=None)
    found = await diary.recall("What did I do last week?", config=config)
    assert ids(found) == inside("2026-05-11", "2026-05-18")


async def test_by_words_alone_too(diary: GraphRetriever, store: Store) -> None:
    lone = GraphRetriever(store, scope=diary.scope, config=diary.config)
    found = await lone.recall("What did I do last week?")
    assert ids(found) == inside("2026-05-11", "2026-05-18")


async def test_a_subject_in_a_time_comes_first_and_the_others_stay(diary: GraphRetriever) -> None:
    found = await diary.recall("What did I say about the boat in May?")
    assert ids(found)[0] == "boat-05"
    assert {"boat-03", "boat-07"} < set(ids(found))
    assert found.ranked[0].shares["in_window"] > 0
    march = await diary.recall("Was the boat to be painted in March?")
    assert ids(march)[0] == "boat-03"
    assert {"boat-05", "boat-07"} < set(ids(march))


async def test_what_the_search_leaves_out_is_found_in_its_time(
    diary: GraphRetriever, store: Store
) -> None:
    """The lists of the search are full of sixty messages about the boat."""
    many = [
        Memory(
            id=f"b{n}",
            kind="Event",
            text=f"The boat {n}",
            created_at=NOW - timedelta(days=400),
        )
        for n in range(60)
    ]
    writer = GraphWriter(store, scope=diary.scope, embedder=WORDS)
    await writer.write(many)
    off = replace(diary.config, time_phrases=False)
    question = "Anything about the boat in May?"
    assert "boat-05" not in ids(await diary.recall(question, config=off))
    assert "boat-05" in ids(await diary.recall(question))


async def test_the_window_is_searched_at_the_same_time_as_everything(
    diary: GraphRetriever, driver: neo4j.AsyncDriver
) -> None:
    class Together(Steady):
        """Sends no search before all four have come: by vector and by words, twice."""

        all_there = asyncio.Barrier(4)

        async def run(
            self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
        ) -> list[neo4j.Record]:
            if query.name.startswith("seeds."):
                async with asyncio.timeout_at(until):
                    await self.all_there.wait()
            return await super().run(query, parameters, until=until)

    diary.store = Together(driver)
    expected = await diary.recall("What did I say about the boat in May?")
    found = await diary.recall("What did I say about the boat in May?")
    assert ids(found) == ids(expected)
    assert not found.trace.degraded


async def test_nothing_in_the_window_filters_nothing(diary: GraphRetriever) -> None:
    found = await diary.recall("What happened in 2019?")
    assert ids(found)
    assert any("2019" in note for note in found.trace.notes)
    assert found.trace.window is not None
    assert not found.trace.window.only


async def test_an_empty_window_of_a_question_about_something_is_named(
    diary: GraphRetriever,
) -> None:
    found = await diary.recall("What did I say about the boat in 2019?")
    assert set(ids(found)) >= {one.id for one in BOAT}
    assert any("no memories from that time: 'in 2019'" in note for note in found.trace.notes)
    found = await diary.recall("What did I say about the boat in May?")
    assert not any("no memories" in note for note in found.trace.notes)
    # About the present, in which nobody said anything on this day.
    found = await diary.recall("Where is the boat today?")
    assert not any("no memories" in note for note in found.trace.notes)


async def test_the_window_stands_in_the_trace(diary: GraphRetriever) -> None:
    found = await diary.recall("What did I do last week?")
    window = found.trace.window
    assert window is not None
    assert window.phrase == "last week"
    assert window.only
    assert window.starts == datetime(2026, 5, 11, tzinfo=UTC)
    plain = plain_recall(found)
    assert plain["trace"]["window"] == {
        "phrase": "last week",
        "starts": "2026-05-11T00:00:00+00:00",
        "ends": "2026-05-18T00:00:00+00:00",
        "only": True,
    }
    assert trace_from(plain).window == window


async def test_a_filter_by_time_or_the_setting_switch_the_guess_off(diary: GraphRetriever) -> None:
    where = MemoryFilter(created_from=datetime(2026, 2, 1, tzinfo=UTC))
    for options in ({"where": where}, {"config": replace(diary.config, time_phrases=False)}):
        found = await diary.recall("What did I do last week?", **options)
        assert found.trace.window is None


async def test_another_filter_counts_with_the_window(diary: GraphRetriever) -> None:
    week = inside("2026-05-11", "2026-05-18")
    where = MemoryFilter(exclude_ids=week[:2])
    found = await diary.recall("What did I do last week?", where=where)
    assert ids(found) == week[2:]


async def test_days_begin_in_the_zone_of_the_caller(diary: GraphRetriever) -> None:
    config = replace(diary.config, time_zone="Pacific/Auckland")
    found = await diary.recall("What did I do last week?", config=config)
    window = found.trace.window
    assert window is not None
    assert window.starts == datetime(2026, 5, 10, 12, tzinfo=UTC)
    assert ids(found)


async def test_a_full_window_is_cut_to_the_newest_and_says_so(
    diary: GraphRetriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at_time, "MOST", 3)
    found = await diary.recall("What did I do in February?")
    assert ids(found) == inside("2026-02-01", "2026-03-01")[-3:]
    assert any("only the newest 3" in note for note in found.trace.notes)
