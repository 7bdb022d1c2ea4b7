"""A cluster whose members are lost, elected and left behind while memoria recalls, writes, learns.

Its members are scripted, the database behind them is real: see ``tests.cluster.members``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import neo4j
import pytest

from memoria.errors import UnavailableError
from memoria.ingest.reembed.passes import await_transactions
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.types import Memory, Recall, Relation
from tests.cluster.conftest import (
    CAUSES,
    CHAIN,
    MEMORIES,
    PATIENT,
    QUESTION,
    UNHURRIED,
    routed,
)
from tests.cluster.members import Cluster, Member, Moment

NEW = Memory(id="new", kind="Event", text="The flour was wet")


def shape(recall: Recall) -> Any:
    """Return what a recall found: its paths with their energies, its ranking, its text."""
    paths = {path.ids: path.energy for found in recall.explorations for path in found.paths}
    return paths, [entry.memory.id for entry in recall.ranked], recall.context.text


def direct(driver: neo4j.AsyncDriver, memory: GraphRetriever) -> GraphRetriever:
    """Return a retriever for the same scope on the real server, without the members."""
    return GraphRetriever(Store(driver, config=PATIENT), scope=memory.scope, config=memory.config)


def replaced(cluster: Cluster) -> Callable[[Member], None]:
    """Return a step that makes another member the leader."""

    def step(_: Member) -> None:
        cluster.elect(next(each for each in cluster.followers if each.listed))

    return step


async def weight(driver: neo4j.AsyncDriver, scope: str) -> float:
    """Return the weight of the first edge of the chain."""
    around = await GraphRetriever(driver, scope=scope).neighbours("m0")
    return next(each.weight for each in around.neighbours if each.memory.id == "m1")


# --- where queries go -----------------------------------------------------------------------------


async def test_reads_go_to_followers_and_writes_to_the_leader(
    cluster: Cluster, memory: GraphRetriever, driver: neo4j.AsyncDriver
) -> None:
    recall = await memory.recall(QUESTION)
    await memory.learner().reinforce(recall.trace, ["m3"])
    where = {
        mode: {each.member for each in cluster.journal if each.mode == mode and each.query}
        for mode in ("read", "write")
    }
    assert where["write"] == {"one"}
    assert where["read"] <= {"two", "three"}
    assert {each.query for each in cluster.journal} >= {
        "ingest.memories",
        "strategies.level",
        "learn.reinforce",
    }
    assert (await weight(driver, memory.scope)) > 0.9


async def test_transactions_that_are_waited_for_are_those_of_the_leader(
    cluster: Cluster, store: Store
) -> None:
    """Writes run there, and each member lists its own transactions only."""
    await await_transactions(store)
    assert {each.member for each in cluster.asked("ingest.reembed.transactions")} == {"one"}


async def test_a_recall_through_members_is_that_of_the_server(
    cluster: Cluster, memory: GraphRetriever, driver: neo4j.AsyncDriver
) -> None:
    found = shape(await memory.recall(QUESTION))
    assert found == shape(await direct(driver, memory).recall(QUESTION))
    assert all(text in found[2] for text in CHAIN)
    assert len(cluster.asked("strategies.level")) > 1


# --- bookmarks ------------------------------------------------------------------------------------


async def test_a_follower_that_is_behind_waits_until_it_has_what_was_written(
    cluster: Cluster, memory: GraphRetriever
) -> None:
    for member in cluster.followers:
        member.fall_behind()
    await memory.writer().write([NEW])
    before = len(cluster.journal)
    async with asyncio.TaskGroup() as tasks:
        found = tasks.create_task(memory.find_seeds("flour"))
        await _waits(cluster, before)
        assert not found.done()
        for member in cluster.followers:
            await member.catch_up()
    assert [seed.id for seed in found.result().seeds] == ["new"]
    assert not any(each.stale for each in cluster.journal)


async def test_bookmarks_are_shared_by_scopes_stores_writers_and_learners_of_a_driver(
    cluster: Cluster, memory: GraphRetriever
) -> None:
    second = GraphRetriever(Store(memory.store.driver, config=PATIENT), scope=memory.scope)
    other = memory.for_scope(f"{memory.scope}-other")
    writes: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: memory.writer().write([NEW]),
        lambda: memory.learner().strengthen_edge("m0", "m2"),
        lambda: other.writer().write([NEW]),
    )
    for write in writes:
        for reader in (memory, second, other):
            await write()
            for member in cluster.followers:
                member.fall_behind(by=1)
            before = len(cluster.journal)
            reading = asyncio.create_task(reader.get(["m0"]))
            await _waits(cluster, before)
            assert not reading.done()
            for member in cluster.followers:
                await member.catch_up()
            await reading
    assert not any(each.stale for each in cluster.journal)


async def _waits(cluster: Cluster, after: int) -> None:
    """Return once a member waits, for a request that came after so many others."""
    async with asyncio.timeout(60), cluster.moved:
        await cluster.moved.wait_for(lambda: any(each.waited for each in cluster.journal[after:]))


async def test_another_driver_sees_what_was_written_once_it_follows_the_bookmarks(
    cluster: Cluster, memory: GraphRetriever
) -> None:
    async with routed(cluster) as elsewhere:
        stranger = GraphRetriever(elsewhere, scope=memory.scope)
        for member in cluster.followers:
            member.fall_behind()
        await memory.writer().write([NEW])
        await stranger.get(["new"])
        assert cluster.journal[-1].stale
        elsewhere.follow(memory.store.bookmarks)
        before = len(cluster.journal)
        asking = asyncio.create_task(stranger.get(["new"]))
        await _waits(cluster, before)
        assert not asking.done()
        for member in cluster.followers:
            await member.catch_up()
        assert [each.id for each in (await asking).memories] == ["new"]
        assert cluster.journal[-1].waited
        assert not cluster.journal[-1].stale
        assert elsewhere.bookmarks == memory.store.bookmarks


async def test_where_a_follower_does_not_catch_up_another_one_answers(
    cluster: Cluster, memory: GraphRetriever
) -> None:
    cluster.bookmark_timeout_s = 0.05
    late, _ = cluster.followers
    late.fall_behind()
    await memory.writer().write([NEW])
    for _ in range(40):  # the driver takes one of the followers by chance
        assert (await memory.get(["new"])).memories
        if any(each.member == late.name and each.waited for each in cluster.journal):
            break
    else:
        pytest.fail("the late follower was not asked")
    assert not any(each.stale for each in cluster.journal)


# --- a leader that changes ------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["ingest.memories", "ingest.relations"])
@pytest.mark.parametrize("moment", ["asked", "running"])
async def test_a_leader_that_changes_during_a_write_costs_a_retry(
    cluster: Cluster, store: Store, scope: str, query: str, moment: Moment
) -> None:
    changed = cluster.on(query, replaced(cluster), moment=moment)
    memory = GraphRetriever(store, scope=scope, config=UNHURRIED)
    report = await memory.writer().write(MEMORIES, CAUSES)
    assert changed.is_set()
    assert (report.memories_created, report.relations_created) == (len(MEMORIES), len(CAUSES))
    assert len(cluster.asked(query)) == 2
    assert shape(await memory.recall(QUESTION))[1][0] == "m0"


async def test_a_write_waits_for_the_election_of_a_leader(
    cluster: Cluster, memory: GraphRetriever
) -> None:
    first, second, _ = cluster.members.values()
    await first.lose()
    cluster.elect(None)
    cluster.later(1.5, lambda: cluster.elect(second))
    report = await memory.writer().write([NEW])
    assert report.memories_created == 1
    assert cluster.asked("ingest.memories")[-1].member == "two"


async def test_a_write_without_a_leader_ends_when_its_time_is_up(cluster: Cluster) -> None:
    config = StoreConfig(query_timeout_s=1.0, long_query_timeout_s=1.0)
    async with routed(cluster, config) as store:
        await GraphRetriever(store.patient(60.0), scope="any").server_facts()
        cluster.elect(None)
        with pytest.raises(UnavailableError):
            async with asyncio.timeout(30):
                await GraphRetriever(store, scope="any").writer().write([NEW])
        assert store.sessions_in_use == 0


@pytest.mark.parametrize("moment", ["asked", "running", "committed"])
async def test_a_leader_that_is_lost_during_a_write_leaves_every_memory_once(
    cluster: Cluster, memory: GraphRetriever, moment: Moment, driver: neo4j.AsyncDriver
) -> None:
    lost = cluster.on("ingest.memories", _lost_and_replaced(cluster), moment=moment)
    await memory.writer().write([NEW], [Relation(source="m0", target="new", relation="caused_by")])
    assert lost.is_set()
    found = direct(driver, memory)
    assert [each.id for each in (await found.get(["new"])).memories] == ["new"]
    around = await found.neighbours("new")
    assert [each.memory.id for each in around.neighbours] == ["m0"]


@pytest.mark.parametrize("moment", ["asked", "running", "committed"])
@pytest.mark.parametrize("how", ["lost", "replaced"])
async def test_learning_is_applied_once_whatever_becomes_of_the_leader(
    cluster: Cluster,
    memory: GraphRetriever,
    driver: neo4j.AsyncDriver,
    moment: Moment,
    how: Literal["lost", "replaced"],
) -> None:
    step = _lost_and_replaced(cluster) if how == "lost" else replaced(cluster)
    recall = await memory.recall(QUESTION)
    learner = memory.learner()
    happened = cluster.on("learn.reinforce", step, moment=moment)
    await learner.reinforce(recall.trace, ["m1"])
    assert happened.is_set()
    assert await weight(driver, memory.scope) == pytest.approx(0.9 + learner.config.increment)


def _lost_and_replaced(cluster: Cluster) -> Callable[[Member], Any]:
    """Return a step that loses the leader; others agree on a new one a moment later."""

    async def step(member: Member) -> None:
        successor = cluster.followers[0]
        cluster.elect(None)
        cluster.later(0.2, lambda: cluster.elect(successor))
        await member.lose()

    return step


# --- a follower that is lost ----------------------------------------------------------------------

READS = ["seeds.text", "strategies.level", "ranking.candidates"]


@pytest.mark.parametrize("query", READS)
@pytest.mark.parametrize("moment", ["asked", "running"])
async def test_a_member_that_is_lost_during_a_recall_changes_nothing(
    cluster: Cluster, memory: GraphRetriever, query: str, moment: Moment
) -> None:
    before = await memory.recall(QUESTION)
    lost = cluster.on(query, Member.lose, moment=moment)
    recall = await memory.recall(QUESTION)
    assert lost.is_set()
    assert shape(recall) == shape(before)
    assert recall.trace.degraded == before.trace.degraded


async def test_a_member_that_is_lost_during_a_stream_changes_nothing(
    cluster: Cluster, memory: GraphRetriever
) -> None:
    before = await memory.recall(QUESTION)
    lost = cluster.on("strategies.level", Member.lose, moment="running")
    paths = {path.ids async for path in memory.recall_stream(QUESTION)}
    assert lost.is_set()
    assert paths == set(shape(before)[0])


async def test_a_recall_goes_on_while_nobody_leads(
    cluster: Cluster, memory: GraphRetriever
) -> None:
    before = shape(await memory.recall(QUESTION))
    leader = cluster.leader
    cluster.elect(None)
    if leader is not None:
        await leader.lose()
    assert shape(await memory.recall(QUESTION)) == before


async def test_a_member_that_comes_back_is_asked_again(
    cluster: Cluster, memory: GraphRetriever
) -> None:
    first, *rest = cluster.followers
    for member in rest:
        await member.lose()
    for _ in range(3):
        await memory.get(["m0"])
    for member in rest:
        await member.start()
    await first.lose()
    before = len(cluster.journal)
    assert (await memory.get(["m0"])).memories
    assert {each.member for each in cluster.journal[before:]} <= {each.name for each in rest}


# --- one server that routes -----------------------------------------------------------------------


async def test_a_single_server_is_reached_by_an_address_that_routes(
    target: Target, driver: neo4j.AsyncDriver, scope: str
) -> None:
    routing = Target(uri=target.uri.replace("bolt://", "neo4j://"), auth=target.auth)
    async with open_driver(routing, PATIENT) as opened:
        memory = GraphRetriever(Store(opened, config=PATIENT), scope=scope, config=UNHURRIED)
        assert memory.store.bookmarks == ()
        report = await memory.writer().write(MEMORIES)
        assert report.memories_created == len(MEMORIES)
        written = memory.store.bookmarks
        assert written
        recall = await memory.recall(QUESTION)
        await memory.learner().reinforce(recall.trace, ["m0"])
        assert memory.store.bookmarks != written
        assert shape(recall)[1] == shape(await direct(driver, memory).recall(QUESTION))[1]
        async with open_driver(routing) as other:
            follower = Store(other)
            follower.follow(memory.store.bookmarks)
            assert (await GraphRetriever(follower, scope=scope).get(["m0"])).memories
