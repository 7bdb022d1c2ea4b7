"""The local server that readers of the pages start, one after the other."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoria.local import LocalNeo4j
from memoria.store import Store, Target, open_driver
from tests.integration.alone import run_statement, wipe

# Their readers have a database that was never set up, with --thorough those of all pages: the
# others share its plans. The first one finds no server; the last one ends it.
NEED_A_BARE_DATABASE = ("README.md", "test_the_chat_knows", "docs/recipes.md", "docs/tutorial.md")
# The record says which embedder the database was set up for.
ALL_BUT_THE_RECORD = "MATCH (n) WHERE NOT (n:MemoriaMeta AND n.key = 'memoria') DETACH DELETE n"


@pytest.hookimpl(trylast=True)  # when they stand in the order of their groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the last of those that take the schema away behind the others.

    The server plans all queries again when the schema changes, and the tutorial ends the server.
    """
    here = [n for n, item in enumerate(items) if item.path.is_relative_to(Path(__file__).parent)]
    ordered = sorted((items[n] for n in here), key=_place)
    for n, item in zip(here, ordered, strict=True):
        items[n] = item


def _place(item: pytest.Item) -> int:
    last = NEED_A_BARE_DATABASE[1:]
    return next((n for n, name in enumerate(last, 1) if name in item.name), 0)


@pytest.fixture(scope="session")
def shared_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of memoria: the first page that starts its server leaves it to the next ones."""
    home = tmp_path_factory.mktemp("home")
    yield home
    subprocess.run(
        [sys.executable, "-m", "memoria", "down"],
        env={**os.environ, "MEMORIA_HOME": str(home)},
        capture_output=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def home(shared_home: Path, request: pytest.FixtureRequest) -> Path:
    """The same without the data of the readers before, and for some without the schema."""
    thorough = request.config.getoption("--thorough")
    bare = thorough or any(name in request.node.name for name in NEED_A_BARE_DATABASE)
    asyncio.run(_empty(LocalNeo4j(shared_home), bare=bare))
    return shared_home


async def _empty(server: LocalNeo4j, *, bare: bool) -> None:
    """Delete all data, and with ``bare`` also what ``memoria init`` made."""
    running = await server.status()
    if running is not None:
        async with open_driver(Target(uri=running.uri, auth=server.auth)) as driver:
            store = Store(driver, database="neo4j")
            if bare:
                await wipe(store)
            else:
                await run_statement(store, ALL_BUT_THE_RECORD)
