"""Queries and records are counted where they can't hide: in the driver's own protocol log."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal, get_args

import neo4j
import pytest

from memoria.recall.config import RetrieverConfig
from memoria.recall.explore import ExploreRequest, HydrateAt, Listener
from memoria.recall.explore import explore as run_explorations
from memoria.recall.limits import why_unfound
from memoria.recall.seeds import VECTORS_PENDING, SeedRequest
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies import STRATEGIES, LeakyIntegrateAndFire, RunInput, TransferEnergy
from memoria.retriever import GraphRetriever
from memoria.store import Records, Session, Store
from memoria.store.config import StoreConfig
from memoria.store.queries import Query
from memoria.types import Exploration, Memory, MemoryFilter, RelationRoles, Seed
from memoria.writer import GraphWriter
from tests.cases import HERE, edge, full_tree, graph
from tests.integration.conftest import WEB_NODES, WEB_SCOPE
from tests.integration.test_pending import Moody
from tests.oracle.agreement import assert_agreement, explore_with_engine, write
from tests.oracle.transfer import Graph, explore, with_transfer

ALL = RetrieverConfig(seeds_per_session=5)


def shared_children(parents: int, children: int) -> Graph:
    """``s`` leads to parents, each of which leads to all the children."""
    names = [f"p{number}" for number in range(parents)]
    edges = [edge("s", parent) for parent in names]
    edges += [edge(parent, f"n{number}") for parent in names for number in range(children)]
    return graph(*edges)


class Wire(logging.Handler):
    """What went over the connections since `clear`: sent messages and records received."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.sent: list[str] = []
        self.records = 0

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if match := re.search(r"C: (RUN|BEGIN|COMMIT|RESET|ROUTE)\b", text):
            name = re.search(r"'query': '([a-z._]+)'", text)
            self.sent.append(f"{match[1]} {name[1]}" if name else match[1])
        elif match := re.search(r"S: RECORD \* (\d+)", text):
            self.records += int(match[1])

    def clear(self) -> None:
        self.sent, self.records = [], 0

    def count(self, message: str) -> int:
        return self.sent.count(message)


@pytest.fixture
def wire() -> Iterator[Wire]:
    handler, logger = Wire(), logging.getLogger("neo4j.io")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.fixture
async def warm(driver: neo4j.AsyncDriver, web: tuple[Seed, ...]) -> GraphRetriever:
    """A retriever whose connections are open."""
    retriever = GraphRetriever(driver, scope=WEB_SCOPE)
    await retriever.server_facts()
    async for _ in retriever.stream_paths(web):
        pass
    return retriever


async def test_one_query_and_one_record_per_level_and_session(
    warm: GraphRetriever, web: tuple[Seed, ...], wire: Wire
) -> None:
    wire.clear()
    found = [exploration async for exploration in warm.explore_seeds(web)]
    levels = sum(exploration.stats.levels for exploration in found)
    deep = sum(_ends_at_max_depth(exploration) for exploration in found)
    reads = wire.count("RUN graph.hydrate")
    assert wire.count("RUN strategies.level") == levels
    assert 0 < reads <= deep, "what one of them has read, the others need not read"
    assert wire.records == levels + reads
    assert len(wire.sent) == levels + reads, "nothing else is sent: no BEGIN, COMMIT or RESET"


async def test_an_exploration_alone_reads_once_what_no_level_brought(
    warm: GraphRetriever, web: tuple[Seed, ...], wire: Wire
) -> None:
    for seed in web:
        wire.clear()
        (found,) = [exploration async for exploration in warm.explore_seeds([seed])]
        assert wire.count("RUN strategies.level") == found.stats.levels
        assert wire.count("RUN graph.hydrate") == _ends_at_max_depth(found)
        assert wire.records == len(wire.sent) == found.stats.levels + _ends_at_max_depth(found)


def _ends_at_max_depth(exploration: Exploration) -> bool:
    """Whether there are memories that no level expanded, and so brought no texts of."""
    return any(path.end_reason == "max_depth" for path in exploration.paths)


async def test_texts_come_with_the_levels(
    driver: neo4j.AsyncDriver, scope: str, wire: Wire
) -> None:
    await expect_texts_with_the_levels(driver, scope, wire, "level")


@pytest.mark.usefixtures("all_at_once")
async def test_texts_come_with_all_levels_at_once(
    driver: neo4j.AsyncDriver, scope: str, wire: Wire
) -> None:
    await expect_texts_with_the_levels(driver, scope, wire, "single")


async def expect_texts_with_the_levels(
    driver: neo4j.AsyncDriver, scope: str, wire: Wire, round_trips: Literal["level", "single"]
) -> None:
    await write(driver, {scope: full_tree(children=2, depth=2)})
    retriever = GraphRetriever(driver, scope=scope + HERE)
    config = RetrieverConfig(strategy=TransferEnergy(min_activation=0, round_trips=round_trips))
    wire.clear()
    seeds = [Seed(id="s", score=1.0)]
    (found,) = [each async for each in retriever.explore_seeds(seeds, config=config)]
    assert len(found.paths) == 4
    assert all(len(path.memories) == 3 for path in found.paths)
    assert set(wire.sent) == {"RUN strategies.level" + ("s" if round_trips == "single" else "")}
    assert wire.records == len(wire.sent) == (1 if round_trips == "single" else 3)


@pytest.mark.parametrize("hydrate_at", [*get_args(HydrateAt), None])
async def test_paths_are_built_while_the_next_query_is_under_way(
    driver: neo4j.AsyncDriver, scope: str, wire: Wire, hydrate_at: HydrateAt | None
) -> None:
    pairs = (("s", "leaf"), ("s", "a"), ("a", "b"), ("b", "c"))
    await write(driver, {scope: graph(*(edge(*pair) for pair in pairs))})
    scope += HERE
    store = Store(driver, database="neo4j")
    queries_sent: dict[tuple[str, ...], int] = {}
    listener = Listener(
        on_exploration=lambda _: None,
        on_path=lambda path: queries_sent.update({path.ids: len(wire.sent)}),
    )
    for _ in range(2):  # the first one opens the connections
        wire.clear()
        now = asyncio.get_running_loop().time()
        request = ExploreRequest(
            strategy=TransferEnergy(min_activation=0),
            input=RunInput(seeds=(Seed(id="s", score=1.0),), scope=scope, query_tags=()),
            started=now,
            until=now + 60,
            hydrate_at=hydrate_at,
        )
        await run_explorations(store, request, listener)
    # The leaf is found to be one by the second level: its path comes when the third has been sent.
    assert queries_sent == {("s", "leaf"): 3, ("s", "a", "b", "c"): 4}


async def test_explorations_that_share_a_session_share_their_levels(
    warm: GraphRetriever, web: tuple[Seed, ...], wire: Wire
) -> None:
    wire.clear()
    found = [exploration async for exploration in warm.explore_seeds(web, config=ALL)]
    deepest = max(exploration.stats.levels for exploration in found)
    assert wire.count("RUN strategies.level") == deepest
    assert wire.records == len(wire.sent)


async def test_recall_reads_texts_and_what_ranking_needs_in_one_query(
    warm: GraphRetriever, wire: Wire
) -> None:
    # Otherwise possible needs are followed, and texts are read early on a busy machine.
    config = RetrieverConfig(roles=RelationRoles(need=()))
    await warm.recall("memory number 12 of the web", config=config)  # opens the connections
    wire.clear()
    recall = await warm.recall("memory number 12 of the web", config=config)
    levels = max(exploration.stats.levels for exploration in recall.explorations)
    assert recall.hits
    first, *meanwhile, last = wire.sent
    assert (first, last) == ("RUN seeds.text", "RUN ranking.candidates")
    assert sorted(meanwhile) == ["RUN recall.needs"] + ["RUN strategies.level"] * levels
    assert wire.records == len(wire.sent)


async def test_a_pending_vector_costs_no_round_trip(
    driver: neo4j.AsyncDriver, scope: str, wire: Wire
) -> None:
    sent = []
    for pending, embedder in enumerate((Moody(), Moody("down"))):
        writer = GraphWriter(driver, scope=scope, embedder=embedder)
        await writer.write([Memory(id=f"m{pending}", kind="Event", text="the mill closed")])
        retriever = GraphRetriever(driver, scope=scope, embedder=Moody())
        await retriever.recall("the mill")  # opens the connections
        wire.clear()
        recall = await retriever.recall("the mill")
        sent.append(sorted(wire.sent))
        notes = [note for note in recall.trace.notes if note.startswith(VECTORS_PENDING)]
        assert recall.seeds.pending == len(notes) == pending
        assert recall.trace.degraded == ()
    assert sent[0] == sent[1]


async def test_the_reason_for_finding_nothing_costs_little(
    warm: GraphRetriever, wire: Wire
) -> None:
    for where in (None, MemoryFilter(exclude_ids=["n1"])):
        found = await warm.recall("xylophone", where=where)
        assert (found.ranked, found.trace.notes) == ((), ())
    assert wire.count("RUN graph.scope_size") == 0, "agents exclude memories in every turn"
    request = SeedRequest(
        text="web",
        vector=None,
        scope=WEB_SCOPE,
        where=MemoryFilter(metadata={"channel": "phone"}),
        dialect="procedure",
        config=SeedConfig(),
        until=None,
    )
    for most, read in ((WEB_NODES, ["RUN seeds.fits"]), (WEB_NODES - 1, [])):
        wire.clear()
        said = await why_unfound(warm.store, request, RetrieverConfig(), most=most)
        assert wire.sent == ["RUN graph.scope_size", *read]
        assert bool(said) == bool(read)


@pytest.mark.usefixtures("all_at_once")
async def test_recall_in_a_single_trip_asks_for_all_levels_at_once(
    warm: GraphRetriever, wire: Wire
) -> None:
    question = "memory number 12 of the web"
    config = RetrieverConfig(
        strategy=TransferEnergy(round_trips="single"), roles=RelationRoles(need=())
    )
    by_level = await warm.recall(question)
    await warm.recall(question, config=config)
    wire.clear()
    recall = await warm.recall(question, config=config)
    first, *meanwhile, last = wire.sent
    assert (first, last) == ("RUN seeds.text", "RUN ranking.candidates")
    assert sorted(meanwhile) == ["RUN recall.needs", "RUN strategies.levels"]
    assert wire.records == len(wire.sent)
    assert [found.paths for found in recall.explorations] == [
        found.paths for found in by_level.explorations
    ]
    assert [found.stats.levels for found in recall.explorations] == [
        found.stats.levels for found in by_level.explorations
    ]


@pytest.mark.usefixtures("all_at_once")
@pytest.mark.parametrize(
    ("tree", "config"),
    [
        # Ten parents share a hundred children, of which each row holds the first 18: the second
        # parent loses ten of them to the first, and the last eight are not all it may take.
        (
            shared_children(parents=10, children=100),
            RetrieverConfig(strategy=TransferEnergy(max_branches=10, max_depth=2)),
        ),
        # 40 parents with 48 children each: too many for the server to choose among.
        (
            full_tree(children=48, depth=2),
            RetrieverConfig(strategy=TransferEnergy(max_branches=40, max_depth=3)),
        ),
    ],
    ids=["children_left_out", "too_many_candidates"],
)
async def test_what_the_single_trip_can_not_tell_is_asked_level_by_level(
    driver: neo4j.AsyncDriver,
    scope: str,
    wire: Wire,
    tree: Graph,
    config: RetrieverConfig,
) -> None:
    await write(driver, {scope: tree})
    wire.clear()
    single = with_transfer(config, min_activation=0, round_trips="single")
    found = await explore_with_engine(driver, scope + HERE, [("s", 1.0)], (), single)
    assert_agreement(found["s"], explore(tree, HERE, "s", 1.0, (), single))
    assert wire.count("RUN strategies.levels") == 1
    assert wire.count("RUN strategies.level") == 1


async def test_where_all_levels_at_once_fail_they_are_asked_for_one_by_one(
    driver: neo4j.AsyncDriver, web: tuple[Seed, ...], wire: Wire
) -> None:
    class Refusing(Store):
        """A store that can't plan the query of all levels, as Neo4j 5.26."""

        @asynccontextmanager
        async def session(  # type: ignore[override]  # callers only enter it
            self, *args: Any, **options: Any
        ) -> AsyncIterator[Session]:
            async with super().session(*args, **options) as session:
                run = session.run

                async def refuse(query: Query, parameters: Mapping[str, Any]) -> Records:
                    broken = replace(query, text=query.text.replace("RETURN", "RETURN !"))
                    return await run(
                        broken if query.name == "strategies.levels" else query, parameters
                    )

                session.run = refuse  # type: ignore[method-assign]
                yield session

    retriever = GraphRetriever(driver, scope=WEB_SCOPE)
    expected = {found.seed.id: found.paths async for found in retriever.explore_seeds(web)}
    retriever.store = Refusing(driver, database="neo4j")
    wire.clear()
    single = RetrieverConfig(strategy=TransferEnergy(round_trips="single"))
    for config in (single, replace(single, seeds_per_session=5)):
        found = [each async for each in retriever.explore_seeds(web, config=config)]
        assert {each.status for each in found} == {"complete"}
        assert {each.seed.id: each.paths for each in found} == expected
    assert wire.count("RUN strategies.levels") == len(web) + 1


async def test_recall_in_several_sessions_asks_once_for_texts_and_ranking(
    warm: GraphRetriever, wire: Wire
) -> None:
    config = RetrieverConfig(seeds_per_session=1)
    question = "memory number 12 of the web"
    recall = await warm.recall(question, config=config)
    wire.clear()
    again = await warm.recall(question, config=config)
    assert wire.count("RUN graph.hydrate") == 0
    assert len(recall.seeds.seeds) > 1
    assert wire.sent[-1] == "RUN ranking.candidates"
    assert wire.count("RUN ranking.candidates") == 1
    assert again.ranked == recall.ranked == (await warm.recall(question)).ranked


async def test_a_recall_that_streams_reads_once_what_no_level_brought(
    warm: GraphRetriever, driver: neo4j.AsyncDriver
) -> None:
    brought: list[list[str]] = []
    read: list[str] = []

    class Seen(Store):
        @asynccontextmanager
        async def session(  # type: ignore[override]  # callers only enter it
            self, *args: Any, **options: Any
        ) -> AsyncIterator[Session]:
            async with super().session(*args, **options) as session:
                run = session.run

                async def see(query: Query, parameters: Mapping[str, Any]) -> Records:
                    records = await run(query, parameters)
                    if query.name == "strategies.level":
                        brought.append([row[0] for row in records[0]["memories"]])
                    return records

                session.run = see  # type: ignore[method-assign]
                yield session

        async def run(
            self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
        ) -> list[neo4j.Record]:
            records = await super().run(query, parameters, until=until)
            if query.name == "graph.hydrate":
                read.extend(row[0] for row in records[0][0])
            elif query.name == "ranking.candidates":
                read.extend(row[0] for row in records[0][0] if row[4] is not None)
            return records

    retriever = GraphRetriever(driver, scope=WEB_SCOPE)
    retriever.store = Seen(driver, database="neo4j")
    question = "memory number 12 of the web"
    # With time enough, a busy machine reads no texts ahead.
    async with retriever.recall_stream(question) as stream:
        assert [path async for path in stream]
    assert any(brought)
    assert all(len(ids) == len(set(ids)) for ids in brought), "seeds meet: once a level"
    assert len(read) == len(set(read))
    assert not {id_ for ids in brought for id_ in ids} & set(read)
    assert stream.result.ranked == (await warm.recall(question)).ranked


async def test_a_path_arrives_with_the_level_that_ends_it(
    driver: neo4j.AsyncDriver, scope: str, wire: Wire
) -> None:
    # s - a ends after one hop, while s - b - c - d goes on.
    await write(
        driver, {scope: graph(edge("s", "a"), edge("s", "b"), edge("b", "c"), edge("c", "d"))}
    )
    retriever = GraphRetriever(driver, scope=scope + HERE)
    arrived = {}
    for max_depth in (5, 3):
        wire.clear()
        config = RetrieverConfig(strategy=TransferEnergy(min_activation=0, max_depth=max_depth))
        async for path in retriever.stream_paths([Seed(id="s", score=1.0)], config=config):
            arrived[max_depth, path.ids[-1]] = wire.records
    # Its hops + 1; where no level expands the last memory, another for the text of that.
    assert arrived == {(5, "a"): 2, (5, "d"): 4, (3, "a"): 2, (3, "d"): 4}
    assert wire.sent.count("RUN graph.hydrate") == 1


async def test_strategies_without_texts_read_them_once_the_steps_are_done(
    warm: GraphRetriever, web: tuple[Seed, ...], wire: Wire
) -> None:
    wire.clear()
    config = RetrieverConfig(strategy=LeakyIntegrateAndFire())
    assert [path async for path in warm.stream_paths(web, config=config)]
    assert wire.sent == ["RUN strategies.edges"] * 3 + ["RUN graph.hydrate"]


async def test_managed_transactions_send_begin_and_commit(
    warm: GraphRetriever, web: tuple[Seed, ...], wire: Wire
) -> None:
    wire.clear()
    managed = Store(warm.store.driver, config=StoreConfig(transactions="managed"))
    retriever = GraphRetriever(managed, scope=warm.scope)
    config = RetrieverConfig(seeds_per_session=5)
    found = [exploration async for exploration in retriever.explore_seeds(web, config=config)]
    levels = max(exploration.stats.levels for exploration in found)
    assert wire.count("COMMIT") == levels + 1  # the last query reads texts
    assert sum(message.startswith("BEGIN") for message in wire.sent) == levels + 1


async def test_strategies_send_one_query_per_step_for_all_seeds(
    warm: GraphRetriever, web: tuple[Seed, ...], wire: Wire
) -> None:
    queries = {
        "lif": ["strategies.edges"] * 3,
        "anchor": ["strategies.anchors"],
        "synapse": [*["strategies.synapse"] * 3, "strategies.situation"],
    }
    for strategy, steps in queries.items():
        wire.clear()
        config = RetrieverConfig(strategy=STRATEGIES[strategy])
        found = [exploration async for exploration in warm.explore_seeds(web, config=config)]
        assert {exploration.status for exploration in found} == {"complete"}
        assert wire.sent == [f"RUN {query}" for query in (*steps, "graph.hydrate")]
        assert wire.records == len(steps) + 1
