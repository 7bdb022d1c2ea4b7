"""What the tests of the adapters share; ``scripts/test-adapters`` installs the frameworks.

They run on the same real Neo4j as all other tests. Nothing but this machine may be reached.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import re
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partialmethod
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4
from zlib import crc32

import neo4j
import pytest

import memoria
import memoria.sync
from memoria.store import Target
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.integration.conftest import emptied, empty, second_server
from tests.servers import is_local

NEEDED = {
    "test_google_adk.py": "google.adk",
    "test_known_graphs.py": "graphiti_core",
    "test_langchain.py": "langchain",
    "test_langgraph.py": "langgraph",
    "test_llama_index.py": "llama_index",
    "test_neo4j_graphrag.py": "neo4j_graphrag",
    "test_examples.py": "google.adk",
}


def installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of a package within another one, such as google.adk
        return False


__all__ = ["emptied", "empty", "second_server"]  # fixtures
ROOT = Path(__file__).parents[2]
collect_ignore = [file for file, name in NEEDED.items() if not installed(name)]

# A bakery in five events: the last bun, butter, and the probe that explains both.
MEMORIES = [
    memoria.Memory(id="e1", kind="Event", text="The last bun was sold at 10:40.", tags=["buns"]),
    memoria.Memory(id="e2", kind="Event", text="There was butter for 310 buns only."),
    memoria.Memory(
        id="e3", kind="Event", text="The dairy came a day late.", metadata={"source": "diary"}
    ),
    memoria.Memory(id="e4", kind="Event", text="The probe of the cold room was broken."),
    memoria.Memory(id="e5", kind="UserPreference", text="Ann wants rye bread on Mondays."),
]
EDGES = [
    memoria.Relation(source="e1", target="e2", relation="caused_by", weight=0.9),
    memoria.Relation(source="e2", target="e3", relation="caused_by", weight=0.8),
    memoria.Relation(source="e3", target="e4", relation="caused_by", weight=0.8),
]
QUESTION = "Why did the buns run out?"


def embed(texts: list[str]) -> list[list[float]]:
    """Count the words of each text in places that their letters give: no model, and repeatable."""
    vectors = []
    for text in texts:
        vector = [0.001] * DIMENSIONS
        for word in re.findall(r"\w+", text.casefold()):
            vector[crc32(word.encode()) % DIMENSIONS] += 1.0
        vectors.append(vector)
    return vectors


async def aembed(texts: list[str]) -> list[list[float]]:
    return embed(texts)


@pytest.fixture(scope="session")
def embedder() -> memoria.Embedder:
    """An embedder that awaits, so that no thread is needed for it."""
    return memoria.CallableEmbedder(aembed, dimensions=DIMENSIONS, name=EMBEDDER)


@pytest.fixture(scope="package", autouse=True)
def _this_machine_only(request: pytest.FixtureRequest) -> Iterator[None]:
    """Refuse every connection to another machine, unless the database is there."""
    if not is_local(request.config.getoption("--neo4j")):
        yield
        return
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def checked(address: Any) -> None:
        if isinstance(address, tuple) and str(address[0]) not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test reached for {address!r}")

    def guarded(self: socket.socket, address: Any) -> None:
        checked(address)
        connect(self, address)

    def guarded_ex(self: socket.socket, address: Any) -> int:
        checked(address)
        return connect_ex(self, address)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", guarded)
    patch.setattr(socket.socket, "connect_ex", guarded_ex)
    yield
    patch.undo()


@pytest.fixture(scope="module")
def bakery(driver: neo4j.AsyncDriver) -> str:  # noqa: ARG001 - it makes the schema
    """A scope for the tests of a file."""
    return f"bakery-{uuid4().hex}"


@pytest.fixture(scope="module")
def both(target: Target, bakery: str, embedder: memoria.Embedder) -> Iterator[Any]:
    """A retriever of `memoria.sync`, which serves sync and async code, on the bakery's memories."""
    with memoria.sync.connect(
        target.uri, target.auth, scope=bakery, embedder=embedder, database=target.database
    ) as opened:
        opened.writer().write(MEMORIES, EDGES)
        yield opened


@pytest.fixture(scope="module")
async def awaited(
    both: memoria.sync.GraphRetriever, target: Target, bakery: str, embedder: memoria.Embedder
) -> AsyncIterator[memoria.GraphRetriever]:
    """A retriever of `memoria`, for the event loop of the tests, on the same memories."""
    assert both.scope == bakery
    async with memoria.connect(
        target.uri, target.auth, scope=bakery, embedder=embedder, database=target.database
    ) as opened:
        await opened.recall(QUESTION)  # connects, and checks the server, once
        yield opened


@contextmanager
def no_threads() -> Iterator[None]:
    """Fail whatever hands work to a thread, apart from a recall, which ranks and packs in one.

    What asks for the thread is the first frame outside the standard library.
    """
    patch = pytest.MonkeyPatch()
    for owner, name in _INTO_THREADS:
        patch.setattr(owner, name, partialmethod(_checked, getattr(owner, name)))
    try:
        yield
    finally:
        patch.undo()


_INTO_THREADS: tuple[tuple[Any, str], ...] = (
    (asyncio.base_events.BaseEventLoop, "run_in_executor"),
    (ThreadPoolExecutor, "submit"),
    (Thread, "start"),
)
_OF_RECALL = (str(ROOT / "memoria" / "recall"), str(ROOT / "memoria" / "graph"))
_STANDARD = (
    asyncio.__file__.rpartition("/")[0],
    threading.__file__,
    concurrent.futures.__path__[0],
)


def _checked(self: Any, method: Any, *args: Any, **named: Any) -> Any:
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith((*_STANDARD, __file__)) and frame.f_back:
        frame = frame.f_back
    asking = frame.f_code.co_filename
    assert asking.startswith(_OF_RECALL), f"{asking}:{frame.f_lineno} used a thread"
    return method(self, *args, **named)


def has_vector(value: Any) -> bool:
    """Whether a value holds a list of numbers as long as a vector, however deep."""
    if isinstance(value, dict):
        return any(map(has_vector, value.values()))
    if isinstance(value, list | tuple):
        numbers = [each for each in value if isinstance(each, float)]
        return len(numbers) >= DIMENSIONS or any(map(has_vector, value))
    return False
