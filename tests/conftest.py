"""A real Neo4j for the tests: ``--neo4j=local`` (default), ``local:5.26``, ``container``, or a Bolt
address.

Several workers (``-n 3``) share it; each file of tests runs in one of them.
"""

from __future__ import annotations

import gc
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import neo4j
import pytest

from memoria._support.home import default_home
from memoria.agents.agent_reader import AgentReader
from memoria.agents.mcp.by_scope import Memories
from memoria.agents.tools import tools
from memoria.errors import ConfigError
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder
from memoria.graph.vocabulary import cosines_key
from memoria.recall.config import RetrieverConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from memoria.store.queries import load
from tests import effort, java, leftovers
from tests.servers import LOCAL, Line, SharedServer, is_local, local_version, shared_target

DIMENSIONS = 384
EMBEDDER = "test"
PATIENCE_S = 60.0
ALONE = "server alone"
PAGES = "tests/docs"
# Limits that run out, in which the other workers have the processor.
WAITING = "tests/unit/store/test_wrong_messages.py"
NEED_A_SERVER_ALONE = {"lone_target", "second_server"}

# Read before the environment is cleaned; only --neo4j=bolt://... uses them.
_GIVEN_AUTH = (os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ.get("NEO4J_PASSWORD", ""))
_LINE = pytest.StashKey[Line]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--neo4j",
        default="local",
        help="local: a throw-away server; local:5.26: one of that version; container: through "
        "testcontainers (needs Docker); or bolt://...: a server whose neo4j database the tests may "
        "fill, with the credentials in NEO4J_USERNAME and NEO4J_PASSWORD",
    )
    parser.addoption(
        "--thorough",
        action="store_true",
        help="repeat as often as tests/effort.py says: more generated graphs, more kills, longer "
        "sweeps",
    )


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()  # until all tests are collected: see below
    effort.choose(thorough=config.getoption("--thorough"))
    _give_time()
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None:
        config.stash[_LINE] = worker["server"]
        return
    choice: str = config.getoption("--neo4j")
    if is_local(choice):
        try:
            local_version(choice)
        except ConfigError as exc:
            raise pytest.UsageError(f"--neo4j={choice}: {exc}") from exc
    _keep_to_a_folder(config)
    _shorten_the_start_of_java(config)
    server = SharedServer(choice)
    config.stash[_LINE] = server.line
    config.add_cleanup(server.end)


def pytest_collection_finish() -> None:
    """Collect no garbage among the tests and modules, which stay until the end."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist whom to ask for the server."""
    node.workerinput["server"] = node.config.stash[_LINE]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tell several workers which tests stay together, and which come first.

    The tests of a file share fixtures. The files that need a server to themselves share two such
    servers, and the pages share another; where a server is given, all files that use one share it.
    First come the groups that take longest, last the many short files of tests without a server, so
    that the workers end at about the same time.
    """
    if not getattr(config.option, "loadgroup", False):
        return
    given = not is_local(config.getoption("--neo4j"))
    alone = {item.path for item in items if _fixtures(item) & NEED_A_SERVER_ALONE}
    served = {item.path for item in items if "target" in _fixtures(item)}
    # One worker with all of them would be the last to end.
    of_file = {path: f"{ALONE} {n % 2}" for n, path in enumerate(sorted(alone))}
    if given:
        of_file = dict.fromkeys(alone | served, ALONE)
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        path = item.path.relative_to(config.rootpath).as_posix()
        name = PAGES if path.startswith(PAGES) else of_file.get(item.path, path)
        groups.setdefault(name, []).append(item)
    for name, members in groups.items():
        for item in members:
            item.add_marker(pytest.mark.xdist_group(name))
    items[:] = [item for name in sorted(groups, key=_place) for item in groups[name]]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """End a run whose groups would be torn apart: pytest-xdist reads them from the ids of tests."""
    if node.config.getoption("dist") == "loadgroup" and not all("@" in each for each in ids):
        pytest.exit(
            "pytest-xdist does not keep groups of tests together with this pytest; install one "
            "that pyproject.toml allows",
            returncode=pytest.ExitCode.USAGE_ERROR,
        )


def _fixtures(item: pytest.Item) -> set[str]:
    return set(getattr(item, "fixturenames", ()))


def _place(group: str) -> tuple[int, str]:
    folders = (ALONE, PAGES, WAITING, "tests/integration")
    place = next((n for n, folder in enumerate(folders) if group.startswith(folder)), len(folders))
    return place, group


def _give_time() -> None:
    """Give calls that name no limit a minute: a slow machine is not a fault.

    The defaults suit users, who rather have less than wait; here they would cut recalls short, or
    have them read texts early, while the other workers and the planner have the processor.
    """
    for made, limit in (
        (RetrieverConfig.__init__, "deadline_s"),
        (StoreConfig.__init__, "query_timeout_s"),
        (AgentReader.__init__, "deadline_s"),
        (Memories.__init__, "deadline_s"),
        (tools, "deadline_s"),
    ):
        assert made.__kwdefaults__ is not None
        assert limit in made.__kwdefaults__, (made, limit)
        made.__kwdefaults__[limit] = PATIENCE_S


def _keep_to_a_folder(config: pytest.Config) -> None:
    """Keep the files of this run together, and fail if it leaves a process running."""
    stack = ExitStack()
    config.add_cleanup(stack.close)
    stack.enter_context(leftovers.home_of_the_run())
    run = os.environ[leftovers.RUN]
    stack.callback(leftovers.end_left_running, run)


def _shorten_the_start_of_java(config: pytest.Config) -> None:
    """Set what every Java reads, also those that commands and pages of the documentation start."""
    kept = getattr(config, "cache", None)
    if kept is None:  # with -p no:cacheprovider
        return
    cache = kept.mkdir("java") / "classes.aot"
    patch = pytest.MonkeyPatch()
    patch.setenv(java.VARIABLE, java.options(cache), prepend=" ")
    config.add_cleanup(patch.undo)
    if not cache.exists() and is_local(config.getoption("--neo4j")):
        making = java.make(cache)

        def wait() -> None:
            making.wait()

        config.add_cleanup(wait)


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> Iterator[None]:
    """No test reaches a database that a variable of the environment names."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("NEO4J_")}
    yield
    os.environ.update(kept)


@pytest.fixture(scope="module", autouse=True)
def _own_examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the vectors of examples apart: embedders of many kinds have one name."""
    folder, of_the_run = tmp_path_factory.mktemp("kept"), default_home()

    def home() -> Path:
        return folder if (named := default_home()) == of_the_run else named

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memoria.recall.examples.default_home", home)
        yield


def server_under_test(config: pytest.Config) -> Target:
    """Return the server that ``--neo4j`` asks for; it starts unless it runs."""
    choice: str = config.getoption("--neo4j")
    if is_local(choice) or choice == "container":
        return shared_target(config.stash[_LINE])
    return Target(uri=choice, auth=_GIVEN_AUTH, database="neo4j")


@pytest.fixture(scope="session")
def target(request: pytest.FixtureRequest) -> Target:
    """The server under test."""
    return server_under_test(request.config)


@pytest.fixture(scope="session")
def server_version(request: pytest.FixtureRequest) -> str:
    """Version of the throw-away servers of this run."""
    choice: str = request.config.getoption("--neo4j")
    return local_version(choice if is_local(choice) else LOCAL)


@pytest.fixture(scope="session")
async def driver(target: Target) -> AsyncIterator[neo4j.AsyncDriver]:
    """A driver on the server under test, its schema applied."""
    async with open_driver(target, StoreConfig()) as opened:
        store = Store(opened, database="neo4j")
        await apply_schema(store, embedder=AbsentEmbedder(name=EMBEDDER, dimensions=DIMENSIONS))
        # Embedders of many kinds have this name: the linkers must not measure the first of them.
        measured = {"key": cosines_key(EMBEDDER), "unrelated": 0.0, "near": 0.6}
        await store.run(load("link.keep_cosines"), measured)
        yield opened


@pytest.fixture(scope="session")
def store(driver: neo4j.AsyncDriver) -> Store:
    """A store on the server under test."""
    return Store(driver, database="neo4j")


@pytest.fixture
def scope() -> str:
    """A scope of its own for each test."""
    return f"test-{uuid4().hex}"


@pytest.fixture
def retriever(driver: neo4j.AsyncDriver, scope: str) -> GraphRetriever:
    """A retriever for the test's scope, without an embedder."""
    return GraphRetriever(driver, scope=scope)
