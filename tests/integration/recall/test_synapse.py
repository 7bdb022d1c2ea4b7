"""Spreading activation with suppression on a real database: source 003, by hand and by oracle."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import neo4j
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria._support.foreign import json_map
from memoria.embed import CallableEmbedder
from memoria.formulas import situation
from memoria.formulas.synapse import squashed
from memoria.learn import Learner
from memoria.recall import asides
from memoria.recall.config import RetrieverConfig
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies import Synapse
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.types import Activation, Exploration, Memory, Relation, Seed
from memoria.writer import GraphWriter
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.effort import on_a_server
from tests.generated import calls, spans
from tests.oracle.agreement import remove
from tests.oracle.synapse import Relates, Signal, Suppresses, World, activations, signals

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DATABASE = "neo4j"
WRITE = """
UNWIND $nodes AS node
CREATE (m:Memory {scope: $scope, id: node.id})
SET m += node.properties, m:$(node.kind)
"""
RELATE = """
UNWIND $edges AS edge
MATCH (source:Memory {scope: $scope, id: edge.source})
MATCH (target:Memory {scope: $scope, id: edge.target})
CREATE (source)-[r:RELATES]->(target)
SET r = edge.properties
"""
SUPPRESS = """
UNWIND $edges AS edge
MATCH (source:Memory {scope: $scope, id: edge.source})
MATCH (target:Memory {scope: $scope, id: edge.target})
CREATE (source)-[r:SUPPRESSES]->(target)
SET r = edge.properties
"""


async def write(driver: neo4j.AsyncDriver, scope: str, world: World) -> None:
    """Write a world as its own scope."""
    nodes = [
        {
            "id": node,
            "kind": "Topic" if node in world.connectors else "Event",
            "properties": {
                "text": node,
                **world.memories.get(node, {}),
                **(world.spans[node].properties() if node in world.spans else {}),
            },
        }
        for node in sorted(world.ids)
    ]
    relates = [
        {
            "source": edge.source,
            "target": edge.target,
            "properties": {
                "weight": edge.weight,
                "relation": edge.relation,
                "last_used_at": NOW - timedelta(hours=edge.hours),
            },
        }
        for edge in world.relates
    ]
    suppresses = [
        {
            "source": edge.source,
            "target": edge.target,
            "properties": {"kind": edge.kind, "weight": edge.weight},
        }
        for edge in world.suppresses
    ]
    async with driver.session(database=DATABASE) as session:
        await (await session.run(WRITE, scope=scope, nodes=nodes)).consume()
        await (await session.run(RELATE, scope=scope, edges=relates)).consume()
        await (await session.run(SUPPRESS, scope=scope, edges=suppresses)).consume()


def related(*pairs: str, **properties: Any) -> list[Relates]:
    """Edges written as ``a>b``."""
    ends = (pair.split(">") for pair in pairs)
    return [Relates(source, target, **properties) for source, target in ends]


def suppressing(*pairs: str, **properties: Any) -> list[Suppresses]:
    """Suppressive edges written as ``a>b``."""
    ends = (pair.split(">") for pair in pairs)
    return [Suppresses(source, target, **properties) for source, target in ends]


async def spread(
    driver: neo4j.AsyncDriver,
    scope: str,
    seeds: Mapping[str, float] | str,
    settings: Synapse | RetrieverConfig | None = None,
) -> dict[str, Exploration]:
    """Explore from seeds: id -> score, or ids that all start with 1."""
    scores = dict.fromkeys(seeds.split(), 1.0) if isinstance(seeds, str) else seeds
    config = settings
    if not isinstance(config, RetrieverConfig):
        config = RetrieverConfig(strategy=config or Synapse(now=NOW))
    retriever = GraphRetriever(driver, scope=scope)
    stream = retriever.explore_seeds(
        [Seed(id=node, score=score) for node, score in scores.items()],
        config=config,
    )
    found = [each async for each in stream]
    assert [each.error for each in found if each.error] == []
    return {each.seed.id: each for each in found}


def entries(found: Mapping[str, Exploration]) -> dict[str, Activation]:
    """What was activated."""
    return {entry.id: entry for each in found.values() for entry in each.activations}


def brought(entry: Activation) -> list[tuple[int, str, str, Any]]:
    """(step, source, relation, energy) of what a memory received."""
    return [
        (each.step, each.source, each.relation, pytest.approx(each.energy_out))
        for each in entry.contributions
    ]


async def test_energy_of_one_hop_is_decay_times_spread_times_weight(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    # s>a: 1 * 0.8 * 0.5 * 0.5 = 0.2. a has two edges, b gets 0.2 * 0.4 / 2 = 0.04; s half of that.
    world = World(relates=[Relates("s", "a", 0.5), Relates("a", "b")])
    await write(driver, scope, world)
    found = await spread(driver, scope, "s")
    every = entries(found)
    assert every["a"].contributions[0].energy_out == pytest.approx(0.2)
    assert every["b"].contributions[0].energy_out == pytest.approx(0.04)
    assert every["s"].contributions[0].energy_out == pytest.approx(0.02)
    assert [each.step for each in every["a"].contributions] == [1, 3, 3]
    assert every["a"].source == "synapse"
    assert every["s"].source == "seed"
    (path,) = found["s"].paths
    assert (path.ids, path.energy) == (("s", "a", "b"), every["b"].energy)
    assert [hop.degree for hop in path.hops] == [1, 2]


async def test_energy_flows_both_ways_over_edges(driver: neo4j.AsyncDriver, scope: str) -> None:
    await write(driver, scope, World(relates=related("a>s", "s>b")))
    every = entries(await spread(driver, scope, "s", Synapse(now=NOW, max_steps=1)))
    assert {node: brought(every[node]) for node in "ab"} == {
        "a": [(1, "s", "related", 0.2)],
        "b": [(1, "s", "related", 0.2)],
    }
    assert every["a"].contributions[0].direction == "in"


async def test_corrections_activate_what_was_learned_from_them(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    edges = related("correction>behaviour", relation="learned-from")
    edges += related("behaviour>other", relation="co-activated")
    edges += related("behaviour>alike", relation="similar")
    await write(driver, scope, World(relates=edges))
    every = entries(await spread(driver, scope, "correction"))
    assert brought(every["behaviour"])[0] == (1, "correction", "learned-from", 0.4)
    assert every.keys() == {"correction", "behaviour", "other", "alike"}


FOUR = World(
    memories={"s": {"tags": ["x"]}, "t": {"tags": ["x"]}, "u": {"tags": ["x"]}},
    relates=related("s>a", "s>b", "c>s"),
    suppresses=[
        *suppressing("s>d", "e>s", kind="conflicts"),
        *suppressing("s>f", kind="overrides"),
        *suppressing("s>g", kind="deprecated-to"),
        *suppressing("s>h", kind="merged-into"),
        *suppressing("i>s", kind="overrides"),
    ],
)


async def test_four_categories_have_denominators_of_their_own(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    """Three edges, two conflicts, three that supersede, two that share all tags: 0.4 over each."""
    await write(driver, scope, FOUR)
    # All others are seeds too, so that what is suppressed stays to be seen.
    seeds = dict.fromkeys("abcdefghitu", 0.001) | {"s": 1.0}
    every = entries(await spread(driver, scope, seeds, Synapse(now=NOW, max_steps=1)))
    received = {node: brought(entry) for node, entry in every.items() if entry.contributions}
    assert received == {
        **{node: [(1, "s", "related", 0.4 / 3)] for node in "abc"},
        **{node: [(1, "s", "conflicts", -0.4 / 2)] for node in "de"},
        "f": [(1, "s", "overrides", -0.4 / 3)],
        "g": [(1, "s", "deprecated-to", -0.4 / 3)],
        "h": [(1, "s", "merged-into", -0.4 / 3)],
        **{node: [(1, "s", "shared-tags", 0.4 / 2)] for node in "tu"},
    }


async def test_suppressive_edge_of_one_kind_does_not_dilute_the_other(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    seeds = {"s": 1.0, "a": 0.9, "b": 0.9}
    strategy = Synapse(now=NOW, max_steps=1)
    conflict = suppressing("s>a")
    await write(driver, scope + "1", World(suppresses=conflict))
    await write(driver, scope + "2", World(suppresses=conflict + suppressing("s>b", kind=KINDS[0])))
    alone = entries(await spread(driver, scope + "1", seeds, strategy))["a"]
    beside = entries(await spread(driver, scope + "2", seeds, strategy))
    assert brought(alone) == brought(beside["a"]) == [(1, "s", "conflicts", -0.4)]
    assert brought(beside["b"]) == [(1, "s", "overrides", -0.4)]


async def test_conflict_suppresses_whichever_side_is_the_seed(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    world = World(relates=related("s>a", "t>b"), suppresses=suppressing("s>t"))
    await write(driver, scope, world)
    for seed, other in (("s", "t"), ("t", "s")):
        seeds = {seed: 1.0, other: 0.3}
        every = entries(await spread(driver, scope, seeds, Synapse(now=NOW, max_steps=1)))
        assert (1, seed, "conflicts", -0.4) in brought(every[other])
        # 0.3 - 0.4: nothing is left of it, and as a seed it is still there to be seen.
        assert every[other].shares["context"] == pytest.approx(0.35 * squashed(0.0))


KINDS = ("overrides", "deprecated-to", "merged-into")


@pytest.mark.parametrize("kind", KINDS)
async def test_what_supersedes_suppresses_and_is_not_suppressed(
    driver: neo4j.AsyncDriver, scope: str, kind: str
) -> None:
    await write(driver, scope, World(suppresses=suppressing("new>old", kind=kind)))
    strategy = Synapse(now=NOW, max_steps=1)
    new_first = entries(await spread(driver, scope, {"new": 1.0, "old": 0.009}, strategy))
    assert brought(new_first["old"]) == [(1, "new", kind, -0.4)]
    old_first = entries(await spread(driver, scope, {"old": 1.0, "new": 0.009}, strategy))
    assert brought(old_first["new"]) == []
    assert old_first["old"].shares["context"] == pytest.approx(0.35 * squashed(1.0))


async def test_suppressed_memory_is_no_result_and_passes_nothing_on(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    edges = related("s>old", "old>beyond")
    world = World(relates=edges, suppresses=suppressing("s>old", kind="overrides"))
    await write(driver, scope, world)
    assert entries(await spread(driver, scope, "s")).keys() == {"s"}


async def test_suppressions_of_other_kinds_scopes_and_weights(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    world = World(
        suppresses=[
            *suppressing("s>a", weight=0.5),
            *suppressing("s>b", weight=7.0),
            *suppressing("s>c", weight=-1.0),
            *suppressing("s>d", kind="dislikes"),
            *suppressing("s>s"),
        ]
    )
    await write(driver, scope, world)
    await driver.execute_query(
        "MATCH (s:Memory {scope: $scope, id: 's'}) "
        "CREATE (s)-[:SUPPRESSES {kind: 'conflicts'}]->(:Memory {scope: $other, id: 'a'}), "
        "(s)-[:SUPPRESSES {kind: 7}]->(:Memory {scope: $scope, id: 'e'}), "
        "(s)-[:SUPPRESSES {kind: 'conflicts', weight: 'x'}]->(:Memory {scope: $scope, id: 'f'})",
        scope=scope,
        other=scope + "x",
    )
    seeds = {"s": 1.0} | dict.fromkeys("abcdef", 0.001)
    every = entries(await spread(driver, scope, seeds, Synapse(now=NOW, max_steps=1)))
    # Six conflicts at s, the loop and the one into another scope counted.
    assert {node: brought(every[node]) for node in "abcdef"} == {
        "a": [(1, "s", "conflicts", -0.4 * 0.5 / 6)],
        "b": [(1, "s", "conflicts", -0.4 / 6)],
        **{node: [] for node in "cdef"},
    }


async def test_memories_that_share_tags_with_a_seed_are_activated_without_an_edge(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    """Jaccard 1, 1/2 and 1/3: the last is too little. Two affinities: 0.4 * J / 2."""
    tags = {"s": ["go", "test"], "same": ["go", "test"], "half": ["go"], "third": ["go", "c"]}
    memories = {node: {"tags": each} for node, each in tags.items()} | {"none": {}, "other": {}}
    await write(driver, scope, World(memories=memories))
    await write(driver, scope + "x", World(memories={"foreign": {"tags": ["go", "test"]}}))
    found = await spread(driver, scope, "s")
    every = entries(found)
    assert every.keys() == {"s", "same", "half"}
    assert brought(every["same"]) == [(1, "s", "shared-tags", 0.2)]
    assert brought(every["half"]) == [(1, "s", "shared-tags", 0.1)]
    hops = {path.ids: path.hops[0] for path in found["s"].paths}
    assert hops["s", "half"].tags == ("go",)
    assert hops["s", "half"].degree == 2
    wider = entries(await spread(driver, scope, "s", Synapse(now=NOW, min_overlap=0.3)))
    assert brought(wider["same"]) == [(1, "s", "shared-tags", 0.4 / 3)]
    none = entries(await spread(driver, scope, "s", Synapse(now=NOW, min_overlap=None)))
    assert none.keys() == {"s"}


async def test_affinity_of_foreign_tags_is_passed_over(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    memories: dict[str, dict[str, Any]] = {
        "s": {"tags": ["x"]},
        "a": {"tags": "x"},
        "b": {"tags": [1]},
        "c": {"tags": []},
    }
    await write(driver, scope, World(memories=memories))
    assert entries(await spread(driver, scope, "s a b c")).keys() == set("sabc")
    every = entries(await spread(driver, scope, "s a b c"))
    assert not any(entry.contributions for entry in every.values())


async def test_strong_memory_damps_its_weaker_neighbours(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    """From 1: 0.4 each to a and b; damped by 0.15 * 0.6, which leaves 0.364, and c alone is not."""
    await write(driver, scope, World(relates=related("s>a", "c>d")))
    seeds = {"s": 1.0, "c": 0.5}
    damped = entries(await spread(driver, scope, seeds, Synapse(now=NOW, max_steps=1)))
    assert damped["a"].shares["context"] == pytest.approx(0.35 * squashed(0.4 * (1 - 0.15 * 0.6)))
    assert damped["d"].shares["context"] == pytest.approx(0.35 * squashed(0.2))
    free = Synapse(now=NOW, max_steps=1, inhibition_strength=0.0)
    plain = entries(await spread(driver, scope, seeds, free))
    assert plain["a"].shares["context"] == pytest.approx(0.35 * squashed(0.4))
    assert plain["d"].shares == damped["d"].shares


async def test_edges_fade_with_the_hours_since_their_last_use(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    world = World(relates=[*related("s>a", hours=0.0), *related("s>b", hours=100.0)])
    await write(driver, scope, world)
    await driver.execute_query(
        "MATCH (s:Memory {scope: $scope, id: 's'}) "
        "CREATE (s)-[:RELATES {weight: 1.0, created_at: $before}]->"
        "(:Memory {scope: $scope, id: 'made'}), "
        "(s)-[:RELATES {weight: 1.0}]->(:Memory {scope: $scope, id: 'dateless'}), "
        "(s)-[:RELATES {weight: 1.0, last_used_at: 'x', created_at: $before}]->"
        "(:Memory {scope: $scope, id: 'foreign'}), "
        "(s)-[:RELATES {weight: 1.0, last_used_at: $after}]->"
        "(:Memory {scope: $scope, id: 'ahead'}), "
        "(s)-[:RELATES {weight: 1.0, last_used_at: $now, created_at: $before}]->"
        "(:Memory {scope: $scope, id: 'used'})",
        scope=scope,
        before=NOW - timedelta(hours=100),
        after=NOW + timedelta(hours=5),
        now=NOW,
    )
    every = entries(await spread(driver, scope, "s"))
    old, fresh = 0.4 * math.exp(-1) / 7, 0.4 / 7
    assert {node: entry.contributions[0].energy_out for node, entry in every.items()} == {
        **{node: pytest.approx(old) for node in ("b", "made", "foreign")},
        **{node: pytest.approx(fresh) for node in ("a", "dateless", "ahead", "used")},
        "s": every["s"].contributions[0].energy_out,
    }
    assert every["b"].contributions[0].weight == pytest.approx(math.exp(-1))


async def test_spread_ends_after_three_steps_and_below_the_least_activation(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    # Chain: 0.4, then halves of 0.4 of it: 0.08, 0.016, 0.0032.
    await write(driver, scope, World(relates=related("s>a", "a>b", "b>c", "c>d")))
    found = await spread(driver, scope, "s")
    assert entries(found).keys() == {"s", "a", "b", "c"}
    assert found["s"].stats.levels == 3
    assert [path.end_reason for path in found["s"].paths] == ["max_depth"]
    longer = entries(await spread(driver, scope, "s", Synapse(now=NOW, max_steps=6)))
    assert longer.keys() == {"s", "a", "b", "c"}, "0.0032 is less than 0.01"
    finer = Synapse(now=NOW, max_steps=6, min_activation=0.001)
    assert entries(await spread(driver, scope, "s", finer)).keys() == {"s", "a", "b", "c", "d"}


async def test_energies_of_several_edges_and_seeds_add_up(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    await write(driver, scope, World(relates=related("s>m", "t>m", "t>m")))
    every = entries(await spread(driver, scope, "s t", Synapse(now=NOW, max_steps=1)))
    assert brought(every["m"]) == [
        (1, "s", "related", 0.4),
        (1, "t", "related", 0.2),
        (1, "t", "related", 0.2),
    ]
    damped = 0.8 * (1 - 0.15 * 0.2)
    assert every["m"].shares["context"] == pytest.approx(0.35 * squashed(damped))


async def test_at_most_500_edges_are_followed_per_step_the_strongest(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    edges = [Relates("s", f"n{number:03}", 0.3 + number / 1000) for number in range(600)]
    await write(driver, scope, World(relates=edges))
    fine = Synapse(now=NOW, max_steps=1, min_activation=1e-6)
    every = entries(await spread(driver, scope, "s", fine))
    assert every.keys() == {"s", *(f"n{number:03}" for number in range(100, 600))}
    few = Synapse(now=NOW, max_steps=1, min_activation=1e-6, max_edges=2)
    assert entries(await spread(driver, scope, "s", few)).keys() == {"s", "n599", "n598"}


async def test_edge_that_carries_too_little_for_any_number_of_them_is_not_followed(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    """Two edges: 0.2 over each, and at most four are followed: together they could make 0.8."""
    await write(driver, scope, World(relates=related("s>t", "s>a")))
    for least, expected in ((0.8, [(1, "s", "related", 0.2)]), (0.81, [])):
        strategy = Synapse(now=NOW, max_steps=1, min_activation=least, max_edges=4)
        every = entries(await spread(driver, scope, {"s": 1.0, "t": 0.5}, strategy))
        assert brought(every["t"]) == expected


async def test_score_is_the_sum_of_four_weighted_parts(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    """Context fits by half, 9 uses in 4 hours, 3 of 4 confirmed, a constraint of priority 0.4."""
    known = {
        "when": '{"language": "go", "task": "docs"}',
        "created_at": NOW - timedelta(hours=4),
        "use_count": 9,
        "use_times": [NOW.timestamp() - 60],
        "confirmed": 3,
        "overridden": 1,
        "priority": 0.4,
        "category": "constraint",
    }
    await write(driver, scope, World(memories={"s": known, "plain": {}}))
    context = {"language": "go", "task": "testing"}
    every = entries(await spread(driver, scope, "s plain", Synapse(now=NOW, context=context)))
    parts = {
        "context": 0.35 * squashed(1.0) * 0.5,
        "base_level": 0.30 / (1 + math.exp(-(math.log(9 * 4**-0.5 / 0.5) + 1))),
        "feedback": 0.15 * 0.75,
        "priority": 0.20 * 0.8,
    }
    assert every["s"].shares == pytest.approx(parts)
    assert every["s"].energy == math.fsum(every["s"].shares.values())
    neutral = 0.35 * squashed(1.0) + (0.30 + 0.15 + 0.20) * 0.5
    assert every["plain"].energy == pytest.approx(neutral)


async def test_kind_label_boosts_the_priority(driver: neo4j.AsyncDriver, scope: str) -> None:
    await write(driver, scope, World(memories={node: {"priority": 0.4} for node in "sab"}))
    await driver.execute_query(
        "MATCH (s:Memory {scope: $scope, id: 's'}), (a:Memory {scope: $scope, id: 'a'}) "
        "SET s:Directive, a:Procedure",
        scope=scope,
    )
    every = entries(await spread(driver, scope, "s a b"))
    assert {node: entry.shares["priority"] for node, entry in every.items()} == {
        "s": pytest.approx(0.2 * 0.6),
        "a": pytest.approx(0.2 * 0.48),
        "b": pytest.approx(0.2 * 0.4),
    }


async def test_go_tests_wake_what_is_about_them_and_leave_the_rest_dormant(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    texts = {
        "table": "Write table driven tests with one case a line.",
        "errors": "Wrap errors with context before returning them.",
        "coverage": "Look at test coverage before a change is merged.",
        "indent": "Indent Python with four spaces.",
        "docs": "Documentation is written in the present tense.",
    }
    memories = [
        Memory(id="go", kind="Event", text="Go", when={"language": "go"}),
        Memory(id="testing", kind="Event", text="testing", when={"task": "testing"}),
        *(Memory(id=node, kind="Event", text=text) for node, text in texts.items()),
        Memory(id="python", kind="Event", text="Python", when={"language": "python"}),
    ]
    edges = [
        *(Relation(source="go", target=node, weight=1.0) for node in ("table", "errors")),
        *(Relation(source="testing", target=node, weight=1.0) for node in ("table", "coverage")),
        Relation(source="python", target="indent", weight=1.0),
        Relation(source="python", target="docs", weight=1.0),
    ]
    await GraphWriter(store, scope=scope).write(memories, edges)
    strategy = Synapse(context={"language": "go", "task": "testing", "file": "cache_test.go"})
    config = RetrieverConfig(strategy=strategy, relevance=None, seeds=SeedConfig(max_seeds=2))
    recall = await GraphRetriever(driver, scope=scope, config=config).recall("go testing")
    ids = [entry.memory.id for entry in recall.ranked]
    assert set(ids) == {"go", "testing", "table", "errors", "coverage"}
    assert ids.index("table") < min(ids.index("errors"), ids.index("coverage")), "both lead to it"


async def test_unknown_seed_and_only_unknown_seeds(driver: neo4j.AsyncDriver, scope: str) -> None:
    await write(driver, scope, World(relates=related("s>a")))
    found = await spread(driver, scope, "s missing")
    assert {node: each.status for node, each in found.items()} == {
        "s": "complete",
        "missing": "seed_not_found",
    }
    none = await spread(driver, scope, "missing")
    assert (none["missing"].status, none["missing"].paths) == ("seed_not_found", ())


def leaning(cosine: float) -> list[float]:
    """A vector of this cosine with the first axis."""
    return [cosine, math.sqrt(1 - cosine**2), *[0.0] * (DIMENSIONS - 2)]


AXIS = CallableEmbedder(
    lambda texts: [leaning(1.0) for _ in texts], dimensions=DIMENSIONS, name=EMBEDDER
)
EARLY = datetime(2025, 1, 1, tzinfo=UTC)


def settled(**strategy: Any) -> RetrieverConfig:
    """Settings that rank by the strategy's own score."""
    return RetrieverConfig(strategy=Synapse(**strategy), relevance=None)


async def shelf(store: Store, scope: str) -> None:
    """Six memories with vectors, and four without: two of them hold a word of the query."""
    memories = [
        Memory(id=f"v{number}", kind="Event", text="seen", embedding=leaning(0.9 - number / 20))
        for number in range(6)
    ]
    memories += [
        Memory(id="word", kind="Event", text="rain and rain", created_at=EARLY),
        Memory(id="new", kind="Event", text="nothing", created_at=EARLY + timedelta(days=9)),
        Memory(id="old", kind="Event", text="nothing", created_at=EARLY + timedelta(days=3)),
        Memory(id="source", kind="DataSource", text="nothing", created_at=EARLY),
    ]
    await GraphWriter(store, scope=scope).write(memories)


async def test_memories_without_an_embedding_are_candidates(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await shelf(store, scope)
    retriever = GraphRetriever(driver, scope=scope, embedder=AXIS, config=settled())
    recall = await retriever.recall("rain")
    ids = [entry.memory.id for entry in recall.ranked]
    assert {"word", "new", "old", "source"} < set(ids)
    assert recall.trace.degraded == ()
    scores = {seed.id: seed.score for seed in recall.seeds.seeds}
    assert scores["new"] == scores["old"] == scores["source"] == 0.01
    assert scores["word"] > 0.1
    assert not {"word", "new", "old", "source"} & {hit.id for hit in recall.seeds.runners_up}
    assert len(ids) == len(set(ids))
    kinds = await retriever.find_seeds("rain", kinds=["DataSource"])
    assert [seed.id for seed in kinds.seeds] == ["source"]


async def test_the_query_is_embedded_and_the_context_is_not(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        asked.extend(texts)
        return [leaning(1.0) for _ in texts]

    await shelf(store, scope)
    embedder = CallableEmbedder(embed, dimensions=DIMENSIONS, name=EMBEDDER)
    config = settled(context={"file": "cache_test.go", "task": "testing", "language": "go"})
    await GraphRetriever(driver, scope=scope, embedder=embedder, config=config).recall("rain")
    assert asked[0] == "rain"
    assert {*asked[1:]} <= {*asides.examples(), *asides.leaning()}


async def test_candidates_without_an_embedding_are_few_and_the_newest(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await shelf(store, scope)
    config = settled(unembedded=1)
    seeds = await GraphRetriever(driver, scope=scope, embedder=AXIS, config=config).find_seeds("x")
    assert [seed.id for seed in seeds.seeds if seed.score == 0.01] == ["new"]
    assert [note for note in seeds.degraded if "more than 1 memory has no embedding" in note]
    none = GraphRetriever(driver, scope=scope, embedder=AXIS, config=settled(unembedded=0))
    assert {seed.id for seed in (await none.find_seeds("x")).seeds} <= {f"v{n}" for n in range(6)}


async def test_once_backfilled_vectors_find_them(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await shelf(store, scope)
    assert await GraphWriter(store, scope=scope, embedder=AXIS).backfill_embeddings() == 4
    retriever = GraphRetriever(driver, scope=scope, embedder=AXIS, config=settled())
    seeds = await retriever.find_seeds("x")
    assert {"word", "new", "old", "source"} < {seed.id for seed in seeds.seeds}
    assert all(seed.vector_score is not None for seed in seeds.seeds)


async def test_without_an_embedder_words_predicates_and_energy_do_it(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    memories = [
        Memory(id="rain", kind="Event", text="about rain", when={"task": "plan"}),
        Memory(id="hail", kind="Event", text="about rain", when={"task": "write"}),
        Memory(id="sun", kind="Event", text="about sun", when={"task": "plan"}),
        Memory(id="moon", kind="Event", text="about moon", when={"task": "write"}),
        Memory(id="joined", kind="Event", text="joined"),
    ]
    edges = [Relation(source="rain", target="joined", weight=1.0)]
    await GraphWriter(store, scope=scope).write(memories, edges)
    config = settled(context={"task": "plan"})
    recall = await GraphRetriever(driver, scope=scope, config=config).recall("rain")
    ids = [entry.memory.id for entry in recall.ranked]
    assert set(ids) == {"rain", "hail", "sun", "moon", "joined"}
    assert ids[:2] == ["rain", "joined"]
    assert ids.index("sun") < min(ids.index("moon"), ids.index("hail"))
    assert any("no embedder" in note for note in recall.trace.degraded)


async def test_recall_without_settings_takes_no_candidates_beside_the_search(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    await shelf(store, scope)
    retriever = GraphRetriever(driver, scope=scope, embedder=AXIS)
    assert len((await retriever.find_seeds("x")).seeds) == 5


IDS = ["s", "t", "a", "b", "c", "é", "\U0001f600"]
ids = st.sampled_from(IDS)
tag_lists = st.lists(st.sampled_from("xyz"), unique=True, max_size=3)
weights = st.sampled_from([1.0, 0.9, 0.5, 0.25, 0.01, 0.0])
relates = st.lists(
    st.builds(Relates, ids, ids, weights, st.sampled_from(["similar", "near"]), st.just(0.0))
    | st.builds(Relates, ids, ids, weights, st.just("old"), st.sampled_from([1.0, 50.0, 1e4])),
    max_size=12,
)
suppresses = st.lists(
    st.builds(
        Suppresses,
        ids,
        ids,
        st.sampled_from(["conflicts", "conflicts", *KINDS, "other"]),
        st.sampled_from([None, 1.0, 0.5]),
    ),
    max_size=6,
)
worlds = st.builds(
    World,
    memories=st.dictionaries(ids, st.builds(lambda tags: {"tags": tags}, tag_lists)),
    relates=relates,
    suppresses=suppresses,
    spans=st.dictionaries(ids, spans, max_size=3),
    connectors=st.frozensets(ids, max_size=3),
)
seed_maps = st.dictionaries(
    st.sampled_from([*IDS[:4], "missing"]),
    st.sampled_from([1.0, 0.7, 0.3, 0.009]),
    min_size=1,
    max_size=3,
)
constants = st.builds(
    Synapse,
    max_steps=st.integers(1, 4),
    min_activation=st.sampled_from([0.01, 0.0001]),
    temporal_decay_rate=st.sampled_from([0.01, 0.0]),
    inhibition_threshold=st.sampled_from([0.5, 0.1]),
    inhibition_strength=st.sampled_from([0.15, 1.0, 0.0]),
    min_overlap=st.sampled_from([0.5, 0.3, None]),
    now=st.just(NOW),
)
_example = count()


@pytest.fixture(scope="module")
async def many(driver: neo4j.AsyncDriver) -> AsyncIterator[str]:
    name = f"synapse-{uuid4().hex}-"
    yield name
    await remove(driver, name)


def waves(passed: Sequence[Signal]) -> list[float]:
    """What arrived at each memory in each step."""
    arrived: dict[tuple[int, str], list[float]] = {}
    for signal in passed:
        arrived.setdefault((signal.step, signal.target), []).append(signal.energy)
    return [math.fsum(energies) for energies in arrived.values()]


def borderline(values: Sequence[float], limits: Sequence[float]) -> bool:
    return any(math.isclose(value, limit, rel_tol=1e-9) for value in values for limit in limits)


@on_a_server()
@given(world=worlds, seeds=seed_maps, strategy=constants, call=calls)
async def test_signals_and_activations_equal_the_oracle_on_any_graph(
    driver: neo4j.AsyncDriver,
    many: str,
    world: World,
    seeds: dict[str, float],
    strategy: Synapse,
    call: dict[str, Any],
) -> None:
    name = f"{many}{next(_example)}"
    await write(driver, name, world)
    config = RetrieverConfig(strategy=strategy, **call)
    passed = signals(world, seeds, config)
    expected = activations(world, seeds, config)
    least = strategy.min_activation
    if borderline([*expected.values(), *waves(passed)], [least]):
        return
    found = await spread(driver, name, seeds, config)
    every = entries(found)
    on = {node for node, energy in expected.items() if energy >= least or node in seeds}
    assert on - world.connectors <= every.keys() <= expected.keys() - world.connectors
    for node, entry in every.items():
        fit = situation.match(when_of(world, node), {})
        context = 0.35 * squashed(expected[node]) * fit
        assert entry.shares["context"] == pytest.approx(context, rel=1e-9)
        ledger = [(each.step, each.source, each.relation) for each in entry.contributions]
        to_it = [each for each in passed if each.target == node]
        assert sorted(ledger) == sorted((each.step, each.source, each.relation) for each in to_it)
        assert math.fsum(each.energy_out for each in entry.contributions) == pytest.approx(
            math.fsum(each.energy for each in to_it), rel=1e-9, abs=1e-12
        )
    ways = {node for each in found.values() for path in each.paths for node in path.ids}
    met = world.connectors & ways  # on the way to a memory, or a seed
    assert ways - met == every.keys()
    backwards = dict(reversed(seeds.items()))
    assert entries(await spread(driver, name, backwards, config)) == every


def when_of(world: World, node: str) -> dict[str, Any]:
    """The conditions of a memory."""
    return json_map(world.spans[node].when) if node in world.spans else {}


additions = st.one_of(
    ids.map(lambda node: Relates("s", node)),
    ids.map(lambda node: Suppresses("s", node)),
    st.tuples(ids, st.sampled_from(KINDS)).map(lambda pair: Suppresses("s", *pair)),
    tag_lists.filter(bool),
)


PLAIN = ("conflicts", "shared-tags")


def category(relation: str) -> str:
    """Which denominator divides an edge of this relation."""
    return "directional" if relation in KINDS else relation if relation in PLAIN else "positive"


@on_a_server()
@given(world=worlds, added=additions)
async def test_edge_of_one_category_never_changes_the_share_of_another(
    driver: neo4j.AsyncDriver, many: str, world: World, added: Any
) -> None:
    """The signals out of a seed, before and after: only those of the added category differ."""
    memories = {node: world.memories.get(node, {}) for node in (*IDS, *world.memories)}
    before = World(memories=memories, relates=world.relates, suppresses=world.suppresses)
    if isinstance(added, Relates):
        changed = "positive"
        after = World(**{**_parts(before), "relates": [*world.relates, added]})
    elif isinstance(added, Suppresses):
        changed = category(added.kind)
        after = World(**{**_parts(before), "suppresses": [*world.suppresses, added]})
    else:
        changed = "shared-tags"
        after = World(**{**_parts(before), "memories": {**memories, "added": {"tags": added}}})
    strategy = Synapse(now=NOW, max_steps=1)
    seeds = {"s": 1.0} | dict.fromkeys([*IDS[1:], "added"], 0.001)
    signals_of = []
    for one in (before, after):
        name = f"{many}{next(_example)}"
        await write(driver, name, one)
        every = entries(await spread(driver, name, seeds, strategy))
        signals_of.append(
            sorted(
                (node, each.relation, each.direction, each.energy_out)
                for node, entry in every.items()
                for each in entry.contributions
                if each.source == "s" and category(each.relation) != changed
            )
        )
    assert signals_of[0] == signals_of[1]


def _parts(world: World) -> dict[str, Any]:
    return {
        "memories": world.memories,
        "relates": world.relates,
        "suppresses": world.suppresses,
    }


async def test_the_context_follows_the_score_and_ends_with_hits_that_were_not_explored(
    driver: neo4j.AsyncDriver, store: Store, scope: str
) -> None:
    texts = {
        "old": "umbrella umbrella umbrella",  # the best hit by far, but superseded
        "new": "umbrella, or a coat: ask before you leave",
        "reached": "the coat hangs behind the door",
        "rest0": "somebody has seen the other umbrella on a bus to the sea that day",
        "rest1": "nobody has ever seen the other umbrella on any bus to the far sea that day",
    }
    memories = [Memory(id=node, kind="Event", text=text) for node, text in texts.items()]
    edges = [Relation(source="new", target="reached", weight=1.0)]
    await GraphWriter(store, scope=scope).write(memories, edges)
    await Learner(store, scope=scope).suppress("new", "old", kind="overrides")
    config = replace(settled(unembedded=0), seeds=SeedConfig(max_seeds=2), include_outdated=True)
    retriever = GraphRetriever(driver, scope=scope, config=config)
    recall = await retriever.recall("umbrella")
    assert [seed.id for seed in recall.seeds.seeds] == ["old", "new"]
    assert [hit.id for hit in recall.seeds.runners_up] == ["rest0", "rest1"]
    assert [entry.memory.id for entry in recall.ranked] == ["new", "old", "reached"]
    packed = [item.id for item in recall.context.items]
    assert packed == ["new", "old", "reached", "rest0", "rest1"], "the best one first"
    small = await retriever.recall("umbrella", budget_tokens=recall.context.tokens - 5)
    assert {item.id for item in small.context.omitted} <= {"rest0", "rest1"}
