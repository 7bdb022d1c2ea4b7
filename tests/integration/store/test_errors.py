"""Faults of the real server, in memoria's terms."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import AsyncIterator
from typing import Any, cast

import neo4j
import pytest

from memoria._support.stream import Stream
from memoria.connection import connect
from memoria.errors import (
    AuthError,
    BudgetError,
    ClosedError,
    ConfigError,
    DeadlineError,
    DimensionError,
    IndexNotReadyError,
    InvalidInputError,
    MemoriaError,
    OverloadedError,
    QueryError,
    UnavailableError,
)
from memoria.recall.config import RetrieverConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver, translate
from memoria.store.config import StoreConfig
from memoria.store.queries import Query, load, parse
from memoria.types import Exploration, MemoryFilter, Seed
from memoria.types.validity import Validity
from tests.for_each import for_each
from tests.servers import is_local

SECRET = "the cat is called Wednesday"
PASSWORD = "not-the-password-Thursday"

# Well below every limit that a call is not meant to reach; far above what a loaded machine needs.
SOON_S = 4.5
# When a test gives up waiting.
HANG_S = 60.0

SLOW = "UNWIND range(1, 1000000000) AS i WITH i WHERE i % 7 = 8 RETURN count(i) AS x"
HUNGRY = "UNWIND range(1, 2000000) AS i WITH DISTINCT i RETURN count(i) AS x"


def query(text: str, *, params: str = "", mode: str = "read") -> Query:
    """A query as its file would state it."""
    head = f"// name: test.fault\n// mode: {mode}\n// params: {params}\n// returns: x\n"
    return parse(head + text, "test.fault")


@pytest.fixture
def nobody_listens() -> str:
    """Address of a port that is closed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"bolt://127.0.0.1:{free.getsockname()[1]}"


async def in_use(store: Store) -> list[str]:
    """Names of memoria's queries that the server is running."""
    rows = await store.run(
        query("SHOW TRANSACTIONS YIELD metaData RETURN collect(metaData.query) AS x"), {}
    )
    return [name for name in rows[0]["x"] if name == "test.fault"][1:]


# --- no server, no entry --------------------------------------------------------------------------


async def test_server_that_is_down_is_unavailable_within_two_seconds(nobody_listens: str) -> None:
    """The best of three: the machine may be busy with something else for a while."""
    took_s = []
    for _ in range(3):
        start = time.perf_counter()
        with pytest.raises(UnavailableError, match=r"`memoria up`.*127\.0\.0\.1") as caught:
            async with connect(nobody_listens, ("neo4j", PASSWORD), scope="s"):
                pass
        took_s.append(time.perf_counter() - start)
        assert caught.value.retryable
        assert PASSWORD not in str(caught.value)
    assert min(took_s) < 2


async def _read_into(found: list[Exploration], stream: Stream[Exploration, None]) -> None:
    async for each in stream:
        found.append(each)  # noqa: PERF401  # what came before the error counts


async def test_server_that_is_down_fails_each_call_alike(nobody_listens: str) -> None:
    async with open_driver(
        Target(uri=nobody_listens, auth=None, database="neo4j"), StoreConfig()
    ) as driver:
        retriever = GraphRetriever(driver, scope="s")
        for call in (retriever.find_seeds("a question"), retriever.recall("a question")):
            with pytest.raises(UnavailableError):
                await call
        seeds = [Seed(id="a", score=1.0), Seed(id="b", score=0.5)]
        found: list[Exploration] = []
        with pytest.raises(UnavailableError):
            await _read_into(found, retriever.explore_seeds(seeds))
        assert [each.status for each in found] == ["failed"] * 2, "delivered before the error"
        assert all(isinstance(each.error, UnavailableError) for each in found)
        with pytest.raises(UnavailableError):
            await anext(retriever.stream_paths([Seed(id="a", score=1.0)]))


async def test_wrong_password_is_an_auth_error_and_not_retried(
    target: Target, caplog: pytest.LogCaptureFixture
) -> None:
    """As a user who does not exist: the server locks a real one out after three tries."""
    caplog.set_level(logging.INFO, logger="memoria")
    with pytest.raises(AuthError, match="check user and password") as caught:
        async with connect(target.uri, ("nobody", PASSWORD), scope="s"):
            pass
    assert not caplog.records, "no retry was logged"
    assert not caught.value.retryable
    assert PASSWORD not in str(caught.value)
    async with open_driver(Target(uri=target.uri, auth=("nobody", PASSWORD))) as driver:
        retriever = GraphRetriever(driver, scope="s")
        with pytest.raises(AuthError, match="check user and password"):
            await _read_into([], retriever.explore_seeds([Seed(id="a", score=1.0)]))


async def test_too_many_wrong_passwords_are_told_from_a_wrong_one(
    target: Target, driver: neo4j.AsyncDriver, scope: str
) -> None:
    """As a user of the test's own: the server locks out only who exists, for five seconds."""
    create = "CREATE USER $name SET PASSWORD $password CHANGE NOT REQUIRED"
    await driver.execute_query(create, name=scope, password=f"{scope}-right", database_="system")
    wrong = Target(uri=target.uri, auth=(scope, PASSWORD), database="neo4j")
    refused = []
    try:
        for _ in range(5):
            async with open_driver(wrong, StoreConfig()) as other:
                with pytest.raises(AuthError, match="check user and password") as caught:
                    await Store(other, database="neo4j").run(query("RETURN 1 AS x"), {})
            refused.append(str(caught.value))
    finally:
        await driver.execute_query("DROP USER $name", name=scope, database_="system")
    assert "credentials refused: " in refused[0]
    assert any("credentials refused too often: wait some seconds" in text for text in refused)


async def test_unknown_database_is_a_config_error(driver: neo4j.AsyncDriver) -> None:
    with pytest.raises(ConfigError, match="the database does not exist"):
        await Store(driver, database="nowhere").run(query("RETURN 1 AS x"), {})


@pytest.mark.parametrize("uri", ["ftp://127.0.0.1:7687", "nonsense", "", "bolt://"])
async def test_address_of_another_kind_is_refused(uri: str) -> None:
    with pytest.raises(MemoriaError) as caught:
        async with open_driver(
            Target(uri=uri, auth=None, database="neo4j"), StoreConfig(max_retries=0)
        ) as driver:
            await Store(driver, database="neo4j").run(query("RETURN 1 AS x"), {})
    assert isinstance(caught.value, ConfigError | UnavailableError)


# --- queries that the server refuses --------------------------------------------------------------


async def test_write_in_a_read_session_is_refused(store: Store, scope: str) -> None:
    with pytest.raises(QueryError, match="read access mode"):
        await store.run(
            query("CREATE (m:Memory {scope: $p.scope, id: 'a'}) RETURN 1 AS x", params="scope"),
            {"scope": scope},
        )
    count = query("MATCH (m:Memory {scope: $p.scope}) RETURN count(m) AS x", params="scope")
    assert (await store.run(count, {"scope": scope}))[0]["x"] == 0


async def test_write_in_a_write_session_is_taken(store: Store, scope: str) -> None:
    text = "CREATE (m:Memory {scope: $p.scope, id: 'a'}) RETURN 1 AS x"
    await store.run(query(text, params="scope", mode="write"), {"scope": scope})
    with pytest.raises(QueryError) as caught:
        await store.run(query(text, params="scope", mode="write"), {"scope": scope})
    assert "ConstraintValidationFailed" in str(caught.value)
    assert scope not in str(caught.value), "the server's words quote the values"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("RETRUN 1 AS x", "Invalid input 'RETRUN'"),
        ("CALL db.nothing() YIELD x RETURN x", "ProcedureNotFound"),
        ("RETURN 1 / 0 AS x", "ArithmeticError"),
        ("RETURN date('no date') AS x", "SyntaxError"),
    ],
)
async def test_query_that_the_server_cannot_run_is_a_query_error(
    store: Store, text: str, words: str
) -> None:
    with pytest.raises(QueryError, match=r"^the server refused .*\btest\.fault\b") as caught:
        await store.run(query(text), {})
    assert words in str(caught.value)
    assert caught.value.query == "test.fault"
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("RETURN date($p.v) AS x", SECRET),
        ("RETURN toInteger([$p.v]) AS x", SECRET),
        (
            "CALL db.index.fulltext.queryNodes('memory_text', $p.v) YIELD node "
            "RETURN count(node) AS x",
            f"{SECRET} ((",
        ),
        ("RETURN vector.similarity.cosine([1.0], $p.v) AS x", [SECRET]),
    ],
)
async def test_refusal_never_quotes_a_value(store: Store, text: str, value: Any) -> None:
    with pytest.raises(QueryError) as caught:
        await store.run(query(text, params="v"), {"v": value})
    assert "Wednesday" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "CALL db.index.vector.queryNodes('nothing', 5, [1.0]) YIELD node RETURN count(node) AS x",
        "CALL db.index.fulltext.queryNodes('nothing', 'a') YIELD node RETURN count(node) AS x",
    ],
)
async def test_missing_index_says_what_to_run(store: Store, text: str) -> None:
    with pytest.raises(IndexNotReadyError, match="memoria init"):
        await store.run(query(text), {})


async def test_vector_of_another_size_is_a_dimension_error(store: Store, scope: str) -> None:
    parameters = {
        **MemoryFilter().parameters,
        "held": Validity().held,
        "limit": 5,
        "scope": scope,
        "vector": [0.5, 0.5],
    }
    with pytest.raises(DimensionError, match="another size"):
        await store.run(load("seeds.vector_procedure"), parameters)


# --- time -----------------------------------------------------------------------------------------


async def test_query_that_takes_too_long_is_ended_on_both_sides(driver: neo4j.AsyncDriver) -> None:
    store = Store(driver, database="neo4j", config=StoreConfig(query_timeout_s=0.3))
    start = time.perf_counter()
    with pytest.raises(DeadlineError, match=r"took longer .*\(test\.fault\)"):
        await store.run(query(SLOW), {})
    assert time.perf_counter() - start < SOON_S
    assert store.sessions_in_use == 0
    patient = Store(driver, database="neo4j")
    for _ in range(400):
        if not await in_use(patient):
            break
        await asyncio.sleep(0.05)
    assert not await in_use(patient)
    assert (await patient.run(query("RETURN 1 AS x"), {}))[0]["x"] == 1


async def test_deadline_of_a_call_counts_below_the_limit_of_a_query(store: Store) -> None:
    loop = asyncio.get_running_loop()
    start = loop.time()
    with pytest.raises(DeadlineError):
        await store.run(query(SLOW), {}, until=start + 0.2)
    assert loop.time() - start < SOON_S


async def test_servers_own_time_limit_is_a_deadline_too(store: Store) -> None:
    # Past the client's clock on purpose: the server must end it by itself.
    statement = neo4j.Query(cast(Any, SLOW), timeout=0.2)
    async with store.driver.session() as session:

        async def past_the_clock() -> None:
            await (await session.run(statement)).consume()

        with pytest.raises(neo4j.exceptions.Neo4jError) as caught:
            await past_the_clock()
    assert type(translate(caught.value)) is DeadlineError


@pytest.mark.parametrize("transactions", ["auto", "managed"])
async def test_deadline_holds_in_both_transaction_modes(store: Store, transactions: Any) -> None:
    own = Store(store.driver, config=StoreConfig(transactions=transactions))
    loop = asyncio.get_running_loop()
    start = loop.time()
    async with own.session(until=start + 0.3) as session:
        with pytest.raises(DeadlineError):
            await session.run(query(SLOW), {})
    assert loop.time() - start < SOON_S


async def test_callers_are_served_in_order_and_told_when_there_is_no_room(
    driver: neo4j.AsyncDriver,
) -> None:
    """Two callers hold both sessions until all who would not wait for ever have gone."""
    store = Store(driver, database="neo4j", config=StoreConfig(max_sessions=2))
    patient = [0, 1, *range(6, 50, 6)]
    hurried = [number for number in range(50) if number not in patient]
    until = asyncio.get_running_loop().time() + 0.2
    served: list[int] = []
    leave = asyncio.Event()

    async def caller(number: int) -> int:
        async with store.session(until=None if number in patient else until) as session:
            served.append(number)
            await leave.wait()
            records = await session.run(query("RETURN $p.n AS x", params="n"), {"n": number})
            return int(records[0]["x"])

    async with asyncio.timeout(HANG_S):
        calls = [asyncio.create_task(caller(number)) for number in range(50)]
        refused = await asyncio.gather(
            *(calls[number] for number in hurried), return_exceptions=True
        )
        assert [type(error) for error in refused] == [OverloadedError] * 40
        assert served == [0, 1]
        assert store.sessions_in_use == 2
        leave.set()
        assert await asyncio.gather(*(calls[number] for number in patient)) == patient
        assert served == patient
        assert store.sessions_in_use == 0
        assert (await store.run(query("RETURN 1 AS x"), {}))[0]["x"] == 1


async def test_session_that_is_given_back_goes_to_the_first_who_waits(
    driver: neo4j.AsyncDriver,
) -> None:
    store = Store(driver, database="neo4j", config=StoreConfig(max_sessions=2))
    leave = [asyncio.Event() for _ in range(20)]
    came: asyncio.Queue[int] = asyncio.Queue()

    async def caller(number: int) -> None:
        async with store.session():
            came.put_nowait(number)
            await leave[number].wait()

    async with asyncio.timeout(HANG_S), asyncio.TaskGroup() as callers:
        for number in range(20):
            callers.create_task(caller(number))
        assert [await came.get(), await came.get()] == [0, 1]
        # The second always stays a while longer: whoever leaves, the next in line comes.
        for leaving, coming in zip([1, 0, *range(2, 18)], range(2, 20), strict=True):
            assert came.empty()
            leave[leaving].set()
            assert await came.get() == coming
        for event in leave:
            event.set()
    assert store.sessions_in_use == 0


async def test_two_hundred_callers_on_two_sessions_are_all_served(
    driver: neo4j.AsyncDriver,
) -> None:
    store = Store(driver, database="neo4j", config=StoreConfig(max_sessions=2))
    one = query("RETURN $p.n AS x", params="n")
    rows = await asyncio.gather(*(store.run(one, {"n": n}) for n in range(200)))
    assert [row[0]["x"] for row in rows] == list(range(200))


# --- memory ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
async def tight(request: pytest.FixtureRequest, server_version: str) -> AsyncIterator[Store]:
    """A store on a server of its own that allows a transaction 8 MB, and all together 24 MB."""
    if not is_local(request.config.getoption("--neo4j")):
        pytest.skip("2026-11-21: needs a server whose memory limits the test can set")
    from memoria.local import LocalNeo4j

    limits = {
        "db.memory.transaction.max": "8m",
        "dbms.memory.transaction.total.max": "24m",
    }
    async with LocalNeo4j.ephemeral(extra_settings=limits, version=server_version) as server:
        own = Target(uri=server.uri, auth=server.auth, database="neo4j")
        async with open_driver(own, StoreConfig()) as driver:
            yield Store(driver, database="neo4j")


async def test_query_over_its_memory_limit_is_a_budget_error_and_not_retried(
    tight: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="memoria")
    with pytest.raises(BudgetError, match="max_branches") as caught:
        await tight.run(query(HUNGRY), {})
    assert not caught.value.retryable
    assert not caplog.records, "no retry was logged"
    assert (await tight.run(query("RETURN 1 AS x"), {}))[0]["x"] == 1


async def test_spent_memory_pool_is_overload_and_not_retried(
    tight: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="memoria")
    text = query("UNWIND range(1, 100000) AS i WITH DISTINCT i RETURN count(i) AS x")
    refused: list[BaseException] = []
    for _ in range(20):  # a busy machine may run them one after the other
        results = await asyncio.gather(
            *(tight.run(text, {}) for _ in range(16)), return_exceptions=True
        )
        refused += [error for error in results if isinstance(error, BaseException)]
        if refused:
            break
    assert {type(error) for error in refused} == {OverloadedError}
    assert not caplog.records, "no retry was logged"
    assert (await tight.run(text, {}))[0]["x"] == 100_000


# --- used wrongly ---------------------------------------------------------------------------------


async def test_closed_driver_is_a_closed_error(target: Target, scope: str) -> None:
    async with open_driver(target, StoreConfig()) as driver:
        retriever = GraphRetriever(driver, scope=scope)
        await retriever.server_facts()
    with pytest.raises(ClosedError, match=r"can't be used any more.*Driver closed"):
        await retriever.find_seeds("a question")
    with pytest.raises(ClosedError):
        await anext(retriever.stream_paths([Seed(id="a", score=1.0)]))
    assert retriever.store.sessions_in_use == 0


async def test_another_event_loop_is_a_closed_error(retriever: GraphRetriever) -> None:
    await retriever.server_facts()

    def elsewhere() -> None:
        asyncio.run(retriever.recall("a question"))

    with pytest.raises(ClosedError, match="another event loop"):
        await asyncio.to_thread(elsewhere)
    assert (await retriever.find_seeds("a question")).seeds == ()


@for_each(
    "value",
    [{1, 2}, 2**70, -(2**63) - 1, "\ud800", object(), 1j, {1: "a"}, [[{2: 3}]]],
)
async def test_value_that_cannot_be_sent_is_invalid_input(store: Store, value: object) -> None:
    one = query("RETURN $p.v AS x", params="v")
    async with store.session() as session:
        with pytest.raises(
            InvalidInputError, match=r"a parameter can't be sent .query test\.fault"
        ):
            await session.run(one, {"v": value})
        assert (await session.run(one, {"v": 1}))[0]["x"] == 1, "the session is still good"
    assert store.sessions_in_use == 0


async def test_pool_survives_many_values_that_cannot_be_sent(driver: neo4j.AsyncDriver) -> None:
    store = Store(driver, database="neo4j", config=StoreConfig(max_sessions=3))
    one = query("RETURN $p.v AS x", params="v")
    results = await asyncio.gather(
        *(store.run(one, {"v": {1} if n % 2 else n}) for n in range(60)), return_exceptions=True
    )
    assert [isinstance(result, InvalidInputError) for result in results] == [False, True] * 30


# --- what must not be said ------------------------------------------------------------------------


async def test_neither_logs_nor_errors_hold_passwords_or_words_of_the_user(
    driver: neo4j.AsyncDriver,
    target: Target,
    nobody_listens: str,
    scope: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    said: list[str] = []
    retriever = GraphRetriever(driver, scope=scope)
    lost = Store(driver, database="nowhere")
    async with (
        open_driver(
            Target(uri=nobody_listens, auth=("neo4j", PASSWORD), database="neo4j"), StoreConfig()
        ) as down,
        open_driver(
            Target(uri=target.uri, auth=("nobody-at-all", PASSWORD), database="neo4j"),
            StoreConfig(),
        ) as stranger,
    ):
        one = query("RETURN $p.v AS x", params="v")
        bad = query("RETURN date($p.v) AS x", params="v")
        calls = [
            GraphRetriever(down, scope=scope).recall(SECRET),
            GraphRetriever(stranger, scope=scope).recall(SECRET),
            retriever.find_seeds(SECRET, query_tags=["Wednesday", "\ud800"]),
            retriever.find_seeds(SECRET, kinds=["Wednesday kind"]),
            retriever.recall(SECRET, deadline_s=1e-6),
            retriever.store.run(bad, {"v": SECRET}),
            retriever.store.run(one, {"v": {SECRET}}),
            lost.run(one, {"v": SECRET}),
        ]
        for call in calls:
            with pytest.raises(MemoriaError) as caught:
                await call
            said.append(f"{caught.value!r} {caught.value}")
        await retriever.recall(SECRET)
    said.append(caplog.text)
    assert any("retry" in text for text in said), "retries are logged"
    for text in said:
        assert PASSWORD not in text
        assert SECRET not in text
        assert target.auth is None or cast(Any, target.auth)[1] not in text


def test_settings_are_checked_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError):
        RetrieverConfig(deadline_s=0)
