"""A real Neo4j for the tests: ``--neo4j=local`` (default), ``container``, or a Bolt address."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from uuid import uuid4

import neo4j
import pytest

from memoria.graph.schema import apply_schema
from memoria.graph.server import AbsentEmbedder
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig

DIMENSIONS = 384
EMBEDDER = "test"

# Read before the environment is cleaned; only --neo4j=bolt://... uses them.
_GIVEN_AUTH = (os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ.get("NEO4J_PASSWORD", ""))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--neo4j",
        default="local",
        help="local: a throw-away server; container: through testcontainers (needs Docker); "
        "or bolt://...: a server whose neo4j database the tests may fill, with the credentials "
        "in NEO4J_USERNAME and NEO4J_PASSWORD",
    )


@pytest.fixture(scope="session", autouse=True)
def _clean_environment() -> Iterator[None]:
    """No test reaches a database that a variable of the environment names."""
    kept = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("NEO4J_")}
    yield
    os.environ.update(kept)


@pytest.fixture(scope="session", autouse=True)
def _short_lived_java() -> Iterator[None]:
    """Every Java is one for a server that lives for minutes: the same, but sooner there.

    The second compiler takes more time than it gives back, half of it during the start and while
    queries are planned; a collector with threads of its own has no core to run them on. The
    variable also reaches servers that commands and pages of the documentation start.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", prepend=" ")
        yield


@pytest.fixture(scope="session")
async def target(request: pytest.FixtureRequest) -> AsyncIterator[Target]:
    """The server under test."""
    choice: str = request.config.getoption("--neo4j")
    async with AsyncExitStack() as stack:
        if choice == "local":
            from memoria.local import LocalNeo4j

            server = await stack.enter_async_context(LocalNeo4j.ephemeral())
            yield Target(uri=server.uri, auth=server.auth, database="neo4j")
        elif choice == "container":
            from testcontainers.neo4j import Neo4jContainer

            from memoria.local import NEO4J_VERSION

            container = stack.enter_context(Neo4jContainer(f"neo4j:{NEO4J_VERSION}"))
            auth = (container.username, container.password)
            yield Target(uri=container.get_connection_url(), auth=auth, database="neo4j")
        else:
            yield Target(uri=choice, auth=_GIVEN_AUTH, database="neo4j")


@pytest.fixture(scope="session")
async def driver(target: Target) -> AsyncIterator[neo4j.AsyncDriver]:
    """A driver on the server under test, its schema applied."""
    async with open_driver(target, StoreConfig()) as opened:
        store = Store(opened, database="neo4j")
        await apply_schema(store, embedder=AbsentEmbedder(name=EMBEDDER, dimensions=DIMENSIONS))
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
