"""An offline import gives the graph that a `GraphWriter` writes, and touches nothing in vain."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import neo4j
import pytest

from memoria._support.home import default_home
from memoria.downloads.jars import resolve_jars
from memoria.errors import DimensionError, InvalidInputError, LocalServerError
from memoria.graph.schema import apply_schema
from memoria.graph.server_facts import AbsentEmbedder
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.ingest import LIST_DELIMITER, Tables, write_tables
from memoria.ingest.rows import memory_row, relation_row
from memoria.local import ImportFiles, LocalNeo4j
from memoria.local.settings import COORDINATE
from memoria.store import Store
from memoria.types import Memory, Relation
from memoria.writer import GraphWriter
from tests.schema import check_schema

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
SCOPE = 'of "Ada", 1'
MEMORIES = [
    Memory(
        id="a",
        kind="Event",
        text='a "quoted" \\ word;,\nsecond line\r\n  third ',
        tags=["t;1", "t,2", 'q"', ""],
        topics=["A b"],
        category="c",
        priority=0.25,
        when={"k": ["v", 1]},
        metadata={"m": {"n": "é\t\n"}},
        created_at=datetime(2020, 2, 29, 12, tzinfo=UTC),
        embedding=[0.1, -2.5e-7, 1.0],
    ),
    Memory(id=" b,\"'\\", kind="Event", text="", priority=1),
    Memory(id="c", kind="AgentAnswer", text="'x' \\\" \x00 \x1f", category=""),
    Memory(id="t", kind="Topic", text='a "name"', embedding=[1.0, 0.0, 0.0]),
]
RELATIONS = [
    Relation(source="a", target="c", relation='r, "x"', weight=1, tags=["z", "a"]),
    Relation(source=" b,\"'\\", target="a"),
    Relation(source="a", target="c", weight=0.1),
]
NODES = neo4j.Query(
    "MATCH (n:Memory) RETURN n.id AS id, labels(n) AS labels, properties(n) AS properties, "
    "[k IN keys(n) | k + ' ' + valueType(n[k])] AS types ORDER BY id"
)
EDGES = neo4j.Query(
    "MATCH (a:Memory)-[r]->(b:Memory) RETURN a.id + b.id + r.relation AS id, [type(r)] AS labels, "
    "properties(r) AS properties, [k IN keys(r) | k + ' ' + valueType(r[k])] AS types ORDER BY id"
)


@pytest.fixture
async def local(tmp_path: Path) -> AsyncIterator[LocalNeo4j]:
    """A managed server of a home of its own, stopped and empty."""
    resolve_jars(COORDINATE, home=default_home())
    shutil.copytree(default_home() / "jars", tmp_path / "jars")
    server = LocalNeo4j(tmp_path, heap_mb=512, page_cache_mb=32)
    yield server
    await server.stop()


def tables_of(folder: Path) -> ImportFiles:
    with Tables(folder, scope=SCOPE, now=NOW) as tables:
        for memory in MEMORIES:
            tables.add_memory(memory_row(memory, memory.embedding))
        for relation in RELATIONS:
            tables.add_relation(relation_row(relation))
    return ImportFiles(
        memories=tables.memories,
        relations=tables.relations,
        list_delimiter=LIST_DELIMITER,
        multiline=tables.multiline,
    )


async def contents(driver: neo4j.AsyncDriver) -> list[tuple[Any, ...]]:
    """Everything there is, with its types; but for empty lists, which read as none."""
    found = []
    for query in (NODES, EDGES):
        result = await driver.execute_query(query, database_="neo4j")
        for row in result.records:
            kept = {key: value for key, value in row["properties"].items() if value != []}
            types = sorted(text for text in row["types"] if "LIST<NOTHING>" not in text)
            found.append((row["id"], sorted(row["labels"]), kept, types))
    return found


async def test_imported_graph_is_the_one_a_writer_writes_and_what_is_refused_leaves_it(
    local: LocalNeo4j, tmp_path: Path
) -> None:
    steps: list[tuple[str, int]] = []
    files, wrong = tables_of(tmp_path / "tables"), with_an_edge_to_nobody(tmp_path / "wrong")
    await local.import_files(
        files, progress=lambda label, done, _total: steps.append((label, done))
    )
    assert steps == sorted(steps, key=lambda step: step[1])
    assert steps[-1] == ("import", 400)
    with pytest.raises(LocalServerError, match="already has a database"):
        await local.import_files(files)
    await local.import_files(files, overwrite=True)
    with pytest.raises(LocalServerError, match="refuses to import the files"):
        await local.import_files(wrong, overwrite=True)
    info = await local.start()
    with pytest.raises(LocalServerError, match="needs it stopped: run memoria down"):
        await local.import_files(files, overwrite=True)
    async with neo4j.AsyncGraphDatabase.driver(info.uri, auth=local.auth) as driver:
        imported = await contents(driver)
        store = Store(driver, database="neo4j")
        await apply_schema(store, embedder=AbsentEmbedder(name="test", dimensions=3))
        await check_schema(store, dimensions=3, embedder="test")
        report = await GraphWriter(store, scope=SCOPE, clock=lambda: NOW).write(MEMORIES, RELATIONS)
        assert (report.memories_created, report.relations_created) == (0, 0), "it finds all of it"
        assert await contents(driver) == imported
        await GraphWriter(store, scope=SCOPE).forget(memory.id for memory in MEMORIES)
        await GraphWriter(store, scope=SCOPE, clock=lambda: NOW).write(MEMORIES, RELATIONS)
        assert await contents(driver) == imported


def with_an_edge_to_nobody(folder: Path) -> ImportFiles:
    files = tables_of(folder)
    with files.relations.open("a", encoding="utf-8") as table:
        table.write('"a","nobody","r",0.5,,ingest,,0\n')
    return files


async def test_rows_that_neo4j_refuses_leave_no_database(local: LocalNeo4j, tmp_path: Path) -> None:
    with pytest.raises(LocalServerError, match=r"refuses to import the files: .*nobody"):
        await local.import_files(with_an_edge_to_nobody(tmp_path / "tables"))
    await local.check_import()


def lines_of(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "graph.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


A = {"id": "a", "kind": "Event", "text": "one"}
B = {"id": "b", "kind": "Event", "text": "two"}
AB = {"source": "a", "target": "b"}


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ((A, B, A), InvalidInputError, ":3: id 'a' came before"),
        ((A, AB, B, B), InvalidInputError, ":4: id 'b' came before"),
        ((AB, A), InvalidInputError, ":1: target 'b' is not a memory of these files"),
        ((A, B, AB, {**AB, "weight": 1}), InvalidInputError, ":4: this edge .* came before"),
        ((A, {**B, "kind": "Odd"}), InvalidInputError, ":2: kind must be one of"),
        ((A, {**AB, "target": "a"}), InvalidInputError, ":2: target must be another memory"),
        ((A, {**B, "tags": ["x\x1fy"]}), InvalidInputError, ":2: tags hold the character U.001F"),
        ((A, {**B, "tags": [""]}), InvalidInputError, ":2: tags hold .* an empty string"),
        (
            ({**A, "embedding": [1.0]}, {**B, "embedding": [1.0, 2.0]}),
            DimensionError,
            ":2: embedding has 2 numbers",
        ),
    ],
)
def test_wrong_line_is_named(
    tmp_path: Path, rows: tuple[dict[str, Any], ...], error: type[Exception], message: str
) -> None:
    with (
        Tables(tmp_path / "tables", scope="s", now=NOW) as tables,
        pytest.raises(error, match=f"graph.jsonl{message}"),
    ):
        write_tables([lines_of(tmp_path, *rows)], tables, kinds=DEFAULT_KINDS)


def test_edges_may_differ_in_relation_or_direction_and_come_first(tmp_path: Path) -> None:
    rows = (AB, {**AB, "relation": "x"}, {"source": "b", "target": "a"}, A, B)
    with Tables(tmp_path / "tables", scope="s", now=NOW) as tables:
        report = write_tables([lines_of(tmp_path, *rows)], tables, kinds=DEFAULT_KINDS)
    assert (report.memories, report.relations, report.dimensions) == (2, 3, None)


def command(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    return subprocess.run(
        [sys.executable, "-m", "memoria", *arguments],
        env={**clean, "MEMORIA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def leftovers(home: Path) -> list[Path]:
    return list(home.glob("import-*"))


async def test_the_command_leaves_a_running_server_with_the_schema(
    local: LocalNeo4j, tmp_path: Path
) -> None:
    graph = lines_of(tmp_path, {**A, "embedding": [1.0, 0.0]}, B, AB)
    arguments = ("import", "--offline", str(graph), "--embedder", "none", "--scope", "ada")
    done = command(tmp_path, *arguments, "--json")
    expected = {"memories": 2, "relations": 1, "embedded": 0, "left_out": 0}
    assert json.loads(done.stdout) == expected, done.stderr
    info = await local.start()
    async with neo4j.AsyncGraphDatabase.driver(info.uri, auth=local.auth) as driver:
        await check_schema(Store(driver, database="neo4j"), dimensions=2)
        assert [row[0] for row in await contents(driver)] == ["a", "b", "abrelated"]
    again = command(tmp_path, *arguments)
    assert again.returncode == 1
    assert "memoria down" in again.stderr
    assert "usage" in command(tmp_path, "import", str(graph)).stderr.lower()
    assert not leftovers(tmp_path)
