"""`memoria.sync` on a real server: the results of the async calls, and nothing left behind."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from uuid import uuid4

import neo4j
import pytest

import memoria
import memoria.sync
from memoria.errors import AuthError, ClosedError, DeadlineError, InvalidInputError
from memoria.graph.stats import scope_stats
from memoria.store import Target
from memoria.store.queries import parse
from memoria.types import Memory, Relation, Seed
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.integration.conftest import WEB_SCOPE

# Cancelled while it connects, the driver leaves its socket to the garbage collector.
pytestmark = pytest.mark.filterwarnings(
    r"ignore:Exception ignored in. <socket\.socket:pytest.PytestUnraisableExceptionWarning"
)

USER = f"sync-{uuid4().hex}"
HANG_S = 60.0
LONG_S = 120.0
QUESTION = "memory number 7 of the web"
SLOW = parse(
    "// name: test.slow\n// mode: read\n// params:\n// returns: x\n"
    "UNWIND range(1, 1000000000) AS i WITH i WHERE i % 7 = 8 RETURN count(i) AS x",
    "test.slow",
)
MEMORIES = [
    Memory(id="e1", kind="Event", text="The last bun was sold at 10:40."),
    Memory(id="e2", kind="Event", text="The butter delivery did not come."),
]
EDGES = [Relation(source="e1", target="e2", relation="caused_by", weight=0.9)]


def embed(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), *[1.0] * (DIMENSIONS - 1)] for text in texts]


embedder = memoria.CallableEmbedder(embed, dimensions=DIMENSIONS, name=EMBEDDER)


@pytest.fixture(scope="module")
def admin(target: Target, driver: neo4j.AsyncDriver) -> Iterator[neo4j.Driver]:
    """Looks at the server; the connections of these tests have a user of their own."""
    del driver  # which has applied the schema
    create = "CREATE USER $name SET PASSWORD $name CHANGE NOT REQUIRED"
    with neo4j.GraphDatabase.driver(target.uri, auth=target.auth) as opened:
        opened.execute_query(create, name=USER, database_="system")
        yield opened
        opened.execute_query("DROP USER $name", name=USER, database_="system")


@pytest.fixture
def connected(target: Target, admin: neo4j.Driver) -> Callable[..., memoria.sync.GraphRetriever]:
    """Opens connections of the user of these tests."""
    del admin  # who has created the user

    def connect(**settings: Any) -> memoria.sync.GraphRetriever:
        return memoria.sync.connect(target.uri, (USER, USER), **{"scope": WEB_SCOPE, **settings})

    return connect


@pytest.fixture
def memory(
    connected: Callable[..., memoria.sync.GraphRetriever], web: tuple[Seed, ...]
) -> Iterator[memoria.sync.GraphRetriever]:
    """A retriever on the web graph."""
    del web  # which is there now
    with connected() as opened:
        yield opened


def running(admin: neo4j.Driver) -> int:
    """How many transactions of these tests the server runs."""
    shown = admin.execute_query(
        "SHOW TRANSACTIONS YIELD username WHERE username = $user RETURN username",
        user=USER,
        database_="system",
    )
    return len(shown.records)


def wait_until(what: Callable[[], bool]) -> None:
    until = time.monotonic() + HANG_S
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


def assert_nothing_left(memory: memoria.sync.GraphRetriever, admin: neo4j.Driver) -> None:
    wait_until(lambda: memory.store.sessions_in_use == 0)
    wait_until(lambda: running(admin) == 0)


@pytest.fixture
def keyboard() -> Iterator[None]:
    """Ctrl-C interrupts, also where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press_ctrl_c_when(what: Callable[[], bool]) -> threading.Thread:
    def press() -> None:
        wait_until(what)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    pressing = threading.Thread(target=press)
    pressing.start()
    return pressing


def stalled_embedder() -> tuple[memoria.CallableEmbedder, threading.Event]:
    """An embedder that does not answer, and an event that says that it is asked."""
    asked = threading.Event()

    async def stalled(texts: list[str]) -> list[list[float]]:
        asked.set()
        await asyncio.sleep(LONG_S)
        return embed(texts)

    return memoria.CallableEmbedder(stalled, dimensions=DIMENSIONS, name=EMBEDDER), asked


def without_text_scores(seeds: tuple[Seed, ...]) -> list[Seed]:
    """All of the seeds but their BM25: it counts the words of all scopes, which others write to."""
    return [replace(seed, text_score=None) for seed in seeds]


# --- results --------------------------------------------------------------------------------------


async def test_results_are_those_of_the_async_calls_inside_a_running_loop(
    memory: memoria.sync.GraphRetriever, driver: neo4j.AsyncDriver, web: tuple[Seed, ...]
) -> None:
    """As in a cell of a notebook: this test runs in a loop."""
    assert asyncio.get_running_loop().is_running()
    other = memoria.GraphRetriever(driver, scope=WEB_SCOPE)
    expected = await other.recall(QUESTION, budget_tokens=500, deadline_s=LONG_S)
    got = memory.recall(QUESTION, budget_tokens=500, deadline_s=LONG_S)
    assert len(got.ranked) > 10
    assert (got.ranked, got.context) == (expected.ranked, expected.context)

    stream = memory.recall_stream(QUESTION, budget_tokens=500, deadline_s=LONG_S)
    paths = list(stream)
    explored = {path.ids for found in expected.explorations for path in found.paths}
    assert {path.ids for path in paths} == explored
    assert (stream.result.ranked, stream.result.context) == (expected.ranked, expected.context)
    assert list(stream) == []

    got_seeds = memory.find_seeds(QUESTION).seeds
    other_seeds = (await other.find_seeds(QUESTION)).seeds
    assert all(seed.text_score for seed in (*got_seeds, *other_seeds))
    assert without_text_scores(got_seeds) == without_text_scores(other_seeds)
    got_all = {each.seed.id: each.paths for each in memory.explore_seeds(web, deadline_s=LONG_S)}
    stream_of_other = other.explore_seeds(web, deadline_s=LONG_S)
    assert got_all == {each.seed.id: each.paths async for each in stream_of_other}


def test_the_handle_writes_links_learns_forgets_and_serves_other_scopes(
    connected: Callable[..., memoria.sync.GraphRetriever], scope: str
) -> None:
    with connected(scope=scope, embedder=embedder) as memory:
        linker = memory.linker(config=memoria.CompositeLinkConfig())
        writer = memory.writer(linker=linker, batch_size=10)
        report = writer.write(MEMORIES, EDGES)
        assert (report.memories, report.relations, report.embedded, report.linked) == (2, 1, 2, 2)
        assert (writer.scope, linker.scope, memory.config) == (
            scope,
            scope,
            memoria.RetrieverConfig(),
        )
        recall = memory.recall("Why did the last bun sell so early?")
        assert {ranked.memory.id for ranked in recall.ranked} == {"e1", "e2"}
        learner = memory.learner()
        assert learner.feedback(recall.trace, confirmed=["e2"]).applied
        assert not learner.feedback(recall.trace, confirmed=["e2"]).applied
        assert memoria.sync.replay(memory.store, recall.trace).identical
        other = memory.for_scope(f"{scope}-2")
        assert (other.scope, other.recall("bun").ranked) == (f"{scope}-2", ())
        other.close()  # it opened nothing
        assert memoria.sync.blocking(scope_stats)(memory.store, scope).memories == 2
        assert memoria.sync.apply_schema(memory.store, dimensions=DIMENSIONS).created == ()
        assert writer.forget(["e1", "e2"]).deleted == 2


def test_fifty_threads_at_once_get_what_one_gets(
    connected: Callable[..., memoria.sync.GraphRetriever], scope: str
) -> None:
    ring = [Memory(id=f"n{n}", kind="Event", text=f"memory number {n}") for n in range(40)]
    edges = [Relation(source=f"n{n}", target=f"n{(n + 3) % 40}", weight=0.9) for n in range(40)]
    together = threading.Barrier(50)
    with connected(scope=scope) as memory:
        memory.writer().write(ring, edges)
        expected = [memory.recall(f"memory number {n}", deadline_s=LONG_S) for n in range(10)]
        assert len({recall.ranked[0].id for recall in expected}) == 10

        def ask(number: int) -> bool:
            together.wait(HANG_S)
            recall = memory.recall(f"memory number {number % 10}", deadline_s=LONG_S)
            return recall.ranked == expected[number % 10].ranked

        with ThreadPoolExecutor(50) as pool:
            assert all(pool.map(ask, range(50)))
        assert memory.store.sessions_in_use == 0


# --- early ends -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("keyboard")
def test_ctrl_c_while_the_server_works_ends_the_work_there(
    memory: memoria.sync.GraphRetriever, admin: neo4j.Driver
) -> None:
    pressing = press_ctrl_c_when(lambda: running(admin) > 0)
    with pytest.raises(KeyboardInterrupt):
        memory.store.patient(LONG_S).run(SLOW, {})
    pressing.join()
    assert_nothing_left(memory, admin)
    assert memory.recall(QUESTION).ranked  # and the connection is as good as before


@pytest.mark.usefixtures("keyboard")
def test_ctrl_c_while_a_recall_waits_ends_it_and_the_connection_closes(
    connected: Callable[..., memoria.sync.GraphRetriever], admin: neo4j.Driver
) -> None:
    slow, waits = stalled_embedder()
    pressing = press_ctrl_c_when(waits.is_set)
    with pytest.raises(KeyboardInterrupt), connected(embedder=slow) as memory:
        memory.recall(QUESTION, deadline_s=LONG_S)
    pressing.join()
    assert_nothing_left(memory, admin)
    with pytest.raises(ClosedError):
        memory.recall(QUESTION)


@pytest.mark.usefixtures("keyboard")
def test_ctrl_c_while_a_stream_waits_ends_its_call(
    connected: Callable[..., memoria.sync.GraphRetriever], admin: neo4j.Driver
) -> None:
    slow, waits = stalled_embedder()
    with connected(embedder=slow) as memory:
        pressing = press_ctrl_c_when(waits.is_set)
        stream = memory.recall_stream(QUESTION, deadline_s=LONG_S)
        with pytest.raises(KeyboardInterrupt):
            next(stream)
        pressing.join()
        assert_nothing_left(memory, admin)
        with pytest.raises(ClosedError):
            _ = stream.result


def test_an_early_exit_from_a_stream_ends_the_work_on_the_server(
    memory: memoria.sync.GraphRetriever, admin: neo4j.Driver, web: tuple[Seed, ...]
) -> None:
    for _ in memory.stream_paths(web, deadline_s=LONG_S):  # dropped
        break
    assert_nothing_left(memory, admin)
    with memory.recall_stream(QUESTION, deadline_s=LONG_S) as paths:  # closed
        next(paths)
    assert memory.store.sessions_in_use == 0
    assert_nothing_left(memory, admin)
    assert list(paths) == []
    with pytest.raises(ClosedError, match="closed before its end"):
        _ = paths.result
    paths.close()


def test_closing_while_streaming_ends_the_stream_with_closed_error(
    connected: Callable[..., memoria.sync.GraphRetriever],
    admin: neo4j.Driver,
    web: tuple[Seed, ...],
) -> None:
    memory = connected()
    paths = memory.stream_paths(web, deadline_s=LONG_S)
    next(paths)
    memory.close()
    with pytest.raises(ClosedError):
        next(paths)
    paths.close()
    with pytest.raises(ClosedError):
        _ = paths.result
    assert_nothing_left(memory, admin)


def test_closing_ends_the_calls_of_other_threads_with_closed_error(
    connected: Callable[..., memoria.sync.GraphRetriever], admin: neo4j.Driver
) -> None:
    memory = connected()
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(memory.store.patient(LONG_S).run, SLOW, {})
        wait_until(lambda: running(admin) > 0)
        memory.close()
        with pytest.raises(ClosedError, match="while this call waited"):
            call.result(HANG_S)
    wait_until(lambda: running(admin) == 0)


def test_what_is_closed_says_so_in_every_handle(
    connected: Callable[..., memoria.sync.GraphRetriever],
) -> None:
    memory = connected()
    writer, other = memory.writer(), memory.for_scope("another")
    memory.close()
    memory.close()
    calls: list[Callable[[], object]] = [
        lambda: memory.recall(QUESTION),
        lambda: list(memory.recall_stream(QUESTION)),
        lambda: writer.write(MEMORIES),
        lambda: other.recall(QUESTION),
    ]
    for call in calls:
        with pytest.raises(ClosedError, match="open another one"):
            call()


def test_a_connection_that_is_dropped_closes_by_itself(
    connected: Callable[..., memoria.sync.GraphRetriever],
) -> None:
    memory = connected()
    thread = memory._thread._thread
    del memory
    gc.collect()
    thread.join(HANG_S)
    assert not thread.is_alive()


# --- errors ---------------------------------------------------------------------------------------


def test_errors_keep_their_types_and_say_where_they_came_from(
    memory: memoria.sync.GraphRetriever, target: Target
) -> None:
    with pytest.raises(InvalidInputError):
        memory.recall("  ")
    with pytest.raises(InvalidInputError):
        memory.recall_stream("  ")
    with pytest.raises(DeadlineError) as caught:
        memory.recall(QUESTION, deadline_s=1e-6)
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[0] == "test_errors_keep_their_types_and_say_where_they_came_from"
    assert "recall" in frames
    with pytest.raises(AuthError):
        memoria.sync.connect(target.uri, ("nobody", "wrong"), scope="s")


# --- the end of the program -----------------------------------------------------------------------


@pytest.mark.parametrize("way", ["recalled", "streaming", "writer kept"])
@pytest.mark.usefixtures("web")
def test_a_program_that_ends_without_closing_neither_hangs_nor_complains(
    target: Target, way: str
) -> None:
    assert isinstance(target.auth, tuple)
    last = {
        "recalled": "memory.recall('memory number 7')",
        "streaming": "paths = memory.recall_stream('memory number 7'); next(paths)",
        "writer kept": "keep = memory.writer(); keep.ready()",
    }[way]
    code = (
        "import memoria.sync\n"
        f"memory = memoria.sync.open({target.uri!r}, {target.auth!r}, scope={WEB_SCOPE!r})\n"
        f"{last}\nprint('end')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG_S, check=True
    )
    assert (done.stdout, done.stderr) == ("end\n", "")
