"""Whole recalls: what callers get wrong, what embedders and slow halves do, and what comes out."""

from __future__ import annotations

import asyncio
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import neo4j
import pytest

from memoria.embed import CallableEmbedder
from memoria.errors import (
    InvalidInputError,
    OverloadedError,
    UnavailableError,
)
from memoria.recall.config import RetrieverConfig
from memoria.recall.context import with_links
from memoria.recall.context.config import ContextConfig
from memoria.recall.ranking.calibration import Calibration
from memoria.recall.ranking.config import RelevanceConfig
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies import TransferEnergy
from memoria.retriever import GraphRetriever
from memoria.serialize import plain_recall, trace_from
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.store.queries import Column, Query
from memoria.types import Memory, Recall, Relation, Seed
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS, EMBEDDER

AXIS = [1.0] + [0.0] * (DIMENSIONS - 1)
SEEDS = [Seed(id="a", score=1.0)]


def chain(ids: Iterable[str]) -> tuple[list[Memory], list[Relation]]:
    """Memories that all hold the word "link", each joined to the next."""
    names = list(ids)
    memories = [
        Memory(id=name, kind="Event", text=f"link {name}", embedding=AXIS) for name in names
    ]
    relations = [
        Relation(source=one, target=two, relation="next", weight=1.0, tags=["chain"])
        for one, two in itertools.pairwise(names)
    ]
    return memories, relations


@pytest.fixture
async def linked(store: Store, retriever: GraphRetriever, scope: str) -> GraphRetriever:
    """A retriever on a chain a - b - c - d."""
    await GraphWriter(store, scope=scope).write(*chain("abcd"))
    return retriever


@pytest.mark.parametrize("name", ["query_tags", "kinds"])
async def test_one_string_where_a_list_belongs_is_refused(
    linked: GraphRetriever, name: str
) -> None:
    wrong: dict[str, Any] = {name: "stockout"}
    for value in (wrong, {name: 5}, {name: [1]}):
        with pytest.raises(InvalidInputError, match=name):
            await linked.recall("link", **value)
        with pytest.raises(InvalidInputError, match=name):
            await linked.find_seeds("link", **value)
        with pytest.raises(InvalidInputError, match=name):
            linked.recall_stream("link", **value)
    if name == "query_tags":
        with pytest.raises(InvalidInputError, match=name):
            linked.explore_seeds(SEEDS, **wrong)
        with pytest.raises(InvalidInputError, match=name):
            linked.stream_paths(SEEDS, **wrong)
    else:
        with pytest.raises(InvalidInputError, match="empty"):
            await linked.recall("link", kinds=[])


async def test_settings_of_another_stage_are_refused(linked: GraphRetriever) -> None:
    stage: Any = TransferEnergy()
    with pytest.raises(InvalidInputError, match="RetrieverConfig"):
        await linked.recall("link", config=stage)
    with pytest.raises(InvalidInputError, match="RetrieverConfig"):
        linked.recall_stream("link", config=stage, deadline_s=1.0)
    with pytest.raises(InvalidInputError, match="RetrieverConfig"):
        await linked.find_seeds("link", config=stage)
    with pytest.raises(InvalidInputError, match="RetrieverConfig"):
        linked.explore_seeds(SEEDS, config=stage)
    with pytest.raises(InvalidInputError, match="RetrieverConfig"):
        linked.stream_paths(SEEDS, config=stage)


@pytest.mark.parametrize("seeds", [None, 5, "a", ["a"], Seed(id="a", score=1.0)])
async def test_what_is_no_list_of_seeds_is_refused(linked: GraphRetriever, seeds: Any) -> None:
    with pytest.raises(InvalidInputError, match="Seed"):
        linked.explore_seeds(seeds)


@pytest.mark.parametrize("limits", [{"deadline_s": 0}, {"deadline_s": float("nan")}])
async def test_limits_out_of_range_are_a_callers_error(
    linked: GraphRetriever, limits: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError):
        await linked.recall("link", **limits)
    with pytest.raises(InvalidInputError):
        linked.stream_paths(SEEDS, **limits)
    with pytest.raises(InvalidInputError):
        await linked.recall("link", budget_tokens=0)
    for number in (0, 101, "3"):
        wrong: Any = number
        with pytest.raises(InvalidInputError, match="max_seeds"):
            await linked.find_seeds("link", max_seeds=wrong)


async def test_max_seeds_comes_from_the_settings_unless_given(
    driver: neo4j.AsyncDriver, linked: GraphRetriever
) -> None:
    config = RetrieverConfig(seeds=SeedConfig(max_seeds=2))
    narrow = GraphRetriever(driver, scope=linked.scope, config=config)
    assert len((await narrow.find_seeds("link")).seeds) == 2
    assert len((await narrow.find_seeds("link", max_seeds=3)).seeds) == 3
    assert len((await linked.find_seeds("link")).seeds) == 4


async def fail(_: Sequence[str]) -> list[list[float]]:
    raise RuntimeError("HTTP 503")


async def time_out(_: Sequence[str]) -> list[list[float]]:
    raise TimeoutError


async def sleep(_: Sequence[str]) -> list[list[float]]:
    await asyncio.sleep(60)
    raise AssertionError("cancelled before")


@pytest.mark.parametrize("function", [fail, time_out, sleep])
async def test_an_embedder_that_fails_or_is_slow_leaves_the_words(
    driver: neo4j.AsyncDriver, linked: GraphRetriever, function: Any
) -> None:
    embedder = CallableEmbedder(function, dimensions=DIMENSIONS, name=EMBEDDER)
    retriever = GraphRetriever(driver, scope=linked.scope, embedder=embedder)
    recall = await retriever.recall("link", deadline_s=8.0)  # the rest needs time, too
    assert {entry.memory.id for entry in recall.ranked} == set("abcd")
    assert any("embedder" in note and "words" in note for note in recall.trace.degraded)


async def test_the_trace_keeps_what_a_failing_embedder_says(
    driver: neo4j.AsyncDriver, linked: GraphRetriever, caplog: pytest.LogCaptureFixture
) -> None:
    async def function(_: Sequence[str]) -> list[list[float]]:
        raise RuntimeError("HTTP 503:\n  try\tlater " + "x" * 1_000)

    embedder = CallableEmbedder(function, dimensions=DIMENSIONS, name=EMBEDDER)
    retriever = GraphRetriever(driver, scope=linked.scope, embedder=embedder)
    for _ in range(3):
        [note] = (await retriever.recall("link")).trace.degraded
    assert note.startswith("the embedder failed (RuntimeError: HTTP 503: try later xx")
    assert note.endswith("xx...): searched by words only")
    assert len(note) < 280
    warnings = [one for one in caplog.records if "embedder" in one.getMessage()]
    assert len(warnings) <= 1, "once a minute"
    assert not any("HTTP" in one.getMessage() for one in warnings), "it may quote the query"


async def test_an_embedder_that_fails_without_a_word_is_named_by_its_error(
    driver: neo4j.AsyncDriver, linked: GraphRetriever
) -> None:
    embedder = CallableEmbedder(time_out, dimensions=DIMENSIONS, name=EMBEDDER)
    retriever = GraphRetriever(driver, scope=linked.scope, embedder=embedder)
    [note] = (await retriever.recall("link")).trace.degraded
    assert note == "the embedder failed (TimeoutError): searched by words only"


async def test_with_an_embedder_of_wrong_vectors_words_alone_are_searched(
    driver: neo4j.AsyncDriver, linked: GraphRetriever
) -> None:
    class Wrong:
        name = EMBEDDER
        dimensions = DIMENSIONS

        async def embed_documents(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
            return [AXIS for _ in texts]

        async def embed_query(self, text: str) -> Sequence[float]:
            return [1.0, 2.0] if text == "short" else None  # type: ignore[return-value]

    retriever = GraphRetriever(driver, scope=linked.scope, embedder=Wrong())
    for query, why in (("short", "2 numbers"), ("none at all", "not a list of numbers")):
        [note] = (await retriever.recall(query)).trace.degraded
        assert why in note
        assert note.endswith("searched by words only")


class Slow(Store):
    """A store whose vector search never comes back by itself."""

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        if query.name.startswith("seeds.vector"):
            # As slow as the limit allows; the server would be cut off then.
            statement = load_sleep()
            return await super().run(statement, {}, until=until)
        return await super().run(query, parameters, until=until)


def load_sleep() -> Query:
    """A query that takes minutes."""
    text = (
        "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b "
        "WITH a, b WHERE a * b < 0 RETURN count(*) AS hits"
    )
    return Query(
        name="test.slow", mode="read", params=frozenset(), returns=(Column("hits"),), text=text
    )


async def test_a_slow_half_of_the_search_does_not_empty_the_recall(
    driver: neo4j.AsyncDriver, linked: GraphRetriever
) -> None:
    embedder = CallableEmbedder(
        lambda texts: [AXIS for _ in texts], dimensions=DIMENSIONS, name=EMBEDDER
    )
    retriever = GraphRetriever(driver, scope=linked.scope, embedder=embedder)
    retriever.store = Slow(driver, database="neo4j")
    recall = await retriever.recall("link", deadline_s=8.0)  # the rest needs time, too
    assert {entry.memory.id for entry in recall.ranked} == set("abcd")
    assert all(found.status == "complete" for found in recall.explorations)
    assert any("vector search failed" in note for note in recall.trace.degraded)


async def test_a_rare_kind_among_many_is_found_by_words_and_by_vector(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    many = [
        Memory(id=f"m{i}", kind="AgentAction", text=f"bun number {i}", embedding=AXIS)
        for i in range(2_000)
    ]
    rare = [
        Memory(
            id=f"rare{i}",
            kind="Event",
            text=f"bun number {i} of many more words than those",
            embedding=[-1.0, *AXIS[1:]],
        )
        for i in range(7)
    ]
    await GraphWriter(store, scope=scope).write(many + rare)
    by_words = GraphRetriever(driver, scope=scope)
    found = await by_words.find_seeds("bun number", kinds=["Event"], max_seeds=10)
    assert {seed.id for seed in found.seeds} == {memory.id for memory in rare}
    embedder = CallableEmbedder(
        lambda texts: [AXIS for _ in texts], dimensions=DIMENSIONS, name=EMBEDDER
    )
    by_vector = GraphRetriever(driver, scope=scope, embedder=embedder)
    found = await by_vector.find_seeds("nothing", kinds=["Event"], max_seeds=10)
    assert {seed.id for seed in found.seeds} == {memory.id for memory in rare}


async def test_tags_count_as_words_beside_a_long_query(
    linked: GraphRetriever, store: Store, scope: str
) -> None:
    await GraphWriter(store, scope=scope).write([Memory(id="z", kind="Event", text="zanzibar")])
    long_query = " ".join(f"word{i}" for i in range(400))
    found = await linked.find_seeds(long_query, query_tags=["zanzibar"])
    assert [seed.id for seed in found.seeds] == ["z"]


async def test_results_are_in_the_order_of_the_seeds(linked: GraphRetriever) -> None:
    seeds = [Seed(id="a", score=0.5), Seed(id="nobody", score=1.0), Seed(id="c", score=0.9)]
    stream = linked.stream_paths(seeds)
    async for _ in stream:
        pass
    assert [found.seed.id for found in stream.result] == ["a", "nobody", "c"]


async def test_the_callers_token_counter_packs_the_context(
    driver: neo4j.AsyncDriver, linked: GraphRetriever
) -> None:
    def count(text: str) -> int:
        return len(text.split())

    retriever = GraphRetriever(driver, scope=linked.scope, count_tokens=count)
    recall = await retriever.recall("link", budget_tokens=8)
    assert recall.context.tokens == count(recall.context.text) <= 8
    assert recall.context.omitted


def island(name: str, text: str, embedding: Sequence[float]) -> Memory:
    """A memory that no edge leads to; its text holds the word "link" too."""
    return Memory(id=name, kind="Event", text=f"link {text}", embedding=embedding)


def turned(cosine: float) -> list[float]:
    """A vector of that cosine with `AXIS`."""
    return [cosine, (1 - cosine**2) ** 0.5, *AXIS[2:]]


@pytest.mark.usefixtures("linked")
async def test_other_hits_of_the_search_are_in_the_context(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await GraphWriter(store, scope=scope).write([island("far", "far away", AXIS)])
    config = RetrieverConfig(seeds=SeedConfig(max_seeds=1))
    retriever = GraphRetriever(driver, scope=scope, config=config)
    recall = await retriever.recall("link a")
    assert [seed.id for seed in recall.seeds.seeds] == ["a"]
    assert {path.seed_id for path in recall.hits} == {*"bcd", "far"}
    assert [path.energy for path in recall.hits] == [hit.score for hit in recall.seeds.runners_up]
    assert {path.end_reason for path in recall.hits} == {"not_explored"}
    assert {item.id for item in recall.context.items} == {*"abcd", "far"}
    assert {entry.memory.id for entry in recall.ranked} == {*"abcd", "far"}


async def test_hits_that_cannot_be_read_leave_the_rest(
    driver: neo4j.AsyncDriver, store: Store, linked: GraphRetriever
) -> None:
    await GraphWriter(store, scope=linked.scope).write([island("far", "far away", AXIS)])

    class NoTexts(Store):
        async def run(
            self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
        ) -> list[neo4j.Record]:
            both = query.name == "ranking.candidates"
            if both or (query.name == "graph.hydrate" and "a" not in parameters["ids"]):
                raise UnavailableError("gone")
            return await super().run(query, parameters, until=until)

    config = RetrieverConfig(seeds=SeedConfig(max_seeds=1))
    retriever = GraphRetriever(driver, scope=linked.scope, config=config)
    retriever.store = NoTexts(driver, database="neo4j")
    recall = await retriever.recall("link a")
    assert {path.seed_id for path in recall.hits} == set("bcd"), "they were reached, too"
    assert {item.id for item in recall.context.items} == set("abcd")
    assert any("other hits" in note for note in recall.trace.degraded)


async def test_context_is_in_the_order_and_format_of_the_settings(
    driver: neo4j.AsyncDriver, linked: GraphRetriever
) -> None:
    config = RetrieverConfig(context=ContextConfig(order="time", format="json", names="id"))
    retriever = GraphRetriever(driver, scope=linked.scope, config=config)
    entries = json.loads((await retriever.recall("link")).context.text)
    assert {entry["id"] for entry in entries} == set("abcd")
    plain = await retriever.recall("link", config=RetrieverConfig())
    assert not plain.context.text.startswith("[{"), "JSON"
    assert {item.id for item in plain.context.items} == set("abcd")


async def test_an_edge_between_two_memories_is_shown_though_no_path_took_it(
    retriever: GraphRetriever,
) -> None:
    texts = {"film": "The film", "director": "Lana, director", "actor": "Keanu, actor"}
    memories = [Memory(id=id_, kind="Event", text=text) for id_, text in texts.items()]
    edges = [
        Relation(source=one, target="film", relation=relation, weight=0.9)
        for one, relation in (("director", "DIRECTED"), ("actor", "ACTED_IN"))
    ]
    await retriever.writer().write(memories, edges)
    config = RetrieverConfig(strategy=TransferEnergy(min_activation=1.0))  # no energy arrives
    recall = await retriever.recall("film director actor", config=config)
    assert not [hop for path in recall.paths for hop in path.hops]
    assert "DIRECTED" in recall.context.text
    assert "ACTED_IN" in recall.context.text


@pytest.mark.parametrize(
    ("threshold", "duplicates"), [(None, {}), (0.95, {"near": "best"}), (0.999, {})]
)
async def test_near_duplicates_are_found_by_their_vectors(
    driver: neo4j.AsyncDriver,
    store: Store,
    scope: str,
    threshold: float | None,
    duplicates: dict[str, str],
) -> None:
    memories = [
        island("best", "of the disk that is full", AXIS),
        island("near", "as the drive ran out of space", turned(0.98)),
        island("none", "with a vector of its own, elsewhere", turned(0.5)),
        # As near, but for a number: never the same.
        island("number", "of the disk that was full on 3 May", turned(0.99)),
    ]
    await GraphWriter(store, scope=scope).write(memories)
    await GraphWriter(store, scope=f"{scope}-other").write([island("near", "foreign", AXIS)])
    config = RetrieverConfig(context=ContextConfig(duplicate_cosine=threshold))
    retriever = GraphRetriever(driver, scope=scope, config=config)
    recall = await retriever.recall("link of the disk that is full")
    assert {item.id: item.duplicate_of for item in recall.context.omitted} == duplicates
    assert not any("duplicates" in note for note in recall.trace.degraded)


async def test_a_vector_that_is_none_ends_the_gate_by_vectors_and_nothing_else(
    driver: neo4j.AsyncDriver, store: Store, linked: GraphRetriever
) -> None:
    await store.run(
        Query(
            name="test.spoil",
            mode="write",
            params=frozenset({"scope"}),
            returns=(Column("done"),),
            text="MATCH (m:Memory {scope: $p.scope, id: 'b'}) "
            "SET m.embedding = [x IN m.embedding | 0.0 / 0.0] RETURN count(*) AS done",
        ),
        {"scope": linked.scope},
    )
    config = RetrieverConfig(context=ContextConfig(duplicate_cosine=0.9))
    recall = await GraphRetriever(driver, scope=linked.scope, config=config).recall("link")
    assert {item.id for item in recall.context.items} >= {"b"}


@pytest.mark.parametrize("relevance", [None, RelevanceConfig.default()])
async def test_ranked_holds_every_memory_once_best_first(
    linked: GraphRetriever, relevance: RelevanceConfig | None
) -> None:
    recall = await linked.recall("link", config=RetrieverConfig(relevance=relevance))
    ids = [entry.memory.id for entry in recall.ranked]
    assert sorted(ids) == ["a", "b", "c", "d"]
    scores = [entry.score for entry in recall.ranked]
    assert scores == sorted(scores, reverse=True)
    stages = {"embed", "wait", "seeds", "explore", "hydrate", "rank", "pack"}
    assert set(recall.trace.timings_s) == stages


async def test_without_a_relevance_model_memories_rank_by_energy(linked: GraphRetriever) -> None:
    recall = await linked.recall("link", config=RetrieverConfig(relevance=None))
    by_seed = {seed.id: seed.score for seed in recall.seeds.seeds}
    assert all(entry.score >= by_seed.get(entry.memory.id, 0.0) for entry in recall.ranked)
    assert all(entry.features == entry.shares == {} for entry in recall.ranked)


@pytest.fixture
async def crowd(driver: neo4j.AsyncDriver, store: Store, scope: str) -> GraphRetriever:
    """A retriever on a chain of so many memories that their relevance is known."""
    await GraphWriter(store, scope=scope).write(*chain(f"m{number:02}" for number in range(30)))
    embedder = CallableEmbedder(
        lambda texts: [AXIS for _ in texts], dimensions=DIMENSIONS, name=EMBEDDER
    )
    return GraphRetriever(driver, scope=scope, embedder=embedder)


async def test_what_is_too_unlikely_stays_out_of_the_context(crowd: GraphRetriever) -> None:
    # The odds are 1 to 1 for the first rank, and 1 to e to the 4 for the hundredth. The question
    # names one memory; the others share the second rank, with 0.35.
    weights = replace(
        RelevanceConfig.default(),
        calibration=Calibration(asks=20.0, answer=20.0, evidence_place=4.0),
    )
    config = RetrieverConfig(relevance=weights, context=ContextConfig(min_relevance=0.4))
    recall = await crowd.recall("link m03", config=config, budget_tokens=10_000)
    likely = {entry.memory.id for entry in recall.ranked if (entry.relevance or 0.0) >= 0.4}
    assert 0 < len(likely) < len(recall.ranked)
    assert {item.id for item in recall.context.items} == likely
    out = {item.id for item in recall.context.omitted if item.reason == "relevance"}
    assert out == {entry.memory.id for entry in recall.ranked} - likely
    assert recall.trace.notes == ()


async def test_a_recall_that_finds_nothing_relevant_says_so(crowd: GraphRetriever) -> None:
    weights = replace(RelevanceConfig.default(), calibration=Calibration(answer=-20.0))
    recall = await crowd.recall("link", config=RetrieverConfig(relevance=weights))
    assert len(recall.ranked) > 20
    assert (recall.context.text, recall.context.items) == ("", ())
    [note] = recall.trace.notes
    assert note.startswith(f"nothing is relevant: the best of {len(recall.ranked)} memories has ")
    assert trace_from(plain_recall(recall)).notes == (note,)


async def test_shares_of_the_features_explain_the_score(linked: GraphRetriever) -> None:
    recall = await linked.recall("link")
    totals = [sum(entry.shares.values()) for entry in recall.ranked]
    for entry, total in zip(recall.ranked, totals, strict=True):
        assert entry.score == pytest.approx(math.exp(total - totals[0]))
    assert recall.ranked[0].score == 1.0


async def test_ranking_and_context_keep_to_the_kinds_asked_for(linked: GraphRetriever) -> None:
    recall = await linked.recall("link", kinds=["Event"])
    assert {entry.memory.kind for entry in recall.ranked} == {"Event"}


async def test_duplicates_by_vector_are_looked_for_in_the_order_of_their_worth(
    driver: neo4j.AsyncDriver, linked: GraphRetriever
) -> None:
    asked: list[list[str]] = []

    class Seen(Store):
        async def run(
            self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
        ) -> list[neo4j.Record]:
            if query.name == "context.duplicates":
                asked.append(parameters["ids"])
            return await super().run(query, parameters, until=until)

    config = RetrieverConfig(
        seeds=SeedConfig(max_seeds=1), context=ContextConfig(duplicate_cosine=0.9)
    )
    retriever = GraphRetriever(driver, scope=linked.scope, config=config)
    retriever.store = Seen(driver, database="neo4j")
    recall = await retriever.recall("link c")
    paths = (path for each in recall.explorations for path in each.paths)
    worth = with_links(paths, {entry.id: entry.score for entry in recall.ranked})
    assert asked == [sorted(worth, key=lambda id_: (-worth[id_], id_))]
    assert set(asked[0]) == {entry.id for entry in recall.ranked}


async def test_what_the_database_does_not_tell_weighs_nothing(
    driver: neo4j.AsyncDriver, linked: GraphRetriever
) -> None:
    asked: list[str] = []

    class NoFacts(Store):
        async def run(
            self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
        ) -> list[neo4j.Record]:
            asked.append(query.name)
            if query.name == "ranking.candidates":
                raise UnavailableError("gone")
            return await super().run(query, parameters, until=until)

    retriever = GraphRetriever(driver, scope=linked.scope)
    retriever.store = NoFacts(driver, database="neo4j")
    recall = await retriever.recall("link")
    assert len(recall.ranked) == 4
    assert "ranked without cosines and edges (gone)" in recall.trace.degraded
    assert asked.count("ranking.candidates") == 1


async def test_finding_nothing_is_a_value(retriever: GraphRetriever) -> None:
    recall = await retriever.recall("nothing is here")
    assert recall.seeds.seeds == ()
    assert recall.explorations == ()
    assert recall.ranked == ()
    assert recall.context.text == ""
    async with retriever.recall_stream("nothing is here") as stream:
        assert [path async for path in stream] == []
    assert stream.result.ranked == ()


async def test_the_seeds_of_a_stream_are_handed_over_before_its_first_path(
    linked: GraphRetriever,
) -> None:
    told: list[str] = []
    stream = linked.recall_stream("link", on_seeds=lambda _: told.append("seeds"))
    async with stream:
        told.extend(["path" async for _ in stream])
    assert told[:2] == ["seeds", "path"]
    assert told.count("seeds") == 1


class Busy(Store):
    """A store that counts the recalls at work: from the search by words to the last texts."""

    at_work = 0
    most = 0

    async def run(
        self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
    ) -> list[neo4j.Record]:
        if query.name == "seeds.text":
            self.at_work += 1
            self.most = max(self.most, self.at_work)
            await asyncio.sleep(0.05)
        found = await super().run(query, parameters, until=until)
        if query.name == "ranking.candidates":
            self.at_work -= 1
        return found


async def test_recalls_take_turns_and_all_find_what_one_alone_finds(
    driver: neo4j.AsyncDriver, linked: GraphRetriever
) -> None:
    embedding = most_embedding = 0

    async def embed(texts: list[str]) -> list[list[float]]:
        nonlocal embedding, most_embedding
        embedding += 1
        most_embedding = max(most_embedding, embedding)
        await asyncio.sleep(0.05)
        embedding -= 1
        return [AXIS for _ in texts]

    store = Busy(driver, config=StoreConfig(max_recalls=3))
    busy = GraphRetriever(
        store,
        scope=linked.scope,
        embedder=CallableEmbedder(embed, dimensions=DIMENSIONS, name=EMBEDDER),
    )
    alone = await busy.recall("link")
    recalls = await asyncio.gather(*(busy.recall("link") for _ in range(10)))
    assert store.most == 3
    assert 3 < most_embedding <= 6  # while as many others are at work
    assert {recall.context.text for recall in recalls} == {alone.context.text}
    waited = sorted(recall.trace.timings_s["wait"] for recall in recalls)
    assert waited[-1] > 0.15 > waited[0]  # three others, one after the other, each at least 0.05


@pytest.fixture
def one_at_a_time(driver: neo4j.AsyncDriver, linked: GraphRetriever) -> GraphRetriever:
    """A retriever with one turn, whose search takes a while."""
    return GraphRetriever(Busy(driver, config=StoreConfig(max_recalls=1)), scope=linked.scope)


async def test_a_recall_whose_turn_does_not_come_in_time_says_what_to_do(
    one_at_a_time: GraphRetriever,
) -> None:
    await one_at_a_time.server_facts()
    first = asyncio.create_task(one_at_a_time.recall("link"))
    await asyncio.sleep(0)
    with pytest.raises(OverloadedError, match=r"1 at work, .*call again in \d"):
        await one_at_a_time.recall("link", deadline_s=0.02)
    assert (await first).seeds.seeds


@pytest.mark.parametrize("started_s", [0, 0.02])
async def test_a_recall_given_up_leaves_its_turn(
    one_at_a_time: GraphRetriever, started_s: float
) -> None:
    await one_at_a_time.server_facts()
    tasks = [asyncio.create_task(one_at_a_time.recall("link")) for _ in range(2)]
    await asyncio.sleep(started_s)
    for task in tasks:  # one may be at work, the other waits
        task.cancel()
    assert {type(each) for each in await asyncio.gather(*tasks, return_exceptions=True)} == {
        asyncio.CancelledError
    }
    async with one_at_a_time.recall_stream("link") as stream:
        await anext(aiter(stream))  # the rest is not wanted
    assert (await one_at_a_time.recall("link")).seeds.seeds


def energies(recall: Recall) -> list[float]:
    return [path.energy for each in recall.explorations for path in each.paths]


async def test_a_tag_in_another_case_steers_as_the_tag_itself(linked: GraphRetriever) -> None:
    right = await linked.recall("link a", query_tags=["chain"])
    for written in (["Chain"], ["CHAIN"]):
        recall = await linked.recall("link a", query_tags=written)
        assert recall.trace.query_tags == ("chain",)
        assert energies(recall) == energies(right)
        assert "tag" not in " ".join(recall.trace.degraded)


async def test_tags_that_no_edge_has_count_as_none_and_are_named(linked: GraphRetriever) -> None:
    plain = await linked.recall("link a")
    recall = await linked.recall("link a", query_tags=["chian"])
    assert energies(recall) == energies(plain)
    notes = "; ".join(recall.trace.degraded)
    assert "has the tag 'chian'" in notes
    assert "similar tags: 'chain'" in notes


async def test_the_words_of_a_question_are_its_tags_on_demand(linked: GraphRetriever) -> None:
    recall = await linked.recall("Which chain has the link a?", query_tags="auto")
    assert recall.trace.query_tags == ("chain",)
    assert (await linked.recall("link a", query_tags="auto")).trace.query_tags == ()
