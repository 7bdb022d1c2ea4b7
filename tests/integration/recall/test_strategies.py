"""What holds for every strategy: failures, deadlines, streams, scopes, and nothing written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

import neo4j
import pytest

from memoria.errors import QueryError
from memoria.recall.config import RetrieverConfig
from memoria.recall.explore import ExploreRequest, explore_all
from memoria.recall.strategies import (
    STRATEGIES,
    LeakyIntegrateAndFire,
    RunInput,
    Step,
    Strategy,
    StrategyRun,
)
from memoria.recall.strategies.lif import LifRun
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.store.queries import parse
from memoria.types import Exploration, Seed
from tests.cases.build import HERE, edge, graph
from tests.oracle.agreement import remove, write

HEAD = "// name: test.step\n// mode: read\n// params:\n// returns: x\n"
BROKEN = parse(HEAD + "RETURN 1 / 0 AS x", "test.step")
SLOW = parse(HEAD + "UNWIND range(1, 1000000000) AS i RETURN sum(sqrt(i)) AS x", "test.step")
CHAIN = graph(edge("s", "a"), edge("a", "b"), edge("b", "c"), edge("t", "d"))
SEEDS = [Seed(id="s", score=1.0), Seed(id="t", score=0.9)]
TOGETHER = [each for each in STRATEGIES.values() if each.together]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted(LeakyIntegrateAndFire):
    """Its second step is another query."""

    second: Any

    def start(self, run_input: RunInput) -> LifRun:
        return _InterruptedRun(run_input, self, self.second)


class _InterruptedRun(LifRun):
    def __init__(self, run_input: RunInput, settings: LeakyIntegrateAndFire, second: Any) -> None:
        super().__init__(run_input, settings)
        self._second = second

    def ask(self) -> Step | None:
        if self.steps == 1 and not self.over:
            return Step(query=self._second, parameters={})
        return super().ask()


@pytest.fixture
async def web(driver: neo4j.AsyncDriver, scope: str) -> AsyncIterator[GraphRetriever]:
    await write(driver, {scope: CHAIN})
    yield GraphRetriever(driver, scope=scope + HERE)
    await remove(driver, scope)


async def explored(
    web: GraphRetriever, strategy: Strategy, deadline_s: float = 60.0
) -> dict[str, Exploration]:
    config = RetrieverConfig(strategy=strategy)
    stream = web.explore_seeds(SEEDS, config=config, deadline_s=deadline_s)
    return {each.seed.id: each async for each in stream}


async def test_run_that_fails_keeps_what_it_had_and_says_why(web: GraphRetriever) -> None:
    config = RetrieverConfig(strategy=Interrupted(second=BROKEN))
    found: dict[str, Exploration] = {}

    async def collect() -> None:
        async for each in web.explore_seeds(SEEDS, config=config):
            found[each.seed.id] = each

    with pytest.raises(QueryError):  # every seed has failed; their explorations come before
        await collect()
    assert {each.status for each in found.values()} == {"failed"}
    assert all(isinstance(each.error, QueryError) for each in found.values())
    ways = [(path.ids, path.end_reason) for each in found.values() for path in each.paths]
    assert sorted(ways) == [(("s", "a"), "truncated"), (("t", "d"), "truncated")]
    assert web.store.sessions_in_use == 0


async def test_deadline_ends_a_run_with_what_it_gathered(web: GraphRetriever) -> None:
    await explored(web, LeakyIntegrateAndFire())  # connections are open
    found = await explored(web, Interrupted(second=SLOW), deadline_s=4.0)
    assert {(each.status, each.error) for each in found.values()} == {("truncated", None)}
    assert {each.stats.levels for each in found.values()} == {1}
    ways = [(path.ids, path.end_reason) for each in found.values() for path in each.paths]
    assert sorted(ways) == [(("s", "a"), "truncated"), (("t", "d"), "truncated")]
    assert web.store.sessions_in_use == 0


@pytest.mark.parametrize("strategy", TOGETHER, ids=lambda strategy: strategy.name)
async def test_streamed_paths_are_those_of_the_explorations(
    web: GraphRetriever, strategy: Strategy
) -> None:
    found = await explored(web, strategy)
    stream = web.stream_paths(SEEDS, config=RetrieverConfig(strategy=strategy))
    paths = [path async for path in stream]
    assert sorted(path.ids for path in paths) == sorted(
        path.ids for each in found.values() for path in each.paths
    )
    assert {each.seed.id: each.activations for each in stream.result} == {
        name: each.activations for name, each in found.items()
    }
    assert [each.seed.id for each in stream.result] == ["s", "t"]


@pytest.mark.parametrize("strategy", TOGETHER, ids=lambda strategy: strategy.name)
async def test_no_seeds_give_nothing(web: GraphRetriever, strategy: Strategy) -> None:
    stream = web.explore_seeds([], config=RetrieverConfig(strategy=strategy))
    assert [each async for each in stream] == []


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
@pytest.mark.parametrize("transactions", ["auto", "managed"])
async def test_no_strategy_writes(
    driver: neo4j.AsyncDriver, web: GraphRetriever, strategy: Strategy, transactions: Any
) -> None:
    async def contents() -> list[Any]:
        records, _, _ = await driver.execute_query(
            "MATCH (m:Memory {scope: $scope}) OPTIONAL MATCH (m)-[r]->(n) "
            "RETURN m.id, properties(m), type(r), properties(r), n.id ORDER BY m.id, n.id",
            scope=web.scope,
        )
        return [record.data() for record in records]

    before = await contents()
    store = Store(driver, config=StoreConfig(transactions=transactions))
    reader = GraphRetriever(store, scope=web.scope)
    config = RetrieverConfig(strategy=strategy)
    found = [each async for each in reader.explore_seeds(SEEDS, config=config)]
    assert all(each.status == "complete" for each in found)
    assert all(any(path.hops for path in each.paths) for each in found)
    assert all(bool(each.activations) is strategy.together for each in found)
    assert await contents() == before


@pytest.mark.parametrize("strategy", TOGETHER, ids=lambda strategy: strategy.name)
async def test_what_a_foreign_writer_left_is_passed_over(
    driver: neo4j.AsyncDriver, scope: str, strategy: Strategy
) -> None:
    await driver.execute_query(
        "CREATE (s:Memory {scope: $scope, id: 's'}), (b:Memory {scope: $scope, id: 'b'}), "
        "(s)-[:RELATES {weight: 0.9, relation: 7, tags: 'x'}]->(b), "
        "(s)-[:RELATES {weight: 'x'}]->(b), (s)-[:RELATES {weight: 0.0/0.0}]->(b), "
        "(s)-[:RELATES {weight: 1.0}]->(:Memory {scope: $scope, id: 7}), "
        "(s)-[:RELATES {weight: 1.0}]->(:Memory {scope: 'other ' + $scope, id: 'c'}), "
        "(s)-[:RELATES {weight: 1.0}]->(:Elsewhere {scope: $scope, id: 'd'}), "
        "(s)-[:OTHER {weight: 1.0}]->(:Memory {scope: $scope, id: 'e'})",
        scope=scope,
    )
    retriever = GraphRetriever(driver, scope=scope)
    config = RetrieverConfig(strategy=strategy)
    seeds = [Seed(id="s", score=1.0)]
    (found,) = [each async for each in retriever.explore_seeds(seeds, config=config)]
    assert (found.status, [path.ids for path in found.paths]) == ("complete", [("s", "b")])
    (hop,) = found.paths[0].hops
    assert (hop.relation, hop.tags, hop.weight, hop.degree) == ("7", (), 0.9, 6)
    await driver.execute_query("MATCH (n:Elsewhere {scope: $scope}) DETACH DELETE n", scope=scope)
    await remove(driver, scope)


# For each setting of each strategy another value, which the graph below makes count.
OTHER: dict[str, dict[str, Any]] = {
    "transfer": {
        "max_depth": 1,
        "min_activation": 0.5,
        "tag_sim_floor": 1.0,
        "max_branches": 1,
        "seed_branches": 1,
        "round_trips": "single",
    },
    "lif": {
        "fire_threshold": 0.7,
        "leak_rate": 0.5,
        "min_signal": 0.5,
        "max_hops": 1,
        "max_edges": 1,
    },
    "anchor": {
        "use_spreading": False,
        "spreading_strength": 0.1,
        "iterations": 1,
        "weight_similarity": 0.9,
        "weight_activation": 0.9,
        "weight_structural": 0.9,
        "anchor_top_k_episodes": 3,
        "anchor_top_k_facts": 3,
        "fact_kinds": ("Event",),
        "max_edges": 1,
    },
    "synapse": {
        "max_steps": 1,
        "decay_factor": 0.9,
        "spread_factor": 0.3,
        "min_activation": 0.2,
        "temporal_decay_rate": 0.5,
        "inhibition_threshold": 2.0,
        "inhibition_strength": 0.9,
        "min_overlap": None,
        "weight_context": 0.9,
        "weight_base_level": 0.9,
        "weight_feedback": 0.9,
        "weight_priority": 0.9,
        "context": {"language": "go"},
        "unembedded": 3,
        "max_edges": 1,
        "now": datetime(2027, 1, 1, tzinfo=UTC),
    },
}
RULES = """
CREATE (s:Memory:Event {scope: $scope, id: 's', tags: ['x', 'y']}),
  (t:Memory:Event {scope: $scope, id: 't', tags: []}),
  (a:Memory:Event {scope: $scope, id: 'a', when: '{"language": "python"}', use_count: 3,
                   created_at: datetime('2026-01-01'), confirmed: 1, priority: 0.9}),
  (b:Memory:Event {scope: $scope, id: 'b'}), (c:Memory:Event {scope: $scope, id: 'c'}),
  (alike:Memory:Event {scope: $scope, id: 'alike', tags: ['x', 'y']}),
  (s)-[:RELATES {weight: 0.9, tags: ['x', 'z'], created_at: datetime('2026-01-31T20:00')}]->(a),
  (s)-[:RELATES {weight: 0.6, tags: ['x']}]->(b),
  (t)-[:RELATES {weight: 0.3, tags: ['z']}]->(b),
  (a)-[:RELATES {weight: 0.8}]->(c)
"""


@pytest.mark.parametrize(
    ("strategy", "field"),
    [(each, field.name) for each in STRATEGIES.values() for field in fields(each)],  # type: ignore[arg-type]
    ids=lambda value: getattr(value, "name", value),
)
async def test_every_setting_of_a_strategy_has_an_effect(
    driver: neo4j.AsyncDriver, scope: str, strategy: Any, field: str
) -> None:
    assert field in OTHER.get(strategy.name, {}), "say above which other value has an effect"
    await driver.execute_query(RULES, scope=scope)
    changed = replace(strategy, **{field: OTHER[strategy.name][field]})
    assert await effect(driver, scope, changed) != await effect(driver, scope, strategy)


async def effect(driver: neo4j.AsyncDriver, scope: str, strategy: Strategy) -> Any:
    """What a strategy searches for, what it finds, and in how many round trips."""
    sent: list[str] = []

    class Seen(Strategy):
        name, together, seeds = strategy.name, strategy.together, strategy.seeds

        def start(self, run_input: RunInput) -> StrategyRun:
            run = strategy.start(run_input)
            ask = run.ask

            def note() -> Step | None:
                step = ask()
                sent.extend([] if step is None else [str(step.query)])
                return step

            run.ask = note  # type: ignore[method-assign]
            return run

    store = Store(driver, database="neo4j")
    now = asyncio.get_running_loop().time()
    request = ExploreRequest(
        strategy=Seen(),
        input=RunInput(
            seeds=(Seed(id="s", score=1.0), Seed(id="t", score=0.9)),
            scope=scope,
            query_tags=("x",),
            now=datetime(2026, 2, 1, tzinfo=UTC),
        ),
        started=now,
        until=now + 60,
    )
    found = await explore_all(store, request)
    assert {each.status for each in found} == {"complete"}
    return strategy.seeds, len(sent), [(each.paths, each.activations) for each in found]
