"""Seeds of a real server: both searches, their fusion, scopes, and any words a user may send."""

from __future__ import annotations

import asyncio
import hashlib
import math
import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import neo4j
import numpy as np
import pytest

from memoria.embed import CallableEmbedder
from memoria.errors import InvalidInputError, MemoriaError
from memoria.graph.vocabulary import scope_key
from memoria.recall.config import RetrieverConfig
from memoria.recall.seeds import SeedRequest, search_seeds
from memoria.recall.seeds.config import SeedConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import MemoryFilter, Seed, Seeds
from tests.dialects import Dialect, dialects_of
from tests.effort import effort
from tests.for_each import for_each
from tests.integration.conftest import WEB_SCOPE

DIMENSIONS = 384

VECTORS = effort().vectors
SMALL, MEDIUM, LARGE = "vectors-small", "vectors-medium", "vectors-large"
OWNED = {SMALL: 20, MEDIUM: 200, LARGE: VECTORS - 220}  # few, ten times as many, the rest


class Quiet(list[dict[str, Any]]):
    """A list that the driver, which prints all parameters even unlogged, prints at once."""

    def __repr__(self) -> str:
        return "[...]"


async def plant(
    driver: neo4j.AsyncDriver, scope: str, memories: Sequence[dict[str, Any]], kind: str = "Event"
) -> None:
    """Create memories with a raw driver, as any other program might."""
    async with driver.session(database="neo4j") as session:
        for start in range(0, len(memories), 2_000):
            result = await session.run(
                "UNWIND $rows AS row CREATE (m:Memory:$(row.kind)) "
                "SET m = row.properties, m.scope = $scope, m.scope_key = $key",
                rows=Quiet(
                    {"kind": row.get("kind", kind), "properties": {**row, "kind": None}}
                    for row in memories[start : start + 2_000]
                ),
                scope=scope,
                key=scope_key(scope),
            )
            await result.consume()


async def uproot(driver: neo4j.AsyncDriver, scope: str) -> None:
    """Delete a scope in batches."""
    async with driver.session(database="neo4j") as session:
        result = await session.run(
            "MATCH (m:Memory) WHERE m.scope = $scope AND m.id IS NOT NULL "
            "CALL (m) { DETACH DELETE m } IN TRANSACTIONS OF 2000 ROWS",
            scope=scope,
        )
        await result.consume()


async def searched(store: Store, scope: str, **changes: Any) -> Seeds:
    """One search as `GraphRetriever.find_seeds` makes it."""
    request = SeedRequest(
        text="",
        vector=None,
        scope=scope,
        dialect=(await dialects_of(store))[0],
        config=SeedConfig(max_seeds=10),
        until=None,
    )
    return await search_seeds(store, replace(request, **changes))


def ids(seeds: Seeds) -> list[str]:
    return [seed.id for seed in seeds.seeds]


def all_ids(seeds: Seeds) -> list[str]:
    return [seed.id for seed in (*seeds.seeds, *seeds.runners_up)]


def axis(number: int) -> list[float]:
    """The unit vector along one of the dimensions."""
    return [float(number == place) for place in range(DIMENSIONS)]


def between(first: int, second: int, cosine: float) -> list[float]:
    """A unit vector at ``cosine`` to the first axis, in the plane of both."""
    vector = [0.0] * DIMENSIONS
    vector[first], vector[second] = cosine, math.sqrt(1 - cosine**2)
    return vector


def toy_embedding(texts: list[str]) -> list[list[float]]:
    """Each word adds 1 at a place that its hash names."""
    vectors = []
    for text in texts:
        vector = [0.0] * DIMENSIONS
        for word in text.lower().split():
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % DIMENSIONS] += 1.0
        vectors.append(vector)
    return vectors


# --- small scopes in a large index ----------------------------------------------------------------


@pytest.fixture(scope="module")
async def crowd(driver: neo4j.AsyncDriver) -> AsyncIterator[dict[str, np.ndarray]]:
    """Thousands of clustered vectors of three scopes, in one index; scope -> its vectors."""
    rng = np.random.default_rng(11)
    centres = rng.normal(size=(100, DIMENSIONS))
    vectors = centres[rng.integers(100, size=VECTORS)] + 0.5 * rng.normal(
        size=(VECTORS, DIMENSIONS)
    )
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    owned: dict[str, np.ndarray] = {}
    start = 0
    for scope, count in OWNED.items():
        owned[scope] = vectors[start : start + count].astype(np.float64)
        rows = [
            {"id": f"v{number:05}", "text": "one of many", "embedding": vector.tolist()}
            for number, vector in enumerate(owned[scope])
        ]
        await plant(driver, scope, rows)
        start += count
    yield owned
    for scope in OWNED:
        await uproot(driver, scope)


def nearest(vectors: np.ndarray, query: np.ndarray, count: int) -> list[str]:
    """Ids of the nearest vectors, by comparing all."""
    order = np.argsort(-(vectors @ query), kind="stable")[:count]
    return [f"v{number:05}" for number in order]


async def test_scope_with_few_of_the_vectors_gets_all_it_asks_for(
    store: Store, crowd: dict[str, np.ndarray], dialect: Dialect
) -> None:
    rng = np.random.default_rng(12)
    for _ in range(5):
        query = crowd[LARGE][rng.integers(OWNED[LARGE])]
        found = await searched(store, SMALL, vector=query.tolist(), dialect=dialect)
        assert ids(found) == nearest(crowd[SMALL], query, 10)
        assert len(all_ids(found)) == OWNED[SMALL]
        assert [seed.vector_rank for seed in found.seeds] == list(range(1, 11))
        exact = dict(
            zip(nearest(crowd[SMALL], query, 20), sorted(crowd[SMALL] @ query)[::-1], strict=True)
        )
        for seed in found.seeds:
            assert seed.vector_score == pytest.approx(exact[seed.id], abs=1e-5)


@pytest.mark.parametrize("scope", [MEDIUM, LARGE])
async def test_larger_scope_gets_nine_of_ten_nearest_or_more(
    store: Store, crowd: dict[str, np.ndarray], scope: str, dialect: Dialect
) -> None:
    rng = np.random.default_rng(13)
    recalls = []
    for _ in range(10):
        query = crowd[scope][rng.integers(OWNED[scope])] + 0.02 * rng.normal(size=DIMENSIONS)
        found = await searched(store, scope, vector=query.tolist(), dialect=dialect)
        assert len(found.seeds) == 10
        recalls.append(len(set(ids(found)) & set(nearest(crowd[scope], query, 10))) / 10)
    assert sum(recalls) / len(recalls) >= 0.9


# --- numbers on a seed ----------------------------------------------------------------------------


@pytest.fixture
async def shelf(driver: neo4j.AsyncDriver, scope: str) -> str:
    """Four memories whose cosines with the first axis are 1, 0.8, 0.6 and none; a scope."""
    await plant(
        driver,
        scope,
        [
            {"id": "a", "text": "quokka on the beach", "embedding": axis(0)},
            {"id": "b", "text": "quokka quokka quokka", "embedding": between(0, 1, 0.8)},
            {"id": "c", "text": "a lighthouse", "embedding": between(0, 2, 0.6)},
            {"id": "d", "text": "the quokka and the lighthouse keeper", "kind": "UserRequest"},
        ],
    )
    return scope


async def test_seed_keeps_both_ranks_and_both_raw_scores(
    store: Store, shelf: str, dialect: Dialect
) -> None:
    found = await searched(store, shelf, text="quokka", vector=axis(0), dialect=dialect)
    by_id = {seed.id: seed for seed in found.seeds}
    assert [by_id[node].vector_rank for node in "abcd"] == [1, 2, 3, None]
    assert [by_id[node].vector_score for node in "abc"] == [
        pytest.approx(1.0, abs=1e-6),
        pytest.approx(0.8, abs=1e-6),
        pytest.approx(0.6, abs=1e-6),
    ]
    assert by_id["d"].vector_score is None
    assert [by_id[node].text_rank for node in "bacd"] == [1, 2, None, 3]
    bm25 = [by_id[node].text_score for node in "bad"]
    assert all(score is not None and score > 0 for score in bm25)
    assert bm25 == sorted(bm25, key=lambda score: -(score or 0))
    # a and b are each first once and second once, a tie that ids break; d and c follow.
    total = 1 / 61 + 1 / 62
    assert [(seed.id, seed.score) for seed in found.seeds] == [
        ("a", 1.0),
        ("b", 1.0),
        ("c", pytest.approx(1 / 63 / total)),
        ("d", pytest.approx(1 / 63 / total)),
    ]
    assert found.degraded == ()
    assert found.runners_up == ()


async def test_linear_fusion_weighs_cosine_and_bm25(store: Store, shelf: str) -> None:
    config = SeedConfig(fusion="linear", alpha=1.0)
    found = await searched(store, shelf, text="quokka", vector=axis(0), config=config)
    assert [(seed.id, seed.score) for seed in found.seeds] == [
        ("a", 1.0),
        ("b", pytest.approx(0.8, abs=1e-6)),
        ("c", pytest.approx(0.6, abs=1e-6)),
    ]
    words = await searched(
        store, shelf, text="quokka", vector=axis(0), config=replace(config, alpha=0.0)
    )
    assert ids(words) == ["b", "a", "d"]
    both = await searched(
        store, shelf, text="quokka", vector=axis(0), config=replace(config, alpha=0.5)
    )
    best = next(seed for seed in both.seeds if seed.id == "b")
    assert best.score == 1.0, "0.5 * 0.8 + 0.5 * 1 is the most"


async def test_max_seeds_leaves_the_rest_as_runners_up(store: Store, shelf: str) -> None:
    config = SeedConfig(max_seeds=1)
    found = await searched(store, shelf, text="quokka", vector=axis(0), config=config)
    assert ids(found) == ["a"]
    assert [seed.id for seed in found.runners_up] == ["b", "c", "d"]
    assert found.runners_up[0].score == 1.0


async def test_only_memories_of_the_kinds_asked_for_are_found(
    store: Store, shelf: str, dialect: Dialect
) -> None:
    ask = {"text": "quokka lighthouse", "vector": axis(0), "dialect": dialect}
    assert ids(await searched(store, shelf, where=MemoryFilter(kinds=("UserRequest",)), **ask)) == [
        "d"
    ]
    assert set(ids(await searched(store, shelf, where=MemoryFilter(kinds=("Event",)), **ask))) == {
        "a",
        "b",
        "c",
    }
    both = await searched(store, shelf, where=MemoryFilter(kinds=("UserRequest", "Event")), **ask)
    assert set(ids(both)) == {"a", "b", "c", "d"}
    nothing = await searched(store, shelf, where=MemoryFilter(kinds=("DataSource",)), **ask)
    assert all_ids(nothing) == []
    assert nothing.degraded == (), "finding nothing is an answer"


async def test_rare_kind_in_a_large_scope_is_found_by_vector(
    driver: neo4j.AsyncDriver, store: Store, scope: str, dialect: Dialect
) -> None:
    """300 nearer memories of another kind fill the index's list; an exact search finds the one."""
    near = [{"id": f"n{n}", "text": "x", "embedding": between(3, 4, 0.99)} for n in range(300)]
    rare = {"id": "rare", "text": "x", "embedding": between(3, 4, 0.1), "kind": "DataSource"}
    await plant(driver, scope, [*near, rare])
    found = await searched(
        store, scope, vector=axis(3), where=MemoryFilter(kinds=("DataSource",)), dialect=dialect
    )
    assert ids(found) == ["rare"]


async def test_ties_are_in_the_order_of_ids(
    driver: neo4j.AsyncDriver, store: Store, scope: str, dialect: Dialect
) -> None:
    names = [f"t{number}" for number in range(9)]
    shuffled = random.Random(3).sample(names, len(names))
    await plant(
        driver, scope, [{"id": n, "text": "same words", "embedding": axis(9)} for n in shuffled]
    )
    for text, vector in (("same", None), ("", axis(9)), ("same", axis(9))):
        found = await searched(store, scope, text=text, vector=vector, dialect=dialect)
        assert ids(found) == names


# --- one search alone -----------------------------------------------------------------------------


async def test_without_an_embedder_words_alone_are_searched(
    retriever: GraphRetriever, shelf: str
) -> None:
    found = await retriever.find_seeds("Quokka!")
    assert ids(found) == ["b", "a", "d"]
    assert found.seeds[0].score == 1.0
    assert {seed.vector_rank for seed in found.seeds} == {None}
    assert found.degraded == ("no embedder: searched by words only",)
    assert shelf == retriever.scope


async def test_without_an_embedder_the_vectors_share_of_linear_goes_to_the_words(
    driver: neo4j.AsyncDriver, shelf: str
) -> None:
    config = RetrieverConfig(seeds=SeedConfig(fusion="linear", alpha=1.0))
    found = await GraphRetriever(driver, scope=shelf, config=config).find_seeds("quokka")
    assert ids(found) == ["b", "a", "d"]


async def test_vector_alone_counts_where_no_word_is_found(store: Store, shelf: str) -> None:
    found = await searched(store, shelf, text="unheard of", vector=axis(0))
    assert ids(found) == ["a", "b", "c"]
    assert [seed.score for seed in found.seeds] == pytest.approx([1.0, 61 / 62, 61 / 63])
    assert found.degraded == ()


async def test_words_alone_count_where_no_vector_is_stored(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await plant(driver, scope, [{"id": "a", "text": "quokka"}])
    found = await searched(store, scope, text="quokka", vector=axis(0))
    assert ids(found) == ["a"]
    assert found.degraded == ()


async def test_vector_of_another_size_leaves_the_words_and_says_so(
    store: Store, shelf: str, dialect: Dialect
) -> None:
    found = await searched(store, shelf, text="quokka", vector=[1.0, 0.0], dialect=dialect)
    assert ids(found) == ["b", "a", "d"]
    (note,) = found.degraded
    assert note.startswith("vector search failed")
    assert "another size" in note


async def test_scope_without_memories_has_no_seeds(retriever: GraphRetriever) -> None:
    found = await retriever.find_seeds("anything at all")
    assert found.seeds == found.runners_up == ()
    assert found.degraded == ("no embedder: searched by words only",)


async def test_error_of_the_only_search_there_is_is_raised(store: Store, shelf: str) -> None:
    with pytest.raises(MemoriaError):
        await searched(store, shelf, text="quokka", until=asyncio.get_running_loop().time() - 1)


# --- with an embedder -----------------------------------------------------------------------------


@pytest.fixture
def embedder() -> CallableEmbedder:
    """Counts words by hash; it has the name that the test server was set up with."""
    return CallableEmbedder(toy_embedding, dimensions=DIMENSIONS, name="test")


async def test_embedder_finds_by_cosines_that_a_hand_can_check(
    driver: neo4j.AsyncDriver, scope: str, embedder: CallableEmbedder
) -> None:
    texts = {"a": "red green blue", "b": "red green", "c": "yellow"}
    vectors = dict(zip(texts, toy_embedding(list(texts.values())), strict=True))
    # Stored under other words, so that only the vectors can tell.
    await plant(driver, scope, [{"id": n, "text": "x", "embedding": v} for n, v in vectors.items()])
    found = await GraphRetriever(driver, scope=scope, embedder=embedder).find_seeds("red green")
    by_id = {seed.id: seed.vector_score for seed in found.seeds}
    assert ids(found) == ["b", "a", "c"]
    assert by_id["b"] == pytest.approx(1.0, abs=1e-5)
    assert by_id["a"] == pytest.approx(2 / math.sqrt(2 * 3), abs=1e-5)
    assert by_id["c"] == pytest.approx(0.0, abs=1e-5)
    assert found.degraded == ()


async def test_query_tags_count_as_words(retriever: GraphRetriever, shelf: str) -> None:
    assert shelf == retriever.scope
    assert ids(await retriever.find_seeds("unheard", query_tags=["lighthouse"])) == ["c", "d"]
    assert ids(await retriever.find_seeds("unheard", query_tags=["lighthouse_keeper"])) == [
        "d",
        "c",
    ]


# --- what is no query -----------------------------------------------------------------------------


@for_each("text", ["", " ", "\n\t", "\u3000", "\xa0\u2003", None, 5, b"a"])
async def test_blank_or_broken_query_is_invalid_input(retriever: GraphRetriever, text: Any) -> None:
    with pytest.raises(InvalidInputError) as caught:
        await retriever.find_seeds(text)
    assert caught.value.field == "query"


@pytest.mark.parametrize("max_seeds", [0, -1, 101, 1.5, True])
async def test_max_seeds_out_of_its_range_is_refused(
    retriever: GraphRetriever, max_seeds: Any
) -> None:
    with pytest.raises(MemoriaError, match="max_seeds"):
        await retriever.find_seeds("quokka", max_seeds=max_seeds)


@pytest.mark.parametrize("kind", ["", "a b", "Event)", "Event`", 5])
async def test_kind_that_is_no_identifier_is_refused(retriever: GraphRetriever, kind: Any) -> None:
    with pytest.raises(InvalidInputError):
        await retriever.find_seeds("quokka", kinds=[kind])


# --- scopes ---------------------------------------------------------------------------------------


async def test_scopes_that_an_analyzer_takes_for_one_do_not_leak(
    driver: neo4j.AsyncDriver, store: Store, scope: str, dialect: Dialect
) -> None:
    scopes = [f"user-{scope}", f"User-{scope}", f"user {scope}", f"USER-{scope.upper()}"]
    for number, name in enumerate(scopes):
        await plant(driver, name, [{"id": f"m{number}", "text": "quokka", "embedding": axis(20)}])
    for number, name in enumerate(scopes):
        for text, vector in (("quokka", None), (name, None), ("", axis(20)), ("quokka", axis(20))):
            found = await searched(store, name, text=text, vector=vector, dialect=dialect)
            assert set(all_ids(found)) <= {f"m{number}"}
        assert ids(await searched(store, name, text="quokka", vector=axis(20))) == [f"m{number}"]


async def test_words_that_name_a_scope_reach_nothing_of_it(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    theirs = f"{scope}-theirs"
    await plant(driver, theirs, [{"id": "theirs", "text": "quokka"}])
    await plant(driver, scope, [{"id": "mine", "text": "wombat"}])
    for text in (
        scope_key(theirs),
        f"scope_key:{scope_key(theirs)}",
        f'quokka") OR +scope_key:{scope_key(theirs)} ("',
        f"quokka) scope_key:{scope_key(theirs)}^9 (",
        f'\\" +scope_key:{scope_key(theirs)} \\',
    ):
        found = await searched(store, scope, text=text)
        assert set(all_ids(found)) <= {"mine"}


# --- graphs that something else wrote -------------------------------------------------------------


async def test_memories_without_a_usable_id_are_passed_over(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    odd: list[dict[str, Any]] = [{}, {}, {"id": 7}, {"id": ""}, {"id": "x" * 513}, {"id": [1]}]
    rows = [{"text": "quokka", "embedding": axis(30), **row} for row in (*odd, {"id": "good"})]
    await plant(driver, scope, rows)
    for text, vector in (("quokka", None), ("", axis(30)), ("quokka", axis(30))):
        for dialect in await dialects_of(store):
            found = await searched(store, scope, text=text, vector=vector, dialect=dialect)
            assert ids(found) == ["good"]
    async with driver.session(database="neo4j") as session:
        result = await session.run("MATCH (m:Memory {scope: $s}) DETACH DELETE m", s=scope)
        await result.consume()


# --- any words ------------------------------------------------------------------------------------

QUERIES = effort().queries
SPECIALS = [*"+-&|!(){}[]^\"~*?:\\/<>=@#$%;,.'`", "&&", "||", "AND", "OR", "NOT", "TO"]
NASTIES = [
    *(special for special in SPECIALS),
    *(special * 3 for special in SPECIALS),
    *(
        "AND OR",
        "NOT",
        "a AND",
        "OR b",
        "(",
        "()",
        '"',
        '""',
        '"""',
        "\\",
        "\\\\",
        '\\"',
        "\\u0041",
    ),
    *("text:*", "*:*", "scope:*", "_exists_:text", "scope_key:s", "text:[a TO z]", "{* TO *}"),
    *(
        "/.*/",
        "/(a+)+$/",
        "/[/",
        "*a*",
        "?",
        "a*",
        "*",
        "fuzzy~",
        "fuzzy~2",
        '"a b"~5',
        "boost^1e9",
    ),
    *("C++ (", "tb-*", "file_name.py", "a/b/c", "e-mail@example.com", "https://x.y/?q=(1)&r=[2]"),
    *(
        "😀",
        "👨‍👩‍👧‍👦",
        "🏳️‍🌈",
        "שלום עולם",
        "مرحبا (بالعالم)",
        "\u202eabc",
        "ｑｕｏｋｋａ",
        "你好，世界",
        "ไทย",
    ),
    *(
        "\x00",
        "a\x00b",
        "\x00" * 50,
        "\ufeff",
        "\u2028",
        "\x1b[31m",
        "\x7f",
        "\U0010ffff",
        "\ufffe",
    ),
    *("the a of and to in is it", "the", "!" * 5_000, "(" * 5_000, '"' * 5_001, "\\" * 5_001),
    *("a " * 5_000, " ".join(map(str, range(2_000))), "x" * 100_000, "x-" * 50_000, "é" * 40_000),
    *("'; DROP INDEX memory_text; //", "$p.scope", "{{7*7}}", "<script>", "${jndi:ldap://x}"),
    *("quokka" + special + "zanzibar" for special in SPECIALS if not special.isalpha()),
]


def generated_queries(rng: random.Random) -> list[str]:
    """Hand-made ones, then endless mixtures of words, specials and any code point."""
    queries = list(NASTIES)
    alphabets = [
        *((0x20, 0x7F), (0x20, 0x7F), (0x00, 0x100), (0x590, 0x700), (0x300, 0x370)),
        *((0x2000, 0x2070), (0x3040, 0x30FF), (0x4E00, 0x4F00), (0x1F300, 0x1F700)),
        *((0x0, 0xD800), (0xE000, 0x110000)),
    ]
    while len(queries) < QUERIES - 2:
        parts = []
        for _ in range(rng.randint(1, 8)):
            choice = rng.random()
            if choice < 0.35:
                parts.append(rng.choice(SPECIALS))
            elif choice < 0.55:
                parts.append(
                    rng.choice(["quokka", "beach", "the", "text", "scope_key", "zanzibar"])
                )
            else:
                low, high = rng.choice(alphabets)
                parts.append(
                    "".join(chr(rng.randrange(low, high)) for _ in range(rng.randint(1, 12)))
                )
        queries.append(rng.choice(["", " "]).join(parts))
    # As large as a query may be, and one byte more.
    return [*queries, ("quokka (" * 125_000)[:1_000_000], "x" * 1_000_001]


async def test_queries_of_any_characters_raise_nothing_but_invalid_input(
    driver: neo4j.AsyncDriver, retriever: GraphRetriever, scope: str
) -> None:
    await plant(driver, scope, [{"id": "mine", "text": "zanzibar quokka beach text"}])
    await plant(driver, f"{scope}-other", [{"id": "theirs", "text": "zanzibar quokka beach text"}])
    queries = generated_queries(random.Random(20261121))
    assert len(queries) == QUERIES
    refused: list[str] = []
    found: set[str] = set()

    async def worker(share: list[str]) -> None:
        for text in share:
            try:
                seeds = await retriever.find_seeds(text)
            except InvalidInputError:
                refused.append(text)
            else:
                found.update(all_ids(seeds))

    async with asyncio.TaskGroup() as tasks:
        for first in range(16):
            tasks.create_task(worker(list(islice(queries, first, None, 16))))

    assert found == {"mine"}
    assert refused
    for text in refused:
        assert not text.strip() or len(text) > 1_000_000, ascii(text[:50])


@pytest.fixture
async def planted(driver: neo4j.AsyncDriver, retriever: GraphRetriever) -> GraphRetriever:
    await plant(driver, retriever.scope, [{"id": "planted", "text": "a zanzibar quokka"}])
    return retriever


@for_each("text", [text for text in NASTIES if len(text) < 100])
async def test_planted_memory_is_found_by_its_words_among_specials(
    planted: GraphRetriever, text: str
) -> None:
    for query in (f"quokka {text}", f"{text} quokka", f"{text} Zanzibar {text}"):
        assert ids(await planted.find_seeds(query)) == ["planted"], query


async def test_words_are_found_through_every_kind_of_syntax(
    driver: neo4j.AsyncDriver, retriever: GraphRetriever, scope: str
) -> None:
    await plant(driver, scope, [{"id": "planted", "text": "the zanzibar quokka of file_name.py"}])
    for text in (
        '(zanzibar~ AND && quokka* \\ "',
        "NOT quokka",
        "-quokka",
        '"quokka',
        "quokka~0.5^3",
        "[quokka TO *]",
        "{quokka}",
        "!quokka!",
        "file_name.py",
        "zanzibar/quokka",
        "quokka/zanzibar",
        "beach,quokka;lagoon",
        "QUOKKA?",
        "quokka" + " x" * 200,
        "quokka " * 300 + '"',
    ):
        assert ids(await retriever.find_seeds(text)) == ["planted"], text


async def test_scores_of_a_real_search_make_valid_seeds(
    retriever: GraphRetriever, web: tuple[Seed, ...], driver: neo4j.AsyncDriver
) -> None:
    assert web
    found = await GraphRetriever(driver, scope=WEB_SCOPE).find_seeds(
        "memory number 7", max_seeds=100
    )
    assert len(found.seeds) == 100
    assert found.seeds[0].id == "n7"
    assert found.seeds[0].score == 1.0
    assert all(0 < seed.score <= 1 for seed in found.seeds)
    assert retriever.scope != WEB_SCOPE
    assert load("seeds.text").mode == "read"


async def test_one_embedding_that_is_no_vector_leaves_the_hits_of_the_index(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    # A direction of its own: the procedure returns the nearest of all scopes.
    drawn = np.random.default_rng(int(scope[-8:], 16)).normal(size=(101, 384))
    vector = drawn[0].tolist()
    # None equals another: Neo4j 5 does not reach all vectors where many are equal.
    slanted = (drawn[0] + drawn[1] + drawn[2:] / 10).tolist()
    async with driver.session(database="neo4j") as session:
        # A list of 2 is wanted, so the index is asked for 80 at most: the 99 hide other events.
        result = await session.run(
            "CREATE (:Memory:Event {scope: $scope, id: 'good', embedding: $vector}), "
            "(:Memory:Event {scope: $scope, id: 'bad', embedding: 7}) WITH 1 AS one "
            "UNWIND range(0, 98) AS n "
            "CREATE (:Memory {scope: $scope, id: 'other' + n, embedding: $slanted[n]})",
            scope=scope,
            vector=vector,
            slanted=slanted,
        )
        await result.consume()
    for dialect in await dialects_of(store):
        request = SeedRequest(
            text="nothing",
            vector=vector,
            scope=scope,
            where=MemoryFilter(kinds=["Event"]),
            dialect=dialect,
            config=SeedConfig(max_seeds=1, candidates=2),
            until=None,
        )
        found = await search_seeds(store, request)
        assert [seed.id for seed in found.seeds] == ["good"]
        assert any("exact" in note for note in found.degraded)
