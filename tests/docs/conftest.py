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
from tests.integration.doctor.test_doctor import wipe

ENDS_THE_SERVER = "docs/tutorial.md"


@pytest.hookimpl(trylast=True)  # when they stand in the order of their groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Move the page that ends the server behind the others, which would start it again."""
    here = [n for n, item in enumerate(items) if item.path.is_relative_to(Path(__file__).parent)]
    ordered = sorted((items[n] for n in here), key=lambda item: ENDS_THE_SERVER in item.name)
    for n, item in zip(here, ordered, strict=True):
        items[n] = item


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
def home(shared_home: Path) -> Path:
    """The same, its database empty, for a reader who knows nothing of the others."""
    asyncio.run(_wipe(LocalNeo4j(shared_home)))
    return shared_home


async def _wipe(server: LocalNeo4j) -> None:
    running = await server.status()
    if running is not None:
        async with open_driver(Target(uri=running.uri, auth=server.auth)) as driver:
            await wipe(Store(driver, database="neo4j"))
