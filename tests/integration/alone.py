"""The fixtures of a server, for files that import them: on one that no other worker uses.

For tests that take the schema away, and for those that compare scores of full-text search: these
depend on the words of all scopes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import neo4j
import pytest

from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder
from memoria.store import Store, Target, open_driver
from memoria.store.config import StoreConfig
from tests.conftest import DIMENSIONS, EMBEDDER
from tests.servers import is_local


async def run_statement(store: Store, text: str, **parameters: object) -> list[neo4j.Record]:
    """Run a statement as its user would, outside memoria."""
    result = await store.driver.execute_query(
        text,
        parameters_=parameters,
        database_="neo4j",
    )
    return result.records


async def wipe(store: Store) -> None:
    """Leave nothing in the database, not even a schema."""
    await run_statement(store, "MATCH (n) DETACH DELETE n")
    # Every constraint has an index, which names it: one statement for both is planned only once.
    for row in await run_statement(store, "SHOW INDEXES YIELD name, type, owningConstraint"):
        if row["owningConstraint"] is not None:
            await run_statement(store, f"DROP CONSTRAINT {row['owningConstraint']}")
        elif row["type"] != "LOOKUP":
            await run_statement(store, f"DROP INDEX {row['name']}")


@pytest.fixture(scope="module")
def target(lone_target: Target) -> Target:
    return lone_target


@pytest.fixture(scope="module")
async def driver(
    request: pytest.FixtureRequest, target: Target
) -> AsyncIterator[neo4j.AsyncDriver]:
    async with open_driver(target, StoreConfig()) as opened:
        store = Store(opened, database="neo4j")
        if is_local(request.config.getoption("--neo4j")):  # what is given is not ours to wipe
            await wipe(store)
        await apply_schema(store, embedder=AbsentEmbedder(name=EMBEDDER, dimensions=DIMENSIONS))
        yield opened


@pytest.fixture(scope="module")
def store(driver: neo4j.AsyncDriver) -> Store:
    return Store(driver, database="neo4j")
