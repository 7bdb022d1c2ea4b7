"""Results come as they finish, and leaving early leaves nothing behind."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import neo4j
import pytest

from memoria.config import ExploreConfig, StoreConfig
from memoria.errors import ClosedError, UnavailableError
from memoria.queries import Query
from memoria.retriever import GraphRetriever
from memoria.store import Session, Store
from memoria.stream import Stream
from memoria.types import Exploration, Path, Seed
from tests.integration.conftest import WEB_SCOPE

# A cancellation while the driver opens a connection leaves the socket to the garbage collector,
# which closes it and warns (neo4j driver 6.4, 2026-11: `_connect_secure` catches Exception only).
pytestmark = pytest.mark.filterwarnings(
    r"ignore:Exception ignored in. <socket\.socket:pytest.PytestUnraisableExceptionWarning"
)

ALL = ExploreConfig(seeds_per_session=5)
MISSING = Seed(id="nobody", score=1.0)


@pytest.fixture
def web_retriever(driver: neo4j.AsyncDriver) -> GraphRetriever:
    """A retriever on the web graph, with a store of its own to look into."""
    return GraphRetriever(driver, scope=WEB_SCOPE)


async def our_transactions(driver: neo4j.AsyncDriver) -> list[str]:
    """What the server is still running for memoria."""
    async with driver.session(database="system") as session:
        result = await session.run(
            "SHOW TRANSACTIONS YIELD metaData, transactionId WHERE metaData.app = 'memoria' "
            "RETURN transactionId"
        )
        return [record["transactionId"] async for record in result]


async def assert_nothing_left(retriever: GraphRetriever, tasks: set[asyncio.Task[Any]]) -> None:
    """No task, no session in use, and within a second no transaction."""
    await asyncio.sleep(0)
    assert retriever.store.sessions_in_use == 0
    assert asyncio.all_tasks() - tasks == set()
    for _ in range(20):
        if not await our_transactions(retriever.store.driver):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"still running: {await our_transactions(retriever.store.driver)}")


async def collect(
    retriever: GraphRetriever, seeds: tuple[Seed, ...], config: ExploreConfig
) -> dict[str, Exploration]:
    return {found.seed.id: found async for found in retriever.explore_seeds(seeds, config=config)}


def content(exploration: Exploration) -> tuple[Any, ...]:
    """All of an exploration but what it cost."""
    return exploration.seed, exploration.status, exploration.paths, exploration.error


async def test_explorations_come_as_they_finish(
    web_retriever: GraphRetriever, web: tuple[Seed, ...]
) -> None:
    order = [found.seed.id async for found in web_retriever.explore_seeds([*web, MISSING])]
    assert sorted(order) == sorted(seed.id for seed in [*web, MISSING])
    assert order.index("nobody") < len(web), "one level is over long before five are"


async def test_streamed_paths_are_those_of_the_explorations(
    web_retriever: GraphRetriever, web: tuple[Seed, ...]
) -> None:
    explorations = await collect(web_retriever, web, ExploreConfig())
    for config in (ExploreConfig(), ALL):
        stream = web_retriever.stream_paths(web, config=config)
        streamed = [path async for path in stream]
        expected = [path for found in explorations.values() for path in found.paths]
        assert sorted(streamed, key=lambda path: path.ids) == sorted(
            expected, key=lambda path: path.ids
        )
        assert {found.seed.id: content(found) for found in stream.result} == {
            seed: content(found) for seed, found in explorations.items()
        }


async def test_first_path_comes_before_its_exploration_is_over(
    web_retriever: GraphRetriever, web: tuple[Seed, ...]
) -> None:
    async with web_retriever.stream_paths(web[:1]) as stream:
        async for path in stream:
            assert [node.id for node in path.memories] == list(path.ids)
            with pytest.raises(ClosedError):
                _ = stream.result
            break


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
    for _ in range(20):
        if asyncio.all_tasks() == tasks:
            break
        await asyncio.sleep(0.05)
    await assert_nothing_left(web_retriever, tasks)


@pytest.mark.parametrize("way", ["cancel", "leave", "deadline", "recall"])
async def test_nothing_is_left_after_stopping_at_fifty_random_points(
    web_retriever: GraphRetriever, web: tuple[Seed, ...], way: str
) -> None:
    tasks = asyncio.all_tasks()
    rng = random.Random(way)
    for _ in range(50):
        delay_s = rng.uniform(0.0, 0.15)
        config = rng.choice([ExploreConfig(), ALL])
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
    retriever: GraphRetriever, seeds: tuple[Seed, ...], config: ExploreConfig, way: str
) -> None:
    if way == "recall":
        await retriever.recall("memory number 7 of the web")
    else:
        async for _ in retriever.explore_seeds(seeds, config=config):
            pass


async def test_deadline_delivers_what_there_is_and_says_truncated(
    web_retriever: GraphRetriever, web: tuple[Seed, ...]
) -> None:
    full = await collect(web_retriever, web, ALL)
    statuses, cut_paths = set(), 0
    for deadline_s in (0.002, 0.01, 0.02, 0.04, 0.08, 0.16, 5.0):
        async for found in web_retriever.explore_seeds(web, config=ALL, deadline_s=deadline_s):
            statuses.add(found.status)
            assert found.status in ("truncated", "complete")
            known = full[found.seed.id].paths
            for path in found.paths:
                whole = [other for other in known if other.hops[: len(path.hops)] == path.hops]
                assert whole, "a branch cut short is the beginning of a whole one"
                cut_paths += path.end_reason == "truncated"
    assert statuses == {"truncated", "complete"}
    assert cut_paths > 0


class FailingStore(Store):
    """A store whose level queries fail when a given memory is in the frontier."""

    def __init__(self, driver: neo4j.AsyncDriver, poison: str) -> None:
        super().__init__(driver, database="neo4j", config=StoreConfig(max_retries=0))
        self.poison = poison

    @asynccontextmanager
    async def session(
        self,
        mode: Literal["read", "write"] = "read",
        *,
        until: float | None = None,
        transactions: Literal["auto", "managed"] = "auto",
    ) -> AsyncIterator[Session]:
        async with super().session(mode, until=until, transactions=transactions) as session:
            yield _FailingSession(session, self.poison)


class _FailingSession(Session):
    def __init__(self, session: Session, poison: str) -> None:
        self._inner, self._poison = session, poison

    async def run(self, query: Query, parameters: Mapping[str, Any]) -> list[neo4j.Record]:
        if any(row[1] == self._poison for row in parameters.get("frontier", ())):
            raise UnavailableError("the server went away", query=query.name)
        return await self._inner.run(query, parameters)


@pytest.mark.parametrize("config", [ExploreConfig(), ALL], ids=["one session each", "shared"])
async def test_a_failing_seed_never_loses_the_others(
    driver: neo4j.AsyncDriver,
    web_retriever: GraphRetriever,
    web: tuple[Seed, ...],
    config: ExploreConfig,
) -> None:
    clean = await collect(web_retriever, web, ALL)
    broken = GraphRetriever(driver, scope=WEB_SCOPE)
    broken.store = FailingStore(driver, poison=web[2].id)
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
    broken = GraphRetriever(driver, scope=WEB_SCOPE)
    broken.store = FailingStore(driver, poison=deep.hops[1].target)
    found = (await collect(broken, web[:1], ALL))[web[0].id]
    assert found.status == "failed"
    assert {path.end_reason for path in found.paths} >= {"truncated"}
    assert all(len(path.memories) == len(path.hops) + 1 for path in found.paths)

    received: list[Path] = []
    stream = broken.stream_paths(web[:1])
    with pytest.raises(UnavailableError):
        await _read_into(received, stream)
    assert sorted(path.ids for path in received) == sorted(path.ids for path in found.paths)


async def _read_into(received: list[Path], stream: Stream[Path, Any]) -> None:
    async for path in stream:
        received.append(path)  # noqa: PERF401  # what came before the error counts


async def test_two_sessions_serve_many_explorations_without_locking_up(
    driver: neo4j.AsyncDriver, web_retriever: GraphRetriever, web: tuple[Seed, ...]
) -> None:
    clean = await collect(web_retriever, web, ALL)
    narrow = GraphRetriever(driver, scope=WEB_SCOPE)
    narrow.store = Store(driver, database="neo4j", config=StoreConfig(max_sessions=2))

    async def paths() -> int:
        return len([path async for path in narrow.stream_paths(web, deadline_s=60)])

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
            if query.name == "explore.hydrate":
                async with driver.session(database="neo4j") as session:
                    gone = await session.run(
                        "MATCH (m:Memory {scope: $scope, id: 'm2'}) DETACH DELETE m", scope=scope
                    )
                    await gone.consume()
            return await super().run(query, parameters, until=until)

    retriever = GraphRetriever(driver, scope=scope)
    retriever.store = Deleting(driver, database="neo4j")
    found = await collect(retriever, (Seed(id="m0", score=1.0),), ALL)
    (path,) = found["m0"].paths
    assert path.ids == ("m0", "m1")
    assert path.end_reason == "truncated"
    assert path.energy == path.hops[-1].energy_out
