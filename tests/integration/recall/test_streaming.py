"""Results come as they finish, and leaving early leaves nothing behind."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal
from uuid import uuid4

import neo4j
import pytest

from memoria._support.stream import Stream
from memoria.errors import ClosedError, UnavailableError
from memoria.recall.config import RetrieverConfig
from memoria.recall.explore import ExploreRequest, HydrateAt, Listener, explore
from memoria.recall.strategies import RunInput
from memoria.retriever import GraphRetriever
from memoria.store import Records, Session, Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.store.queries import Query, parse
from memoria.types import Exploration, Path, Seed
from tests.effort import effort
from tests.integration.conftest import WEB_SCOPE
from tests.oracle.agreement import write
from tests.oracle.transfer import Edge, Graph, Node, with_transfer

# A cancellation while the driver opens a connection leaves the socket to the garbage collector,
# which closes it and warns (neo4j driver 6.4, 2026-11: `_connect_secure` catches Exception only).
pytestmark = pytest.mark.filterwarnings(
    r"ignore:Exception ignored in. <socket\.socket:pytest.PytestUnraisableExceptionWarning"
)

ALL = RetrieverConfig(seeds_per_session=5)
USER = f"streaming-{uuid4().hex}"
MISSING = Seed(id="nobody", score=1.0)

# No call that works as it should takes so long, even on the slowest machine.
LONG_S = 120.0
# When a test gives up waiting for what should have come at once; below LONG_S.
HANG_S = 60.0
# A deadline that is meant to hit: enough for two levels and their texts on a loaded machine.
DEADLINE_S = 3.0


class HeldStore(Store):
    """A store that asks before it sends a level query, and waits, or fails, as it is told.

    ``before_level`` gets the query's number within its session, from 1, and its parameters.
    """

    def __init__(
        self,
        driver: neo4j.AsyncDriver,
        before_level: Callable[[int, Mapping[str, Any]], Awaitable[None]],
    ) -> None:
        super().__init__(driver, database="neo4j", config=StoreConfig(max_retries=0))
        self.before_level = before_level

    @asynccontextmanager
    async def session(  # type: ignore[override]  # callers only enter it
        self,
        mode: Literal["read", "write"] = "read",
        *,
        until: float | None = None,
    ) -> AsyncIterator[Session]:
        async with super().session(mode, until=until) as session:
            yield _HeldSession(session, self, until)


class _HeldSession(Session):
    def __init__(self, session: Session, store: HeldStore, until: float | None) -> None:
        self._inner, self._store, self._until = session, store, until
        self._level = 0

    async def run(self, query: Query, parameters: Mapping[str, Any]) -> Records:
        if query.name == "strategies.level":
            self._level += 1
            # Held no longer than the deadline: the session itself then says that it is over.
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._until):
                    await self._store.before_level(self._level, parameters)
        return await self._inner.run(query, parameters)


def seeds_of(parameters: Mapping[str, Any]) -> list[str]:
    """Ids of the seeds of a level query: what each exploration visited first."""
    return [next(iter(visited)) for visited in parameters["visited"]]


def held_retriever(
    driver: neo4j.AsyncDriver,
    scope: str,
    before_level: Callable[[int, Mapping[str, Any]], Awaitable[None]],
) -> GraphRetriever:
    """A retriever on a `HeldStore`."""
    retriever = GraphRetriever(driver, scope=scope)
    retriever.store = HeldStore(driver, before_level)
    return retriever


def failing_at(poison: str) -> Callable[[int, Mapping[str, Any]], Awaitable[None]]:
    """Levels fail when a given memory is in the frontier."""

    async def before_level(_: int, parameters: Mapping[str, Any]) -> None:
        if any(row[1] == poison for row in parameters["frontier"]):
            raise UnavailableError("the server went away", query="strategies.level")

    return before_level


@pytest.fixture(scope="module")
async def own_driver(target: Target, driver: neo4j.AsyncDriver) -> AsyncIterator[neo4j.AsyncDriver]:
    """A driver as a user of its own: of the transactions of a server, these tests know theirs."""
    create = "CREATE USER $name SET PASSWORD $password CHANGE NOT REQUIRED"
    await driver.execute_query(create, name=USER, password=USER, database_="system")
    try:
        own = Target(uri=target.uri, auth=(USER, USER), database="neo4j")
        async with open_driver(own, StoreConfig()) as opened:
            yield opened
    finally:
        await driver.execute_query("DROP USER $name", name=USER, database_="system")


@pytest.fixture
def web_retriever(own_driver: neo4j.AsyncDriver) -> GraphRetriever:
    """A retriever on the web graph, with a store of its own to look into."""
    return GraphRetriever(own_driver, scope=WEB_SCOPE)


async def our_transactions(driver: neo4j.AsyncDriver) -> list[str]:
    """What the server is still running for memoria, as the user of these tests."""
    async with driver.session(database="system") as session:
        result = await session.run(
            "SHOW TRANSACTIONS YIELD metaData, transactionId, username "
            "WHERE metaData.app = 'memoria' AND username = $user RETURN transactionId",
            user=USER,
        )
        return [record["transactionId"] async for record in result]


async def assert_nothing_left(retriever: GraphRetriever, tasks: set[asyncio.Task[Any]]) -> None:
    """No task, no session in use, and before long no transaction."""
    await asyncio.sleep(0)
    assert retriever.store.sessions_in_use == 0
    assert asyncio.all_tasks() - tasks == set()
    for _ in range(400):
        if not await our_transactions(retriever.store.driver):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"still running: {await our_transactions(retriever.store.driver)}")


async def test_what_the_server_runs_for_these_tests_is_seen(web_retriever: GraphRetriever) -> None:
    """Else nothing would ever be left behind."""
    slow = parse(
        "// name: test.slow\n// mode: read\n// params:\n// returns: x\n"
        "UNWIND range(1, 1000000000) AS i WITH i WHERE i % 7 = 8 RETURN count(i) AS x",
        "test.slow",
    )
    tasks = asyncio.all_tasks()
    running = asyncio.create_task(web_retriever.store.run(slow, {}))
    async with asyncio.timeout(HANG_S):
        while not await our_transactions(web_retriever.store.driver):  # noqa: ASYNC110 - the server's
            await asyncio.sleep(0.05)
    running.cancel()
    await asyncio.wait([running])
    await assert_nothing_left(web_retriever, tasks)


async def collect(
    retriever: GraphRetriever, seeds: tuple[Seed, ...], config: RetrieverConfig
) -> dict[str, Exploration]:
    explorations = retriever.explore_seeds(seeds, config=config, deadline_s=LONG_S)
    return {found.seed.id: found async for found in explorations}


def content(exploration: Exploration) -> tuple[Any, ...]:
    """All of an exploration but what it cost."""
    return exploration.seed, exploration.status, exploration.paths, exploration.error


async def test_explorations_come_as_they_finish(
    driver: neo4j.AsyncDriver, web: tuple[Seed, ...]
) -> None:
    let_go: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def before_level(level: int, parameters: Mapping[str, Any]) -> None:
        if level == 2:
            (seed_id,) = seeds_of(parameters)
            await let_go[seed_id].wait()

    held = held_retriever(driver, WEB_SCOPE, before_level)
    order = [web[number].id for number in (3, 0, 4, 1, 2)]
    async with (
        asyncio.timeout(HANG_S),
        held.explore_seeds([*web, MISSING], deadline_s=LONG_S) as explorations,
    ):
        first = await anext(explorations)
        assert (first.seed.id, first.status) == ("nobody", "seed_not_found")
        for seed_id in order:
            let_go[seed_id].set()
            found = await anext(explorations)
            assert (found.seed.id, found.status) == (seed_id, "complete")
        assert [found async for found in explorations] == []


async def test_an_exploration_of_a_shared_session_comes_before_the_others_end(
    driver: neo4j.AsyncDriver, web: tuple[Seed, ...]
) -> None:
    let_go = asyncio.Event()

    async def before_level(level: int, _: Mapping[str, Any]) -> None:
        if level == 2:
            await let_go.wait()

    held = held_retriever(driver, WEB_SCOPE, before_level)
    seeds = [*web[:4], MISSING]
    async with (
        asyncio.timeout(HANG_S),
        held.explore_seeds(seeds, config=ALL, deadline_s=LONG_S) as explorations,
    ):
        assert (await anext(explorations)).seed.id == "nobody"
        let_go.set()
        rest = [found async for found in explorations]
    assert {found.seed.id: found.status for found in rest} == {
        seed.id: "complete" for seed in web[:4]
    }


@pytest.mark.parametrize("hydrate_at", ["branch_end", "exploration_end"])
async def test_what_is_over_is_reported_while_others_of_its_session_go_on(
    driver: neo4j.AsyncDriver, web: tuple[Seed, ...], hydrate_at: HydrateAt
) -> None:
    reported = asyncio.Event()

    async def before_level(level: int, _: Mapping[str, Any]) -> None:
        if level == 2:
            await reported.wait()

    done: list[str] = []

    def on_exploration(exploration: Exploration) -> None:
        done.append(exploration.seed.id)
        reported.set()

    store = HeldStore(driver, before_level)
    now = asyncio.get_running_loop().time()
    request = ExploreRequest(
        strategy=ALL.strategy,
        input=RunInput(seeds=(*web[:4], MISSING), scope=WEB_SCOPE, query_tags=()),
        started=now,
        until=now + LONG_S,
        hydrate_at=hydrate_at,
    )
    async with asyncio.timeout(HANG_S):
        await explore(store, request, Listener(on_exploration=on_exploration))
    assert done[0] == MISSING.id
    assert len(done) == 5


async def test_streamed_paths_are_those_of_the_explorations(
    web_retriever: GraphRetriever, web: tuple[Seed, ...]
) -> None:
    explorations = await collect(web_retriever, web, RetrieverConfig())
    for config in (RetrieverConfig(), ALL):
        stream = web_retriever.stream_paths(web, config=config, deadline_s=LONG_S)
        streamed = [path async for path in stream]
        expected = [path for found in explorations.values() for path in found.paths]
        assert sorted(streamed, key=lambda path: path.ids) == sorted(
            expected, key=lambda path: path.ids
        )
        assert {found.seed.id: content(found) for found in stream.result} == {
            seed: content(found) for seed, found in explorations.items()
        }


@pytest.mark.parametrize("config", [RetrieverConfig(), ALL], ids=["one session each", "shared"])
async def test_first_path_comes_before_its_exploration_is_over(
    driver: neo4j.AsyncDriver, scope: str, config: RetrieverConfig
) -> None:
    """The graph: s - leaf, and the chain s - a - b - c. Level 2 finds the leaf's end."""
    nodes = {name: Node(scope, name) for name in ("s", "leaf", "a", "b", "c")}
    pairs = [("s", "leaf"), ("s", "a"), ("a", "b"), ("b", "c")]
    edges = [Edge(source=nodes[one], target=nodes[other], weight=1.0) for one, other in pairs]
    await write(driver, {"": Graph(list(nodes.values()), edges)})
    arrived, let_go = asyncio.Event(), asyncio.Event()

    async def before_level(level: int, _: Mapping[str, Any]) -> None:
        if level == 3:
            arrived.set()
            await let_go.wait()

    held = held_retriever(driver, scope, before_level)
    seed = Seed(id="s", score=1.0)
    async with (
        asyncio.timeout(HANG_S),
        held.stream_paths([seed], config=config, deadline_s=LONG_S) as paths,
    ):
        first = await anext(paths)
        assert first.ids == ("s", "leaf")
        assert tuple(memory.id for memory in first.memories) == first.ids
        await arrived.wait()
        with pytest.raises(ClosedError):
            _ = paths.result
        let_go.set()
        assert [path.ids async for path in paths] == [("s", "a", "b", "c")]
        (exploration,) = paths.result
        assert exploration.status == "complete"


async def test_leaving_the_context_early_frees_everything_at_once(
    web_retriever: GraphRetriever, web: tuple[Seed, ...]
) -> None:
    tasks = asyncio.all_tasks()
    async with web_retriever.explore_seeds(web) as stream:
        async for _ in stream:
            break
    await assert_nothing_left(web_retriever, tasks)


async def test_a_plain_break_frees_everything_when_the_iterator_is_dropped(
    web_retriever: GraphRetriever, web: tuple[Seed, ...]
) -> None:
    tasks = asyncio.all_tasks()
    async for _ in web_retriever.stream_paths(web):
        break
    for _ in range(400):
        if asyncio.all_tasks() == tasks:
            break
        await asyncio.sleep(0.05)
    await assert_nothing_left(web_retriever, tasks)


@pytest.mark.parametrize("way", ["cancel", "leave", "deadline", "recall"])
async def test_nothing_is_left_after_stopping_at_random_points(
    web_retriever: GraphRetriever, web: tuple[Seed, ...], way: str
) -> None:
    tasks = asyncio.all_tasks()
    rng = random.Random(way)
    for _ in range(effort().stops):
        delay_s = rng.uniform(0.0, 0.15)
        config = rng.choice([RetrieverConfig(), ALL])
        if way == "deadline":
            stream = web_retriever.explore_seeds(web, config=config, deadline_s=delay_s + 1e-3)
            assert {found.seed.id async for found in stream} == {seed.id for seed in web}
        elif way == "leave":
            stop_after = rng.randrange(60)
            async with web_retriever.stream_paths(web, config=config) as paths:
                async for _ in paths:
                    stop_after -= 1
                    if stop_after < 0:
                        break
        else:
            consumer = asyncio.create_task(_consume(web_retriever, web, config, way))
            await asyncio.sleep(delay_s)
            consumer.cancel()
            await asyncio.wait([consumer])
        await assert_nothing_left(web_retriever, tasks)
    clean = await collect(web_retriever, web, ALL)
    assert all(found.status == "complete" for found in clean.values())


async def _consume(
    retriever: GraphRetriever, seeds: tuple[Seed, ...], config: RetrieverConfig, way: str
) -> None:
    if way == "recall":
        await retriever.recall("memory number 7 of the web")
    else:
        async for _ in retriever.explore_seeds(seeds, config=config):
            pass


def assert_begins(found: Exploration, whole: Exploration) -> None:
    """Each path is one of the whole exploration, or the beginning of one, and says so."""
    for path in found.paths:
        if path.end_reason != "truncated":
            assert path.hops in [other.hops for other in whole.paths]
            continue
        assert path.memories == () or tuple(node.id for node in path.memories) == path.ids
        count = len(path.hops)
        assert path.hops in [other.hops[:count] for other in whole.paths]
        assert path.energy == (path.hops[-1].energy_out if path.hops else found.seed.score)


@pytest.mark.parametrize("config", [RetrieverConfig(), ALL], ids=["one session each", "shared"])
@pytest.mark.parametrize("last_level", [1, 2])
async def test_deadline_delivers_what_there_is_and_says_truncated(
    driver: neo4j.AsyncDriver,
    web_retriever: GraphRetriever,
    web: tuple[Seed, ...],
    config: RetrieverConfig,
    last_level: int,
) -> None:
    """The next level is held for ever, so the deadline hits every exploration right there."""

    async def before_level(level: int, _: Mapping[str, Any]) -> None:
        if level > last_level:
            await asyncio.Event().wait()

    full = await collect(web_retriever, web, ALL)
    held = held_retriever(driver, WEB_SCOPE, before_level)
    stream = held.explore_seeds(web, config=config, deadline_s=DEADLINE_S)
    found = {exploration.seed.id: exploration async for exploration in stream}
    assert found.keys() == full.keys()
    for seed_id, exploration in found.items():
        assert (exploration.status, exploration.error) == ("truncated", None)
        assert exploration.stats.levels == last_level
        assert_begins(exploration, full[seed_id])
        cut = [path for path in exploration.paths if path.end_reason == "truncated"]
        assert cut
        assert {len(path.hops) for path in cut} == {last_level}
    assert held.store.sessions_in_use == 0


@pytest.mark.parametrize("config", [RetrieverConfig(), ALL], ids=["one session each", "shared"])
async def test_deadline_before_the_first_level_leaves_the_seed_at_most(
    driver: neo4j.AsyncDriver, web: tuple[Seed, ...], config: RetrieverConfig
) -> None:
    async def before_level(_: int, __: Mapping[str, Any]) -> None:
        await asyncio.Event().wait()

    held = held_retriever(driver, WEB_SCOPE, before_level)
    async for found in held.explore_seeds(web, config=config, deadline_s=0.05):
        assert (found.status, found.error, found.stats.levels) == ("truncated", None, 0)
        for path in found.paths:
            assert (path.ids, path.end_reason) == ((found.seed.id,), "truncated")
    assert held.store.sessions_in_use == 0


async def test_deadline_wherever_it_hits_leaves_beginnings_of_paths(
    web_retriever: GraphRetriever, web: tuple[Seed, ...]
) -> None:
    full = await collect(web_retriever, web, ALL)
    for config in (RetrieverConfig(), ALL):
        for deadline_s in (0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32):
            stream = web_retriever.explore_seeds(web, config=config, deadline_s=deadline_s)
            found = {exploration.seed.id: exploration async for exploration in stream}
            assert found.keys() == full.keys()
            for seed_id, exploration in found.items():
                assert exploration.status in ("truncated", "complete"), exploration.error
                assert_begins(exploration, full[seed_id])
                if exploration.status == "complete":
                    assert content(exploration) == content(full[seed_id])


@pytest.mark.parametrize("config", [RetrieverConfig(), ALL], ids=["one session each", "shared"])
async def test_a_failing_seed_never_loses_the_others(
    driver: neo4j.AsyncDriver,
    web_retriever: GraphRetriever,
    web: tuple[Seed, ...],
    config: RetrieverConfig,
) -> None:
    clean = await collect(web_retriever, web, ALL)
    broken = held_retriever(driver, WEB_SCOPE, failing_at(web[2].id))
    found = await collect(broken, web, config)
    assert isinstance(found[web[2].id].error, UnavailableError)
    assert found[web[2].id].status == "failed"
    for seed in web:
        if seed is not web[2]:
            assert content(found[seed.id]) == content(clean[seed.id])


async def test_a_seed_that_fails_late_keeps_the_paths_found_so_far(
    driver: neo4j.AsyncDriver, web_retriever: GraphRetriever, web: tuple[Seed, ...]
) -> None:
    clean = (await collect(web_retriever, web[:1], ALL))[web[0].id]
    deep = next(path for path in clean.paths if len(path.hops) >= 3)
    broken = held_retriever(driver, WEB_SCOPE, failing_at(deep.hops[1].target))
    delivered: list[Exploration] = []
    with pytest.raises(UnavailableError):
        await _read_into(delivered, broken.explore_seeds(web[:1], config=ALL, deadline_s=LONG_S))
    (found,) = delivered
    assert found.status == "failed"
    assert {path.end_reason for path in found.paths} >= {"truncated"}
    assert all(len(path.memories) == len(path.hops) + 1 for path in found.paths)

    received: list[Path] = []
    stream = broken.stream_paths(web[:1], deadline_s=LONG_S)
    with pytest.raises(UnavailableError):
        await _read_into(received, stream)
    assert sorted(path.ids for path in received) == sorted(path.ids for path in found.paths)


async def _read_into(received: list[Any], stream: Stream[Any, Any]) -> None:
    async for each in stream:
        received.append(each)  # noqa: PERF401  # what came before the error counts


async def test_two_sessions_serve_many_explorations_without_locking_up(
    driver: neo4j.AsyncDriver, web_retriever: GraphRetriever, web: tuple[Seed, ...]
) -> None:
    clean = await collect(web_retriever, web, ALL)
    narrow = GraphRetriever(driver, scope=WEB_SCOPE)
    narrow.store = Store(driver, database="neo4j", config=StoreConfig(max_sessions=2))

    async def paths() -> int:
        return len([path async for path in narrow.stream_paths(web, deadline_s=LONG_S)])

    counts = await asyncio.gather(*(paths() for _ in range(10)))
    assert set(counts) == {sum(len(found.paths) for found in clean.values())}


async def test_a_memory_deleted_before_its_text_is_read_ends_the_path_before_it(
    driver: neo4j.AsyncDriver, scope: str
) -> None:
    async with driver.session(database="neo4j") as session:
        result = await session.run(
            "UNWIND range(0, 2) AS i CREATE (:Memory {scope: $scope, id: 'm' + i, text: 't'}) "
            "WITH count(*) AS _ MATCH (a:Memory {scope: $scope, id: 'm0'}), "
            "(b:Memory {scope: $scope, id: 'm1'}), (c:Memory {scope: $scope, id: 'm2'}) "
            "CREATE (a)-[:RELATES {weight: 1.0}]->(b), (b)-[:RELATES {weight: 1.0}]->(c)",
            scope=scope,
        )
        await result.consume()

    class Deleting(Store):
        """A store that deletes a memory just before texts are read."""

        async def run(
            self, query: Query, parameters: Mapping[str, Any], *, until: float | None = None
        ) -> list[neo4j.Record]:
            if query.name == "graph.hydrate":
                async with driver.session(database="neo4j") as session:
                    gone = await session.run(
                        "MATCH (m:Memory {scope: $scope, id: 'm2'}) DETACH DELETE m", scope=scope
                    )
                    await gone.consume()
            return await super().run(query, parameters, until=until)

    retriever = GraphRetriever(driver, scope=scope)
    retriever.store = Deleting(driver, database="neo4j")
    # The text of a memory comes with the level that expands it: only the last is read alone.
    config = with_transfer(ALL, max_depth=2)
    found = await collect(retriever, (Seed(id="m0", score=1.0),), config)
    (path,) = found["m0"].paths
    assert path.ids == ("m0", "m1")
    assert path.end_reason == "truncated"
    assert path.energy == path.hops[-1].energy_out


@pytest.mark.parametrize("seeds", [1, 3])
async def test_a_dead_server_is_tried_as_often_as_documented_for_each_seed(seeds: int) -> None:
    tries = 0

    def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal tries
        tries += 1
        writer.close()

    config = StoreConfig(retry_base_s=0.001)
    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        uri = f"bolt://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with neo4j.AsyncGraphDatabase.driver(uri, auth=("neo4j", "x")) as driver:
            memory = GraphRetriever(Store(driver, database="neo4j", config=config), scope="s")
            asked = [Seed(id=f"m{number}", score=1.0) for number in range(seeds)]
            with suppress(UnavailableError):  # after the last
                async for each in memory.explore_seeds(asked):
                    assert isinstance(each.error, UnavailableError)
    assert tries == seeds * (1 + config.max_retries)
