"""Anchor spreading on a real database: the source's tests by name, and the oracle's graphs."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import count
from typing import Any
from uuid import uuid4

import neo4j
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.embed import CallableEmbedder, OnnxEmbedder
from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import AnchorSpreading
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import Activation, Exploration, Memory, MemoryFilter, Relation, Seed
from memoria.types.validity import Validity
from memoria.writer import GraphWriter
from tests.cases.build import HERE, edge, graph
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.effort import on_a_server
from tests.generated import NORMAL_WEIGHTS, SCOPE, WILD_WEIGHTS, calls, spans_of
from tests.oracle.agreement import remove, write
from tests.oracle.anchor import scores
from tests.oracle.transfer import Edge, Graph, Node


@pytest.fixture
async def prefix(driver: neo4j.AsyncDriver, scope: str) -> AsyncIterator[str]:
    yield scope
    await remove(driver, scope)


async def spread(
    driver: neo4j.AsyncDriver,
    scope: str,
    anchors: Mapping[str, float],
    settings: AnchorSpreading | RetrieverConfig | None = None,
) -> dict[str, Exploration]:
    """Explore from anchors with these cosines."""
    retriever = GraphRetriever(driver, scope=scope)
    seeds = [
        Seed(id=node, score=max(cosine, 1e-9), vector_score=cosine)
        for node, cosine in anchors.items()
    ]
    config = settings
    if not isinstance(config, RetrieverConfig):
        config = RetrieverConfig(strategy=config or AnchorSpreading())
    found = [each async for each in retriever.explore_seeds(seeds, config=config)]
    assert [each for each in found if each.error] == []
    return {each.seed.id: each for each in found}


def entries(found: Mapping[str, Exploration]) -> dict[str, Activation]:
    """What was activated, best first."""
    every = [entry for each in found.values() for entry in each.activations]
    return {entry.id: entry for entry in sorted(every, key=lambda entry: (-entry.energy, entry.id))}


async def test_spread_single_anchor_no_edges(driver: neo4j.AsyncDriver, prefix: str) -> None:
    await write(driver, {prefix: graph(alone=["a"])})
    found = await spread(driver, prefix + HERE, {"a": 0.8})
    assert {node: entry.energy for node, entry in entries(found).items()} == {"a": 0.8}
    (way,) = found["a"].paths
    assert (way.ids, way.energy) == (("a",), 0.8)


async def test_spread_propagates_through_edges(driver: neo4j.AsyncDriver, prefix: str) -> None:
    # Round 1: b = 0.8 * 0.5 * 0.85 = 0.34. Each round adds as much: 1.02 after three.
    await write(driver, {prefix: graph(edge("a", "b", 0.5))})
    found = await spread(driver, prefix + HERE, {"a": 0.8})
    b = entries(found)["b"]
    assert [entry.energy_out for entry in b.contributions] == [pytest.approx(0.34)] * 3
    assert [entry.step for entry in b.contributions] == [1, 2, 3]
    assert b.shares == {
        "cosine": 0.0,
        "spread": pytest.approx(0.3 * 1.0),  # 1.02 is the most
        "structure": pytest.approx(0.2 * 1.0),
    }
    assert b.source == "spread"
    assert found["a"].stats.levels == 3
    (way,) = found["a"].paths
    assert (way.ids, way.energy) == (("a", "b"), b.energy)


async def test_spread_decays_with_strength(driver: neo4j.AsyncDriver, prefix: str) -> None:
    await write(driver, {prefix: graph(edge("a", "b"), edge("b", "c"), edge("a", "d"))})
    arrived = {}
    for strength in (0.85, 0.4):
        strategy = AnchorSpreading(spreading_strength=strength, iterations=1)
        found = entries(await spread(driver, prefix + HERE, {"a": 0.5, "b": 0.1}, strategy))
        arrived[strength] = {
            node: sum(entry.energy_out for entry in found[node].contributions) for node in "bcd"
        }
    assert arrived[0.85] == pytest.approx({"b": 0.425, "c": 0.085, "d": 0.425})
    assert arrived[0.4] == pytest.approx({"b": 0.2, "c": 0.04, "d": 0.2})


@pytest.mark.parametrize(
    "strategy",
    [AnchorSpreading(spreading_strength=0.0), AnchorSpreading(use_spreading=False)],
    ids=["strength 0", "no spreading"],
)
async def test_spread_zero_strength_returns_anchors_only(
    driver: neo4j.AsyncDriver, prefix: str, strategy: AnchorSpreading
) -> None:
    await write(driver, {prefix: graph(edge("a", "x"), edge("x", "b"), edge("y", "b"))})
    anchors = {"a": 0.6, "b": 0.7, "c": 0.5}  # c does not exist
    found = await spread(driver, prefix + HERE, anchors, strategy)
    assert [(node, entry.energy) for node, entry in entries(found).items()] == [
        ("b", 0.7),
        ("a", 0.6),
    ]
    assert found["c"].status == "seed_not_found"


async def test_spread_handles_cycles_safely(driver: neo4j.AsyncDriver, prefix: str) -> None:
    ring = graph(edge("a", "b"), edge("b", "a"), edge("b", "c", relation="similar"))
    await write(driver, {prefix: ring})
    for iterations in (1, 3, 20):
        strategy = AnchorSpreading(iterations=iterations)
        found = await spread(driver, prefix + HERE, {"a": 1.0, "b": 1.0}, strategy)
        assert max(each.stats.levels for each in found.values()) == iterations
        assert all(0 <= entry.energy <= 1 for entry in entries(found).values())
        for each in found.values():
            for path in each.paths:
                assert len(set(path.ids)) == len(path.ids) <= iterations + 1


async def test_final_score_weights_sum_correctly(driver: neo4j.AsyncDriver, prefix: str) -> None:
    """In-degrees: a 0, b 2 (the most), c 1. Spread after one round: b 0.9 * 0.85 + 0.6, c 0.3."""
    web = graph(edge("a", "b", 1.0), edge("c", "b", 0.5), edge("b", "c", 0.5))
    await write(driver, {prefix: web})
    strategy = AnchorSpreading(iterations=1)
    found = entries(await spread(driver, prefix + HERE, {"a": 0.9, "b": 0.6}, strategy))
    b = 0.9 * 0.85 + 0.6
    c = 0.6 * 0.5 * 0.85
    assert {node: dict(entry.shares) for node, entry in found.items()} == {
        "a": {"cosine": 0.45, "spread": pytest.approx(0.3 * 0.9 / b), "structure": 0.0},
        "b": {"cosine": 0.3, "spread": pytest.approx(0.3), "structure": pytest.approx(0.2)},
        "c": {"cosine": 0.0, "spread": pytest.approx(0.3 * c / b), "structure": pytest.approx(0.1)},
    }
    for entry in found.values():
        assert entry.energy == math.fsum(entry.shares.values())
    plain = AnchorSpreading()
    weights = (plain.weight_similarity, plain.weight_activation, plain.weight_structural)
    assert sum(weights) == pytest.approx(1.0)


async def test_500_strongest_edges_at_the_anchors_are_loaded(
    driver: neo4j.AsyncDriver, prefix: str
) -> None:
    edges = [edge("a", f"n{number:03}", 0.3 + number / 1000) for number in range(600)]
    far = [edge("n599", "far", 1.0)]  # not at an anchor
    await write(driver, {prefix: graph(*edges, *far)})
    found = entries(await spread(driver, prefix + HERE, {"a": 0.9}))
    assert set(found) == {"a", *(f"n{number:03}" for number in range(100, 600))}
    few = entries(await spread(driver, prefix + HERE, {"a": 0.9}, AnchorSpreading(max_edges=2)))
    assert set(few) == {"a", "n599", "n598"}


async def test_edge_between_two_anchors_is_loaded_once(
    driver: neo4j.AsyncDriver, prefix: str
) -> None:
    await write(driver, {prefix: graph(edge("a", "b"))})
    strategy = AnchorSpreading(iterations=1)
    found = entries(await spread(driver, prefix + HERE, {"a": 0.5, "b": 0.4}, strategy))
    assert len(found["b"].contributions) == 1


def leaning(cosine: float, axis: int = 1) -> list[float]:
    """A vector of this cosine with the first axis."""
    vector = [0.0] * DIMENSIONS
    vector[0], vector[axis] = cosine, math.sqrt(1 - cosine**2)
    return vector


AXIS = CallableEmbedder(
    lambda texts: [leaning(1.0) for _ in texts], dimensions=DIMENSIONS, name=EMBEDDER
)


def settled(**strategy: Any) -> RetrieverConfig:
    """Settings that rank by the strategy's own score."""
    return RetrieverConfig(strategy=AnchorSpreading(**strategy), relevance=None)


async def test_without_spreading_a_recall_is_plain_vector_search(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    memories = [
        Memory(id=f"m{number:02}", kind="Event", text=f"t {number}", embedding=leaning(number / 40))
        for number in range(1, 31)
    ]
    edges = [Relation(source="m30", target=f"m{number:02}") for number in range(1, 10)]
    await GraphWriter(store, scope=prefix).write(memories, edges)
    parameters = {
        **MemoryFilter().parameters,
        "held": Validity().held,
        "limit": 10,
        "scope": prefix,
        "vector": leaning(1.0),
    }
    plain = (await store.run(load("seeds.vector_exact"), parameters))[0]["hits"]
    for config in (settled(use_spreading=False), settled(spreading_strength=0.0)):
        retriever = GraphRetriever(driver, scope=prefix, embedder=AXIS, config=config)
        recall = await retriever.recall("t")
        assert [entry.memory.id for entry in recall.ranked] == [node for node, _ in plain]
        assert [entry.score for entry in recall.ranked] == pytest.approx(
            [cosine for _, cosine in plain], abs=1e-6
        )


async def test_ten_episodes_and_ten_facts_are_anchors(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    memories = [
        Memory(id=f"{kind}{number:02}", kind=kind, text="t", embedding=leaning(cosine))
        for kind, offset in (("Event", 0.5), ("DataSource", 0.1))
        for number in range(15)
        for cosine in (offset + number / 100,)
    ]
    await GraphWriter(store, scope=prefix).write(memories)
    retriever = GraphRetriever(driver, scope=prefix, embedder=AXIS, config=settled())
    seeds = await retriever.find_seeds("t")
    best = [f"Event{number:02}" for number in range(14, 4, -1)]
    facts = [f"DataSource{number:02}" for number in range(14, 4, -1)]
    assert [seed.id for seed in seeds.seeds] == best + facts
    assert [seed.vector_rank for seed in seeds.seeds] == list(range(1, 21))
    assert {seed.id for seed in seeds.runners_up}.isdisjoint(best + facts)
    recall = await retriever.recall("t", kinds=["Event"])
    assert [entry.memory.id for entry in recall.ranked] == best


async def test_cosine_of_a_memory_that_was_reached_counts(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    memories = [
        Memory(id=name, kind="Event", text=name, embedding=leaning(cosine))
        for name, cosine in (("anchor", 0.9), ("near", 0.8), ("far", 0.1))
    ]
    edges = [
        Relation(source="anchor", target="near", weight=0.5),
        Relation(source="anchor", target="far", weight=0.5),
    ]
    await GraphWriter(store, scope=prefix).write(memories, edges)
    retriever = GraphRetriever(
        driver, scope=prefix, embedder=AXIS, config=settled(anchor_top_k_episodes=1)
    )
    recall = await retriever.recall("t")
    assert [seed.id for seed in recall.seeds.seeds] == ["anchor"]
    shares = {entry.id: entry.shares for each in recall.explorations for entry in each.activations}
    assert shares["near"]["cosine"] == pytest.approx(0.4, abs=1e-6)
    assert shares["far"]["cosine"] == pytest.approx(0.05, abs=1e-6)
    assert [entry.memory.id for entry in recall.ranked] == ["near", "anchor", "far"]


async def test_without_an_embedder_words_find_the_anchors(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    memories = [Memory(id=name, kind="Event", text=f"about {name}") for name in ("rain", "sun")]
    await GraphWriter(store, scope=prefix).write(
        memories, [Relation(source="rain", target="sun", weight=0.5)]
    )
    recall = await GraphRetriever(driver, scope=prefix, config=settled()).recall("rain")
    assert recall.ranked[0].memory.id == "rain"
    assert {entry.memory.id for entry in recall.ranked} == {"rain", "sun"}
    assert any("words" in note for note in recall.trace.degraded)


# Ten memories of one system and two of something else, with the links that a linker would make.
TEXTS = {
    "ipc": "The Harbor IPC protocol lets clients talk to the Harbor server with framed messages.",
    "frames": "Each message of the protocol begins with a four byte length, then its body.",
    "msgpack": "Bodies are serialised with msgpack, which is smaller and faster than JSON.",
    "socket": "Processes on one machine connect through a Unix domain socket.",
    "rust": "The daemon is written in Rust, for memory safety without a garbage collector.",
    "tokio": "Requests are handled by asynchronous tasks on the Tokio runtime.",
    "postgres": "Memories are stored in PostgreSQL with the pgvector extension.",
    "embedding": "Every stored text gets an embedding from a hosted model.",
    "retrieval": "The retrieval subsystem of Harbor answers search requests from clients.",
    "context": "The context hook asks Harbor for memories before each reply of the agent.",
    "weather": "It will rain in the mountains on Sunday, with wind from the west.",
    "recipe": "Simmer the tomatoes with basil and garlic for twenty minutes.",
}
LINKS = [
    *(("ipc", "frames", 0.8), ("ipc", "msgpack", 0.75), ("ipc", "socket", 0.75)),
    *(("ipc", "rust", 0.65), ("frames", "msgpack", 0.7), ("rust", "tokio", 0.7)),
    *(("retrieval", "postgres", 0.65), ("postgres", "embedding", 0.7)),
    *(("retrieval", "ipc", 0.7), ("context", "retrieval", 0.7)),
]


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> CallableEmbedder:
    """The default model under the name that the test database's index records."""
    model = OnnxEmbedder(home=tmp_path_factory.mktemp("home"))

    async def documents(texts: Sequence[str]) -> list[list[float]]:
        return await model.embed_documents(texts)

    async def queries(texts: Sequence[str]) -> list[list[float]]:
        return [await model.embed_query(text) for text in texts]

    return CallableEmbedder(documents, dimensions=DIMENSIONS, name=EMBEDDER, query_function=queries)


@pytest.fixture
async def harbor(store: Store, prefix: str, embedder: CallableEmbedder) -> str:
    memories = [Memory(id=name, kind="Event", text=text) for name, text in TEXTS.items()]
    links = [
        Relation(source=source, target=target, relation="similar", weight=weight)
        for source, target, weight in LINKS
    ]
    await GraphWriter(store, scope=prefix, embedder=embedder).write(memories, links)
    return prefix


@pytest.mark.timeout(600)  # the model is downloaded the first time
async def test_related_memories_surface_and_the_two_unrelated_ones_do_not(
    driver: neo4j.AsyncDriver, harbor: str, embedder: CallableEmbedder
) -> None:
    query = "how does the Harbor IPC protocol work?"

    async def ranked(**strategy: Any) -> list[str]:
        config = settled(**strategy)
        retriever = GraphRetriever(driver, scope=harbor, embedder=embedder, config=config)
        return [entry.memory.id for entry in (await retriever.recall(query)).ranked]

    found = await ranked()
    assert set(found) == TEXTS.keys() - {"weather", "recipe"}
    # Two anchors: msgpack, socket and Rust are not near enough to the question themselves.
    plain = await ranked(anchor_top_k_episodes=2, use_spreading=False)
    wanted = {"msgpack", "socket", "rust"}
    assert len(plain) == 2
    assert not wanted & set(plain)
    richer = await ranked(anchor_top_k_episodes=2)
    assert wanted < set(richer)
    assert not {"weather", "recipe"} & set(richer)
    assert richer[0] == "ipc"
    wholly_plain = await ranked(use_spreading=False)
    places = [found.index(name) - wholly_plain.index(name) for name in sorted(wanted)]
    assert sum(places) < 0, "in all, links bring them up"


IDS = ["s", "t", "a", "b", "c", "d", "é", "\U0001f600", "\uff5e"]
nodes = st.builds(Node, st.sampled_from([SCOPE, SCOPE, SCOPE, "b"]), st.sampled_from(IDS))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    chosen = draw(st.lists(nodes, min_size=1, max_size=8, unique=True))
    end = st.sampled_from(chosen)
    edges = st.builds(
        Edge,
        source=end,
        target=end,
        relation=st.sampled_from([None, "", "similar", "near"]),
        weight=st.sampled_from(NORMAL_WEIGHTS) | st.sampled_from(WILD_WEIGHTS),
    )
    connectors = draw(st.lists(st.sampled_from(chosen), max_size=2))
    drawn = draw(st.lists(edges, max_size=20))
    return Graph(chosen, drawn, draw(spans_of(chosen)), connectors)


cosines = st.sampled_from([1.0, 0.9, 0.5, 0.25, 0.0, -0.2])
anchors = st.dictionaries(st.sampled_from([*IDS[:5], "missing"]), cosines, min_size=1, max_size=4)
strategies = st.builds(
    AnchorSpreading,
    use_spreading=st.sampled_from([True, True, True, False]),
    spreading_strength=st.sampled_from([0.85, 0.85, 0.5, 1.0, 0.0]),
    iterations=st.integers(1, 4),
    weight_structural=st.sampled_from([0.2, 0.0]),
    max_edges=st.sampled_from([500, 3, 1]),
)
_example = count()


@pytest.fixture(scope="module")
async def many(driver: neo4j.AsyncDriver) -> AsyncIterator[str]:
    name = f"anchor-{uuid4().hex}-"
    yield name
    await remove(driver, name)


@on_a_server()
@given(graph=graphs(), anchors=anchors, strategy=strategies, call=calls)
async def test_scores_equal_the_oracle_on_any_graph(
    driver: neo4j.AsyncDriver,
    many: str,
    graph: Graph,
    anchors: dict[str, float],
    strategy: AnchorSpreading,
    call: dict[str, Any],
) -> None:
    name = f"{many}{next(_example)}-"
    await write(driver, {name: graph})
    config = RetrieverConfig(strategy=strategy, **call)
    found = await spread(driver, name + SCOPE, anchors, config)
    expected = scores(graph, SCOPE, anchors, config)
    shares = {node: dict(entry.shares) for node, entry in entries(found).items()}
    assert shares.keys() == expected.keys()
    for node, parts in expected.items():
        assert shares[node] == pytest.approx(parts, rel=1e-9, abs=1e-12)
    on_ways = {node for each in found.values() for path in each.paths for node in path.ids}
    connectors = {node.id for node in graph.connectors if node.scope == SCOPE}
    assert on_ways - connectors == expected.keys()
    for each in found.values():
        exists = graph.has(Node(SCOPE, each.seed.id), config)
        assert each.status == ("complete" if exists else "seed_not_found")


async def test_the_context_follows_the_score_and_ends_with_hits_that_were_not_explored(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    cosines = {"a": 0.9, "b": 0.8, "far": 0.1, "rest0": 0.75, "rest1": 0.7}
    memories = [
        Memory(id=name, kind="Event", text=f"text of {name}", embedding=leaning(cosine, axis))
        for axis, (name, cosine) in enumerate(cosines.items(), start=1)
    ]
    await GraphWriter(store, scope=prefix).write(
        memories, [Relation(source="b", target="far", weight=1.0)]
    )
    retriever = GraphRetriever(
        driver,
        scope=prefix,
        embedder=AXIS,
        config=settled(anchor_top_k_episodes=2, anchor_top_k_facts=0),
    )
    recall = await retriever.recall("t")
    assert [hit.id for hit in recall.seeds.runners_up][:2] == ["rest0", "rest1"]
    # Each of three rounds brings far 0.8 * 0.85, in all 2.04: the most. Its score is 0.5 * 0.1 +
    # 0.3 * 1 + 0.2 * 1; that of a 0.5 * 0.9 + 0.3 * 0.9 / 2.04, of b 0.5 * 0.8 + 0.3 * 0.8 / 2.04.
    scores = {entry.memory.id: entry.score for entry in recall.ranked}
    expected = {"a": 0.582, "far": 0.55, "b": 0.518}
    assert list(scores) == list(expected)
    assert scores == pytest.approx(expected, abs=1e-3)
    packed = [item.id for item in recall.context.items]
    assert packed == ["a", "far", "b", "rest0", "rest1"], "the best one first"
