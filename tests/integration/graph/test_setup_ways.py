"""Three ways to set a database up: each leaves the same, and the guard of the embedder on."""

from __future__ import annotations

import asyncio
import math
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from memoria.embed import CallableEmbedder
from memoria.errors import DimensionError, IndexNotReadyError
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder, probe
from memoria.graph.vocabulary import scope_key
from memoria.local import EphemeralNeo4j
from memoria.retriever import GraphRetriever
from memoria.store import Store, Target, open_driver
from memoria.store.queries import root
from memoria.types import Memory
from memoria.writer import GraphWriter
from tests.integration.doctor.test_doctor import run_statement, wipe

ROOT = Path(__file__).parents[3]
WAYS = ("memoria init", "scripts/setup_indexes.py", "cypher-shell")


def vector_of(text: str) -> list[float]:
    return [math.cos(len(text)), math.sin(len(text)), *[0.0] * 382]


def embedder(name: str) -> CallableEmbedder:
    return CallableEmbedder(lambda texts: list(map(vector_of, texts)), dimensions=384, name=name)


@pytest.fixture
async def bare(second_server: EphemeralNeo4j) -> AsyncIterator[Store]:
    """A database with nothing in it, not even a schema."""
    async with open_driver(Target(uri=second_server.uri, auth=second_server.auth)) as driver:
        store = Store(driver, database="neo4j")
        await wipe(store)
        yield store


async def set_up(way: str, server: EphemeralNeo4j, store: Store, tmp_path: Path) -> None:
    """Set a database up in one of the three ways."""
    user, password = server.auth
    secret = tmp_path / "password"
    secret.write_text(password)
    version = (await probe(store)).version
    file = "schema-25.cypher" if int(version.split(".")[0]) >= 2026 else "schema.cypher"
    login = ["--uri", server.uri, "--user", user, "--password-file", str(secret)]
    command = {
        "memoria init": ["-m", "memoria", "init", "--embedder", "none", *login],
        "scripts/setup_indexes.py": [str(ROOT / "scripts" / "setup_indexes.py"), *login],
        "cypher-shell": [
            *("-m", "tests.docs.cypher_shell", "-a", server.uri, "-u", user),
            *("-f", str(root() / file)),
        ],
    }[way]
    await run(command, password)


async def run(command: Sequence[str], password: str) -> None:
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env={
            "NEO4J_PASSWORD": password,
            "PATH": "",
            "PYTHONPATH": str(ROOT),
            "MEMORIA_HOME": os.environ["MEMORIA_HOME"],
        },
    )
    assert done.returncode == 0, done.stderr


async def record(store: Store) -> list[dict[str, Any]]:
    """The record of the set-up, without its time."""
    rows = await run_statement(store, "MATCH (m:MemoriaMeta {key: 'memoria'}) RETURN m {.*} AS m")
    assert all(row["m"].pop("created_at") is not None for row in rows)
    return [row["m"] for row in rows]


@pytest.mark.parametrize("way", WAYS)
async def test_each_way_records_the_same_and_the_first_embedder_that_writes(
    way: str, bare: Store, second_server: EphemeralNeo4j, tmp_path: Path
) -> None:
    for _ in range(2):  # each may be run again
        await set_up(way, second_server, bare, tmp_path)
    made: dict[str, Any] = {"key": "memoria", "schema_version": 1, "dimensions": 384}
    assert await record(bare) == [made]
    mine = Memory(id="a", kind="Event", text="with a vector of its own", embedding=vector_of("a"))
    await GraphWriter(bare, scope="s", embedder=embedder("first")).write([mine])
    assert await record(bare) == [made], "nothing was embedded yet"
    await GraphWriter(bare, scope="s", embedder=embedder("first")).write(
        [Memory(id="b", kind="Event", text="without one")]
    )
    assert await record(bare) == [{**made, "embedder": "first"}]
    with pytest.raises(DimensionError, match=r"'other'.*'first'"):
        await GraphWriter(bare, scope="s", embedder=embedder("other")).write([])
    reader = GraphRetriever(bare.driver, scope="s", embedder=embedder("other"))
    with pytest.raises(DimensionError, match=r"'other'.*'first'"):
        await reader.recall("without one")
    await set_up(way, second_server, bare, tmp_path)
    assert await record(bare) == [{**made, "embedder": "first"}], "set up again"


async def test_each_way_finds_the_set_up_of_the_others_complete(
    bare: Store, second_server: EphemeralNeo4j, tmp_path: Path
) -> None:
    await set_up("cypher-shell", second_server, bare, tmp_path)
    await run_statement(bare, "CALL db.awaitIndexes(60)")
    report = await apply_schema(bare, embedder=AbsentEmbedder(name="first", dimensions=384))
    assert report.created == ()
    await set_up("cypher-shell", second_server, bare, tmp_path)
    [found] = await record(bare)
    assert found["embedder"] == "first"


async def test_of_two_first_embedders_one_is_recorded_and_the_other_refused(bare: Store) -> None:
    await apply_schema(bare)
    names = ("left", "right")
    writers = [GraphWriter(bare, scope=name, embedder=embedder(name)) for name in names]
    await asyncio.gather(*(writer.ready() for writer in writers))  # neither is recorded yet
    found = await asyncio.gather(
        *(writer.write([Memory(id="a", kind="Event", text="text")]) for writer in writers),
        return_exceptions=True,
    )
    [refused] = [name for name, one in zip(names, found, strict=True) if isinstance(one, Exception)]
    assert sum(isinstance(one, DimensionError) for one in found) == 1
    rows = await run_statement(bare, "MATCH (m:Memory) RETURN m.scope AS scope")
    assert [row["scope"] for row in rows] == [name for name in names if name != refused]
    with pytest.raises(DimensionError):
        await GraphWriter(bare, scope="s", embedder=embedder(refused)).backfill_embeddings()


async def test_a_backfill_says_that_a_foreign_graph_needs_a_set_up(bare: Store) -> None:
    writer = GraphWriter(bare, scope="s", embedder=embedder("x"))
    assert await writer.backfill_embeddings() == 0
    await bare.driver.execute_query(
        "CREATE (:Memory:Film {id: 'tenet', scope: 's', scope_key: $key, text: 'Tenet (2020)'})",
        key=scope_key("s"),
    )
    with pytest.raises(IndexNotReadyError, match="run memoria init"):
        await writer.backfill_embeddings()
    await apply_schema(bare)
    assert await writer.backfill_embeddings() == 1


async def test_a_backfill_records_its_embedder(bare: Store) -> None:
    await apply_schema(bare)
    await GraphWriter(bare, scope="s").write([Memory(id="a", kind="Event", text="text")])
    assert (await probe(bare)).embedder is None
    assert await GraphWriter(bare, scope="s", embedder=embedder("x")).backfill_embeddings() == 1
    assert (await probe(bare)).embedder == "x"
