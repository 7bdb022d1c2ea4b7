"""Leaky integrate and fire on a real database: the source's walkthrough, the oracle's graphs."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any
from uuid import uuid4

import neo4j
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.graph.vocabulary import scope_key
from memoria.recall.config import RetrieverConfig
from memoria.recall.explore import NeuronField, propagate_from_seeds
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies import LeakyIntegrateAndFire
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.types import Activation, Exploration, Seed
from tests.cases.build import HERE, edge, graph
from tests.cases.lif import BEACH_YOGA, BELOW, CHARGES, FIRED, MEETING, SEEDS, TWO_SEEDS
from tests.effort import on_a_server
from tests.generated import NORMAL_WEIGHTS, SCOPE, WILD_WEIGHTS, calls, spans_of
from tests.oracle.agreement import remove, write
from tests.oracle.lif import charges, strongest_ways
from tests.oracle.transfer import Edge, Graph, Node

LIF = RetrieverConfig(strategy=LeakyIntegrateAndFire())
ALL = 1e-12  # a threshold that every charge passes
EACH_WAY = LeakyIntegrateAndFire(min_signal=1e-12)


@pytest.fixture
async def prefix(driver: neo4j.AsyncDriver, scope: str) -> AsyncIterator[str]:
    yield scope
    await remove(driver, scope)


async def charged(
    store: Store,
    scope: str,
    seeds: Sequence[str],
    constants: LeakyIntegrateAndFire | None = None,
) -> dict[str, float]:
    """Charge of every memory that has any."""
    field = NeuronField(store, scope=scope, settings=constants)
    await field.stimulate(seeds)
    return {each.id: each.energy for each in field.get_fired_nodes(ALL, exclude_seeds=False)}


async def explored(
    driver: neo4j.AsyncDriver, scope: str, seeds: Sequence[str], config: RetrieverConfig = LIF
) -> dict[str, Exploration]:
    retriever = GraphRetriever(driver, scope=scope)
    chosen = [Seed(id=seed, score=1 - place / 10) for place, seed in enumerate(seeds)]
    found = [each async for each in retriever.explore_seeds(chosen, config=config)]
    assert [each for each in found if each.error] == []
    return {each.seed.id: each for each in found}


def fired(found: dict[str, Exploration]) -> dict[str, Activation]:
    """What the explorations reached, but for their seeds."""
    every = [entry for each in found.values() for entry in each.activations]
    return {entry.id: entry for entry in every if entry.source == "synaptic"}


async def test_beach_yoga_charges_are_those_printed(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    await write(driver, {prefix: BEACH_YOGA})
    found = await charged(store, prefix + HERE, SEEDS)
    assert found.keys() == CHARGES.keys() | set(SEEDS)
    for memory, (printed, computed) in CHARGES.items():
        assert found[memory] == pytest.approx(printed, abs=0.005)
        assert found[memory] == pytest.approx(computed, rel=1e-12)
    assert all(found[seed] == 1.0 for seed in SEEDS)


async def test_beach_yoga_fires_what_the_source_says_and_nothing_else(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    await write(driver, {prefix: BEACH_YOGA})
    scope = prefix + HERE
    nodes = await propagate_from_seeds(store, SEEDS, scope=scope)
    assert [node.id for node in nodes] == FIRED
    assert {node.source for node in nodes} == {"synaptic"}
    assert not set(BELOW) & {node.id for node in nodes}
    assert not set(SEEDS) & {node.id for node in nodes}
    assert [node.id for node in await propagate_from_seeds(store, SEEDS, scope=scope, top_n=2)] == (
        FIRED[:2]
    )
    lower = await propagate_from_seeds(store, SEEDS, scope=scope, threshold=0.47)
    assert {node.id for node in lower} == {*FIRED, "aspirational_content"}


async def test_beach_yoga_through_the_retriever(driver: neo4j.AsyncDriver, prefix: str) -> None:
    await write(driver, {prefix: BEACH_YOGA})
    found = await explored(driver, prefix + HERE, SEEDS)
    assert set(fired(found)) == set(FIRED)
    ways = {path.ids: path for each in found.values() for path in each.paths}
    assert set(ways) == {
        ("beach_yoga", "fitness"),
        ("beach_yoga", "lifestyle"),
        ("outdoor_content", "golden_hour", "photography_tips"),
        ("saturday_scheduling", "weekend_content"),
    }
    way = ways["outdoor_content", "golden_hour", "photography_tips"]
    assert [hop.energy_in for hop in way.hops] == [1.0, pytest.approx(0.748)]
    assert way.energy == way.hops[-1].energy_out == pytest.approx(0.60401)
    assert [hop.weight for hop in way.hops] == [0.88, 0.95]
    assert way.end_reason == "below_threshold"  # no edge leads on
    assert [memory.id for memory in way.memories] == list(way.ids)
    assert ways["beach_yoga", "fitness"].end_reason == "dead_end"  # what it leads to does not fire
    assert all(each.status == "complete" and each.stats.levels == 3 for each in found.values())


async def test_ledger_names_every_edge_and_hop_of_a_charge(
    driver: neo4j.AsyncDriver, prefix: str
) -> None:
    await write(driver, {prefix: MEETING})
    found = await explored(driver, prefix + HERE, TWO_SEEDS)
    lifestyle = fired(found)["lifestyle"]
    assert lifestyle.energy == pytest.approx(0.595)
    facts: list[tuple[Any, ...]] = [
        (entry.step, entry.source, entry.weight, entry.energy_in, entry.energy_out)
        for entry in lifestyle.contributions
    ]
    assert facts == [
        (1, "beach_yoga", 0.4, 1.0, pytest.approx(0.34)),
        (1, "morning_routine", 0.3, 1.0, pytest.approx(0.255)),
    ]
    assert lifestyle.energy == sum(entry.energy_out for entry in lifestyle.contributions)
    assert lifestyle.shares == {"start": 0.0, "received": lifestyle.energy}
    assert lifestyle in found["beach_yoga"].activations, "the seed that brought most of it"
    assert [path.ids for path in found["morning_routine"].paths] == [("morning_routine",)]


async def test_charge_of_one_seed_alone_does_not_fire_where_two_do(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    await write(driver, {prefix: MEETING})
    for alone in TWO_SEEDS:
        assert await propagate_from_seeds(store, [alone], scope=prefix + HERE) == []
    assert len(await propagate_from_seeds(store, TWO_SEEDS, scope=prefix + HERE)) == 1


@pytest.mark.parametrize(
    ("weight", "arrives"),
    [(0.02 / 0.85, 0.02), (0.0235, 0.0), (0.5, 0.425)],
    ids=["at the least signal", "below it", "above it"],
)
async def test_signal_below_the_least_is_noise(
    driver: neo4j.AsyncDriver, store: Store, prefix: str, weight: float, arrives: float
) -> None:
    await write(driver, {prefix: graph(edge("s", "a", weight))})
    found = await charged(store, prefix + HERE, ["s"])
    assert found.get("a", 0.0) == pytest.approx(arrives)


async def test_potential_at_the_threshold_fires(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    await write(driver, {prefix: graph(edge("s", "a", 0.6))})  # 0.51
    at = 1.0 * 0.6 * 0.85
    for threshold, expected in ((at, ["a"]), (math.nextafter(at, 1.0), [])):
        found = await propagate_from_seeds(store, ["s"], scope=prefix + HERE, threshold=threshold)
        assert [node.id for node in found] == expected


async def test_propagation_stops_after_three_hops(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    chain = graph(*(edge(source, target, 1.0) for source, target in ("sa", "ab", "bc", "cd")))
    await write(driver, {prefix: chain})
    found = await charged(store, prefix + HERE, ["s"])
    assert found == {
        "s": 1.0,
        "a": pytest.approx(0.85),
        "b": pytest.approx(0.7225),
        "c": pytest.approx(0.614125),
    }
    ways = (await explored(driver, prefix + HERE, ["s"]))["s"].paths
    assert [(way.ids, way.end_reason) for way in ways] == [(("s", "a", "b", "c"), "max_depth")]


async def test_circle_is_left_after_three_hops(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    await write(driver, {prefix: graph(edge("s", "a"), edge("a", "s"))})
    found = await charged(store, prefix + HERE, ["s"])
    # s: 1 and 0.85^2 back; a: 0.85 and 0.85^3.
    assert found == {"s": pytest.approx(1.7225), "a": pytest.approx(0.85 + 0.85**3)}
    assert set(fired(await explored(driver, prefix + HERE, ["s"]))) == {"a"}


async def test_seeds_are_in_the_fired_set_only_when_asked_for(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    await write(driver, {prefix: BEACH_YOGA})
    field = NeuronField(store, scope=prefix + HERE)
    assert field.get_fired_nodes() == [], "nothing was stimulated"
    await field.stimulate(SEEDS)
    without = [node.id for node in field.get_fired_nodes()]
    every = field.get_fired_nodes(exclude_seeds=False)
    assert without == FIRED
    assert [node.id for node in every] == [*sorted(SEEDS), *FIRED]
    assert {node.id for node in every if node.source == "seed"} == set(SEEDS)
    await field.stimulate(["fitness"])
    assert [node.id for node in field.get_fired_nodes()] == ["engagement_patterns"], "0.595"


async def test_similar_counts_both_ways_and_other_relations_as_stored(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    both = graph(
        edge("a", "s", relation="similar"), edge("b", "s", relation="near"), edge("c", "s")
    )
    await write(driver, {prefix: both})
    assert await charged(store, prefix + HERE, ["s"], LeakyIntegrateAndFire(max_hops=1)) == {
        "s": 1.0,
        "a": pytest.approx(0.85),
    }
    (way,) = (await explored(driver, prefix + HERE, ["s"]))["s"].paths
    assert (way.ids, way.hops[0].direction) == (("s", "a"), "in")


@pytest.mark.parametrize(
    ("properties", "weight"),
    [
        ({"weight": 0.5, "lif_weight": 1.5}, 1.5),
        ({"weight": 1.0, "lif_weight": 2.0}, 2.0),
        ({"weight": 1.0, "lif_weight": 7.0}, 2.0),
        ({"weight": 1.0, "lif_weight": 0.2}, 0.2),
        ({"weight": 1.7}, 1.0),
        ({"weight": 0.9, "lif_weight": -1}, None),
        ({"weight": 0.9, "lif_weight": "1"}, None),
        ({"weight": 0.9, "lif_weight": math.nan}, None),
        ({"weight": None}, 0.01),
    ],
)
async def test_lif_weight_counts_up_to_two_in_place_of_the_weight(
    driver: neo4j.AsyncDriver,
    store: Store,
    prefix: str,
    properties: dict[str, Any],
    weight: float | None,
) -> None:
    await write(driver, {prefix: graph(edge("s", "a", **properties))})
    found = await charged(store, prefix + HERE, ["s"], EACH_WAY)
    assert found.get("a") == (None if weight is None else pytest.approx(0.85 * weight))


async def test_transfer_energy_does_not_look_at_lif_weight(
    driver: neo4j.AsyncDriver, prefix: str
) -> None:
    await write(driver, {prefix: graph(edge("s", "a", 0.5, lif_weight=2.0))})
    found = await explored(driver, prefix + HERE, ["s"], RetrieverConfig())
    assert found["s"].paths[0].energy == 0.5


async def test_strongest_edges_are_followed_where_there_are_too_many(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    edges = [edge("s", f"n{number:02}", number / 40) for number in range(10, 41)]
    await write(driver, {prefix: graph(*edges)})
    few = LeakyIntegrateAndFire(max_edges=3)
    found = await charged(store, prefix + HERE, ["s"], few)
    assert found.keys() == {"s", "n40", "n39", "n38"}


async def test_of_equally_strong_edges_the_first_ids_are_followed(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    ends = ["\U0001f600", "\uff5e", "b", "a", "c"]  # UTF-16 would put the first before the second
    await write(driver, {prefix: graph(*(edge("s", end, 0.9) for end in ends))})
    for most, expected in ((2, {"a", "b"}), (4, {"a", "b", "c", "\uff5e"})):
        few = LeakyIntegrateAndFire(max_edges=most)
        found = await charged(store, prefix + HERE, ["s"], few)
        assert found.keys() - {"s"} == expected


async def test_memories_of_other_scopes_and_loops_carry_nothing(
    driver: neo4j.AsyncDriver, store: Store, prefix: str
) -> None:
    web = graph(edge("s", "there/a"), edge("s", "s"), edge("there/a", "b"), edge("s", "c"))
    await write(driver, {prefix: web})
    assert (await charged(store, prefix + HERE, ["s"])).keys() == {"s", "c"}


async def test_unknown_seed_leaves_the_others_to_go_on(
    driver: neo4j.AsyncDriver, prefix: str
) -> None:
    await write(driver, {prefix: BEACH_YOGA})
    found = await explored(driver, prefix + HERE, ["nowhere", "beach_yoga"])
    assert found["nowhere"].status == "seed_not_found"
    assert found["nowhere"].paths == ()
    assert set(fired(found)) == {"fitness", "lifestyle"}
    alone = await explored(driver, prefix + HERE, ["nowhere"])
    assert alone["nowhere"].status == "seed_not_found"


async def test_isolated_seed_gives_a_path_without_hops(
    driver: neo4j.AsyncDriver, prefix: str
) -> None:
    await write(driver, {prefix: graph(alone=["s"])})
    (way,) = (await explored(driver, prefix + HERE, ["s"]))["s"].paths
    assert (way.ids, way.energy, way.end_reason) == (("s",), 1.0, "below_threshold")


async def test_fired_memories_of_a_recall_are_ranked_and_packed(
    driver: neo4j.AsyncDriver, prefix: str
) -> None:
    scope = prefix + HERE
    await write(driver, {prefix: BEACH_YOGA})
    await give_texts(driver, scope)
    retriever = GraphRetriever(driver, scope=scope, config=LIF)
    recall = await retriever.recall("beach yoga session this saturday scheduling, outdoor content")
    assert {seed.id for seed in recall.seeds.seeds} >= set(SEEDS)
    assert set(FIRED) <= {entry.memory.id for entry in recall.ranked}
    assert set(FIRED) <= {item.id for item in recall.context.items}
    by_energy = await retriever.recall(
        "beach yoga session",
        config=replace(LIF, relevance=None, seeds=SeedConfig(max_seeds=1)),
    )
    assert [entry.memory.id for entry in by_energy.ranked] == [
        *("beach_yoga", "fitness", "lifestyle"),
    ]
    async with retriever.recall_stream("beach yoga") as stream:
        streamed = [path.ids async for path in stream]
    assert ("beach_yoga", "fitness") in streamed


async def test_eight_best_hits_are_seeds_unless_the_settings_say_otherwise(
    driver: neo4j.AsyncDriver, prefix: str
) -> None:
    scope = prefix + HERE
    await write(driver, {prefix: graph(alone=[f"rain_{number}" for number in range(12)])})
    await give_texts(driver, scope)
    retriever = GraphRetriever(driver, scope=scope, config=LIF)
    assert len((await retriever.find_seeds("rain")).seeds) == 8
    assert len((await retriever.find_seeds("rain", max_seeds=5)).seeds) == 5
    assert len((await retriever.recall("rain")).explorations) == 8
    three = replace(LIF, seeds=SeedConfig(max_seeds=3))
    assert len((await retriever.recall("rain", config=three)).explorations) == 3
    five = replace(LIF, seeds=SeedConfig(max_seeds=5))  # as many as by default, but given
    assert len((await retriever.recall("rain", config=five)).explorations) == 5
    assert len((await retriever.find_seeds("rain", config=five)).seeds) == 5
    default = GraphRetriever(driver, scope=scope)
    assert len((await default.find_seeds("rain")).seeds) == 5


async def give_texts(driver: neo4j.AsyncDriver, scope: str) -> None:
    """Make each memory's id its text, and let the full-text index see it."""
    async with driver.session(database="neo4j") as session:
        result = await session.run(
            "MATCH (m:Memory) WHERE m.scope = $scope AND m.id IS NOT NULL "
            "SET m.text = replace(m.id, '_', ' '), m.scope_key = $key",
            scope=scope,
            key=scope_key(scope),
        )
        await result.consume()
        await (await session.run("CALL db.awaitIndexes(30)")).consume()
        # The full-text index follows its writers.
        await (
            await session.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
        ).consume()


IDS = ["s", "t", "a", "b", "c", "d", "é", "\U0001f600", "\uff5e"]
nodes = st.builds(Node, st.sampled_from([SCOPE, SCOPE, SCOPE, "b"]), st.sampled_from(IDS))
tame = st.sampled_from([*NORMAL_WEIGHTS, 0.05, 0.02])
wild = tame | st.sampled_from(WILD_WEIGHTS)


@st.composite
def graphs(draw: st.DrawFn, weights: st.SearchStrategy[Any], lif_weights: Any) -> Graph:
    chosen = draw(st.lists(nodes, min_size=1, max_size=8, unique=True))
    end = st.sampled_from(chosen)
    edges = st.builds(
        Edge,
        source=end,
        target=end,
        relation=st.sampled_from([None, "", "similar", "near"]),
        weight=weights,
        lif_weight=lif_weights,
    )
    connectors = draw(st.lists(st.sampled_from(chosen), max_size=2))
    drawn = draw(st.lists(edges, max_size=20))
    return Graph(chosen, drawn, draw(spans_of(chosen)), connectors)


constants = st.builds(
    LeakyIntegrateAndFire,
    fire_threshold=st.sampled_from([0.5, 0.3, 1.1]),
    leak_rate=st.sampled_from([0.85, 1.0, 0.5]),
    min_signal=st.sampled_from([0.02, 0.1, 1e-9]),
    max_hops=st.integers(1, 5),
)
seeds = st.lists(st.sampled_from([*IDS[:4], "missing"]), min_size=1, max_size=3, unique=True)
_example = count()


@pytest.fixture(scope="module")
async def many(driver: neo4j.AsyncDriver) -> AsyncIterator[str]:
    name = f"lif-{uuid4().hex}-"
    yield name
    await remove(driver, name)


def borderline(values: dict[str, float], limits: Sequence[float]) -> bool:
    return any(
        math.isclose(value, limit, rel_tol=1e-9) for value in values.values() for limit in limits
    )


@on_a_server()
@given(
    graph=graphs(wild, st.none() | wild | st.sampled_from([1.5, 2.0, 2.5])),
    seeds=seeds,
    constants=constants,
    call=calls,
)
async def test_charges_equal_the_oracle_on_any_graph(
    driver: neo4j.AsyncDriver,
    store: Store,
    many: str,
    graph: Graph,
    seeds: list[str],
    constants: LeakyIntegrateAndFire,
    call: dict[str, Any],
) -> None:
    name = f"{many}{next(_example)}-"
    await write(driver, {name: graph})
    config = RetrieverConfig(strategy=constants)
    expected = charges(graph, SCOPE, seeds, config)
    connectors = {node.id for node in graph.connectors if node.scope == SCOPE}
    memories = {node: charge for node, charge in expected.items() if node not in connectors}
    assert await charged(store, name + SCOPE, seeds, constants) == pytest.approx(
        memories, rel=1e-12
    )
    config = replace(config, **call)
    expected = charges(graph, SCOPE, seeds, config)
    if borderline(expected, [constants.fire_threshold]):
        return
    found = await explored(driver, name + SCOPE, seeds, config)
    reached = {
        node
        for node, charge in expected.items()
        if charge >= constants.fire_threshold and node not in {*seeds, *connectors}
    }
    assert set(fired(found)) == reached
    for each in found.values():
        exists = graph.has(Node(SCOPE, each.seed.id), config)
        assert each.status == ("complete" if exists else "seed_not_found")
    check_ways(found, reached)
    again = await explored(driver, name + SCOPE, seeds[::-1], config)
    assert {name: each.activations for name, each in again.items()} == {
        name: each.activations for name, each in found.items()
    }, "the order of the seeds makes no difference"


def check_ways(found: dict[str, Exploration], reached: set[str]) -> None:
    """Every activated memory has one way from a seed, without circles, with its energies."""
    energies = {entry.id: entry.energy for each in found.values() for entry in each.activations}
    on_ways: set[str] = set()
    for each in found.values():
        for path in each.paths:
            assert path.seed_id == each.seed.id
            assert len(set(path.ids)) == len(path.ids)
            on_ways |= set(path.ids)
            for hop in path.hops:
                assert hop.energy_out == energies.get(hop.target, hop.energy_out)
        ids = {node for path in each.paths for node in path.ids}
        assert {entry.id for entry in each.activations} <= ids
    assert reached <= on_ways


@on_a_server()
@given(graph=graphs(tame, st.none()), seeds=seeds, hops=st.integers(1, 4))
async def test_ways_are_the_strongest_there_are(
    driver: neo4j.AsyncDriver, many: str, graph: Graph, seeds: list[str], hops: int
) -> None:
    name = f"{many}w{next(_example)}-"
    await write(driver, {name: graph})
    constants = replace(EACH_WAY, max_hops=hops, fire_threshold=ALL)
    config = RetrieverConfig(strategy=constants)
    found = await explored(driver, name + SCOPE, seeds, config)
    best = strongest_ways(graph, SCOPE, seeds, config)
    shown: dict[str, float] = {}
    for each in found.values():
        for path in each.paths:
            for length in range(1, len(path.hops) + 1):
                way = math.prod(hop.weight * constants.leak_rate for hop in path.hops[:length])
                node = path.hops[length - 1].target
                shown[node] = max(shown.get(node, 0.0), way)
    connectors = {node.id for node in graph.connectors if node.scope == SCOPE}
    best = {node: best[node] for node in best.keys() - (connectors - shown.keys())}
    assert shown == pytest.approx(best, rel=1e-12)
