"""Filters inside the queries of a recall: what fits is found however rare, and nothing else is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import neo4j
import pytest

from memoria.errors import InvalidInputError
from memoria.graph.hydrate import hydrate
from memoria.recall.config import RetrieverConfig
from memoria.recall.context.config import ContextConfig
from memoria.recall.seeds import SeedRequest, search_seeds, with_unembedded
from memoria.recall.seeds.config import SeedConfig
from memoria.retriever import GraphRetriever
from memoria.serialize import plain_recall, ranked_from
from memoria.store import Store
from memoria.types import Memory, MemoryFilter, Relation, Seeds
from memoria.writer import GraphWriter
from tests.dialects import Dialect, dialects_of
from tests.integration.doctor.test_doctor import run_statement
from tests.integration.recall.test_seeds import all_ids, axis, between, plant, uproot

MADE = datetime(2026, 5, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)
RARE = [f"rare{number:02}" for number in range(20)]
MANY = [f"many{number:04}" for number in range(1_980)]
#: Each of them is true of the same 20 memories, one in a hundred.
FILTERS = {
    "kind": MemoryFilter(kinds=["Event"]),
    "tags": MemoryFilter(tags=["rare", "bun"]),
    "from": MemoryFilter(created_from=MADE),
    "before": MemoryFilter(created_before=MADE + DAY, tags=["rare"]),
    "metadata": MemoryFilter(metadata={"channel": "slack", "n": 2, "seen": True}),
    "ids": MemoryFilter(exclude_ids=MANY),
}


@pytest.fixture(scope="module")
async def crowd(driver: neo4j.AsyncDriver, store: Store) -> AsyncIterator[str]:
    """2,000 memories; the 20 rare ones are the worst matches by words and by vector."""
    scope = f"crowd-{uuid4().hex}"
    many = [
        Memory(
            id=id_,
            kind="AgentAction",
            text="bun",
            tags=["bun"],
            created_at=MADE - DAY,
            metadata={"channel": "mail", "n": 2, "seen": True},
            embedding=between(5, 6, 0.99),
        )
        for id_ in MANY
    ]
    rare = [
        Memory(
            id=id_,
            kind="Event",
            text="bun, and many more words that make it a worse match by words",
            tags=["rare", "bun"],
            created_at=MADE,
            metadata={"seen": True, "n": 2.0, "channel": "slack", "path": ["x"]},
            embedding=between(5, 7, 0.5 - place / 100),
        )
        for place, id_ in enumerate(RARE)
    ]
    await GraphWriter(store, scope=scope).write([*many, *rare])
    yield scope
    await uproot(driver, scope)


async def found(store: Store, scope: str, where: MemoryFilter, **changes: Any) -> Seeds:
    request = SeedRequest(
        text="",
        vector=None,
        scope=scope,
        where=where,
        dialect=(await dialects_of(store))[0],
        config=SeedConfig(),
        until=None,
    )
    request = replace(request, **changes)
    return await with_unembedded(store, await search_seeds(store, request), request)


@pytest.mark.parametrize("name", FILTERS)
async def test_a_filter_that_one_in_a_hundred_fits_gets_five_seeds_by_vector(
    store: Store, crowd: str, name: str, dialect: Dialect
) -> None:
    seeds = await found(store, crowd, FILTERS[name], vector=axis(5), dialect=dialect)
    assert [seed.id for seed in seeds.seeds] == RARE[:5]
    assert all_ids(seeds) == RARE
    assert seeds.degraded == ()


@pytest.mark.parametrize("name", FILTERS)
async def test_a_filter_that_one_in_a_hundred_fits_gets_five_seeds_by_words(
    store: Store, crowd: str, name: str
) -> None:
    seeds = await found(store, crowd, FILTERS[name], text="bun")
    assert [seed.id for seed in seeds.seeds] == RARE[:5]
    assert all_ids(seeds) == RARE


@pytest.mark.parametrize("name", FILTERS)
async def test_a_recall_ranks_and_packs_only_what_fits(store: Store, crowd: str, name: str) -> None:
    retriever = GraphRetriever(store, scope=crowd)
    recall = await retriever.recall("bun", where=FILTERS[name], budget_tokens=4_000)
    assert {entry.id for entry in recall.ranked} == set(RARE)
    assert {item.id for item in recall.context.items} <= set(RARE)
    assert len(recall.seeds.seeds) == 5


async def test_what_no_memory_fits_finds_nothing_and_is_no_error(store: Store, crowd: str) -> None:
    for where in (
        MemoryFilter(tags=["nobody"]),
        MemoryFilter(created_from=MADE + DAY),
        MemoryFilter(metadata={"channel": "phone"}),
        MemoryFilter(exclude_ids=[*RARE, *MANY]),
    ):
        seeds = await found(store, crowd, where, text="bun", vector=axis(5))
        assert (all_ids(seeds), seeds.degraded) == ([], ())


async def test_a_mistyped_kind_or_tag_is_a_note_of_the_recall(store: Store, crowd: str) -> None:
    retriever = GraphRetriever(store, scope=crowd)
    for where, said in (
        (MemoryFilter(kinds=["event"]), "the kind 'event'; did you mean 'Event'?"),
        (MemoryFilter(tags=["raer"]), "the tag 'raer'; did you mean 'rare'?"),
    ):
        found = await retriever.recall("bun", where=where)
        assert found.trace.notes == (f"no memory of the scope has {said}",)
    assert (await retriever.recall("bun", where=MemoryFilter(kinds=["Event"]))).trace.notes == ()


async def test_a_recall_says_which_limits_no_memory_fits(
    store: Store, crowd: str, scope: str
) -> None:
    retriever = GraphRetriever(store, scope=crowd)
    early = MemoryFilter(kinds=["Event"], created_before=MADE - DAY, metadata={"n": 2})
    for where, as_of, said in (
        (early, None, "kinds: Event; made before: 2026-05-01T12:00:00+00:00; metadata: n"),
        (
            MemoryFilter(kinds=["Event"], exclude_ids=RARE),
            None,
            f"kinds: Event; all but {len(RARE)} ids",
        ),
        (None, MADE - 9 * DAY, "as of: 2026-04-23T12:00:00+00:00"),
    ):
        found = await retriever.recall("bun", where=where, as_of=as_of)
        one = "one of these limits" if ";" in said else "it"
        note = f"no memory of the scope fits ({said}): widen {one}, or leave it out"
        assert (found.ranked, found.trace.notes) == ((), (note,))
        [empty, both] = [
            await retriever.recall("bun", where=where, as_of=as_of, scopes=scopes)
            for scopes in ([scope], [scope, crowd])
        ]
        assert (empty.trace.notes, both.trace.notes) == ((), (note,))
    # Something fits, so other words may find it; and what was found says that something fits.
    for scopes, query in (([crowd], "xylophone"), ([scope, crowd], "bun")):
        found = await retriever.recall(query, where=MemoryFilter(kinds=["Event"]), scopes=scopes)
        assert (bool(found.ranked), found.trace.notes) == (query == "bun", ())
    # A wrong name is worth a word all the same.
    found = await retriever.recall("xylophone", where=MemoryFilter(kinds=["Evnt", "Event"]))
    said = "no memory of the scope has the kind 'Evnt'; did you mean 'Event'?"
    assert found.trace.notes == (said,)


async def test_memories_without_a_vector_become_seeds_only_if_they_fit(
    store: Store, scope: str
) -> None:
    rows = [Memory(id=id_, kind="Event", text="t", tags=[id_]) for id_ in "abc"]
    await GraphWriter(store, scope=scope).write(rows)
    config = SeedConfig(unembedded=5)
    seeds = await found(store, scope, MemoryFilter(tags=["b"]), vector=axis(0), config=config)
    assert all_ids(seeds) == ["b"]


# --- the query and the type agree -----------------------------------------------------------------

ODD: Sequence[dict[str, Any]] = (
    {"id": "plain", "tags": ["x"], "created_at": MADE},
    {"id": "local", "tags": ["x", "y"], "created_at": MADE.replace(tzinfo=None)},
    {"id": "text", "tags": ["x"], "created_at": MADE.isoformat()},
    {"id": "bare"},
    {"id": "numbers", "tags": [1, 2], "created_at": 7},
    {"id": "pairs", "metadata": '{"a": 1}', "metadata_pairs": ['"a": 1']},
)


@pytest.mark.parametrize(
    "where",
    [
        MemoryFilter(tags=["x"]),
        MemoryFilter(created_from=MADE),
        MemoryFilter(created_from=MADE, created_before=MADE + DAY),
        MemoryFilter(created_before=MADE),
        MemoryFilter(metadata={"a": 1}),
        MemoryFilter(exclude_ids=["plain", "bare"]),
    ],
    ids=["tags", "from", "from and before", "before", "metadata", "not these"],
)
async def test_query_and_type_agree_on_what_any_program_may_have_written(
    driver: neo4j.AsyncDriver, store: Store, scope: str, where: MemoryFilter
) -> None:
    rows = [{**row, "text": "quokka", "embedding": axis(40)} for row in ODD]
    await plant(driver, scope, rows)
    memories = await hydrate(store, [row["id"] for row in ODD], scope=scope, until=None)
    fitting = {id_ for id_, memory in memories.items() if where.fits(memory)}
    for search in ({"text": "quokka"}, {"vector": axis(40)}):
        assert set(all_ids(await found(store, scope, where, **search))) == fitting


# --- energy passes through ------------------------------------------------------------------------


@pytest.fixture
async def chain(store: Store, scope: str) -> GraphRetriever:
    """``a`` - ``b`` - ``c``; only ``a`` has a word of the question, only ``b`` has the tag."""
    texts = {"a": "quokka on the beach", "b": "a link between", "c": "the end of it"}
    memories = [
        Memory(id=id_, kind="Event", text=text, tags=["between"] if id_ == "b" else [])
        for id_, text in texts.items()
    ]
    edges = [Relation(source="a", target="b", weight=1), Relation(source="b", target="c", weight=1)]
    await GraphWriter(store, scope=scope).write(memories, edges)
    return GraphRetriever(store, scope=scope)


ALL_RELEVANT = ContextConfig(min_relevance=0.0, min_best_relevance=0.0)


@pytest.mark.parametrize(
    "config",
    [RetrieverConfig(context=ALL_RELEVANT), RetrieverConfig(relevance=None)],
    ids=["relevance", "energy"],
)
async def test_energy_passes_through_what_does_not_fit_and_its_text_stays_out(
    chain: GraphRetriever, config: RetrieverConfig
) -> None:
    recall = await chain.recall("quokka", where=MemoryFilter(exclude_ids=["b"]), config=config)
    assert recall.explorations[0].paths[0].ids == ("a", "b", "c")
    assert sorted(entry.id for entry in recall.ranked) == ["a", "c"]
    assert [item.id for item in recall.context.items] == ["a", "c"]
    assert [(item.id, item.reason) for item in recall.context.omitted] == [("b", "filter")]
    assert "a link between" not in recall.context.text
    paths = (*recall.paths, *recall.needed, *recall.hits)
    assert ranked_from(plain_recall(recall), paths) == recall.ranked


async def test_a_memory_that_does_not_fit_is_no_seed_though_it_matches_best(
    chain: GraphRetriever,
) -> None:
    recall = await chain.recall("quokka", where=MemoryFilter(exclude_ids=["a"]))
    assert (recall.seeds.seeds, recall.ranked, recall.context.text) == ((), (), "")
    found = await chain.find_seeds("link", where=MemoryFilter(tags=["between"]))
    assert [seed.id for seed in found.seeds] == ["b"]


async def test_the_stream_of_a_recall_takes_the_same_filter(chain: GraphRetriever) -> None:
    where = MemoryFilter(exclude_ids=["b"])
    async with chain.recall_stream("quokka", where=where) as paths:
        assert [path.ids async for path in paths] == [("a", "b", "c")]
    assert sorted(entry.id for entry in paths.result.ranked) == ["a", "c"]


async def test_a_filter_of_another_type_or_kinds_given_twice_are_refused(
    chain: GraphRetriever,
) -> None:
    wrong: Any = {"tags": ["x"]}
    with pytest.raises(InvalidInputError, match="where must be a MemoryFilter"):
        await chain.recall("quokka", where=wrong)
    with pytest.raises(InvalidInputError, match="given twice"):
        await chain.find_seeds("quokka", kinds=["Event"], where=MemoryFilter(kinds=["Event"]))


# --- what writers store ---------------------------------------------------------------------------


async def test_writer_stores_the_pairs_of_metadata_and_takes_them_away_with_it(
    store: Store, scope: str
) -> None:
    writer = GraphWriter(store, scope=scope)
    read = "MATCH (m:Memory {scope: $scope, id: 'a'}) RETURN m.metadata_pairs AS pairs"
    for metadata, pairs in (({"a": 1, "b": [2]}, ['"a": 1', '"b":']), ({}, None)):
        await writer.write([Memory(id="a", kind="Event", text="t", metadata=metadata)])
        assert (await run_statement(store, read, scope=scope))[0]["pairs"] == pairs
