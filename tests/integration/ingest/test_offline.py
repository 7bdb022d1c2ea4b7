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
from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.ingest import LIST_DELIMITER, Tables, write_tables
from memoria.ingest.rows import memory_row, relation_row
from memoria.local import ImportFiles, LocalNeo4j
from memoria.local.settings import COORDINATE
from memoria.store import Store
from memoria.types import Memory, Relation
from memoria.writer import GraphWriter
from tests.integration.cli.test_commands import in_process
from tests.schema import check_schema

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
SCOPE = 'of "Ada", 1'
MEMORY_ROWS: list[dict[str, Any]] = [
    {
        "id": "a",
        "kind": "Event",
        "text": 'a "quoted" \\ word;,\nsecond line\r\n  third ',
        "tags": ["t;1", "t,2", 'q"', ""],
        "topics": ["A b"],
        "category": "c",
        "priority": 0.25,
        "when": {"k": ["v", 1]},
        "metadata": {"m": {"n": "é\t\n"}},
        "created_at": datetime(2020, 2, 29, 12, tzinfo=UTC),
        "embedding": [0.1, -2.5e-7, 1.0],
    },
    {"id": " b,\"'\\", "kind": "Event", "text": "", "priority": 1},
    {"id": "c", "kind": "AgentAnswer", "text": "'x' \\\" \x00 \x1f", "category": ""},
    {"id": "t", "kind": "Topic", "text": 'a "name"', "embedding": [1.0, 0.0, 0.0]},
]
RELATION_ROWS: list[dict[str, Any]] = [
    {"source": "a", "target": "c", "relation": 'r, "x"', "weight": 1, "tags": ["z", "a"]},
    {"source": " b,\"'\\", "target": "a"},
    {"source": "a", "target": "c", "weight": 0.1},
]
MEMORIES = [Memory(**row) for row in MEMORY_ROWS]
RELATIONS = [Relation(**row) for row in RELATION_ROWS]
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


def with_an_edge_to_nobody(folder: Path) -> ImportFiles:
    files = tables_of(folder)
    with files.relations.open("a", encoding="utf-8") as table:
        table.write('"a","nobody","r",0.5,,ingest,,0\n')
    return files


def lines_of(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "graph.jsonl"
    lines = (json.dumps(row, default=datetime.isoformat) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")
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


def import_with_a_command(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NEO4J_")}
    return subprocess.run(
        [sys.executable, "-m", "memoria", "import", *arguments],
        env={**clean, "MEMORIA_HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )


def leftovers(home: Path) -> list[Path]:
    return list(home.glob("import-*"))


def stored(local: LocalNeo4j) -> set[tuple[Path, int, int]]:
    """All files of the databases, with their sizes and when they were written."""
    files = (local.home / "server" / "data" / "databases").rglob("*")
    return {(file, file.stat().st_size, file.stat().st_mtime_ns) for file in files}


async def test_imported_graph_is_the_one_a_writer_writes_and_what_is_refused_leaves_it(
    local: LocalNeo4j, tmp_path: Path
) -> None:
    steps: list[tuple[str, int]] = []
    files, wrong = tables_of(tmp_path / "tables"), with_an_edge_to_nobody(tmp_path / "wrong")
    with pytest.raises(LocalServerError, match=r"refuses to import the files: .*nobody"):
        await local.import_files(wrong)
    await local.check_import()  # that has left no database
    await local.import_files(
        files, progress=lambda label, done, _total: steps.append((label, done))
    )
    assert steps == sorted(steps, key=lambda step: step[1])
    assert steps[-1] == ("import", 400)
    before = stored(local)
    with pytest.raises(LocalServerError, match="already has a database"):
        await local.import_files(files)
    with pytest.raises(LocalServerError, match="refuses to import the files"):
        await local.import_files(wrong, overwrite=True)
    assert stored(local) == before

    graph = lines_of(tmp_path, *MEMORY_ROWS, *RELATION_ROWS)
    arguments = ("--offline", str(graph), "--embedder", "none", "--scope", SCOPE)
    began = datetime.now(UTC)
    done = import_with_a_command(tmp_path, *arguments, "--overwrite", "--json")
    ended = datetime.now(UTC)
    expected = {"memories": 4, "relations": 3, "embedded": 0, "left_out": 0}
    assert json.loads(done.stdout) == expected, done.stderr
    again = in_process("import", *arguments, MEMORIA_HOME=str(tmp_path))
    assert again.code == 1
    assert "memoria down" in again.err
    assert "usage" in in_process("import", str(graph)).err.lower()
    assert not leftovers(tmp_path)

    info = await local.start()  # the command has started it
    with pytest.raises(LocalServerError, match="needs it stopped: run memoria down"):
        await local.import_files(files, overwrite=True)
    async with neo4j.AsyncGraphDatabase.driver(info.uri, auth=local.auth) as driver:
        imported = await contents(driver)
        store = Store(driver, database="neo4j")
        await check_schema(store, dimensions=3)
        (now,) = {row[2]["created_at"].to_native() for row in imported if row[0] in ("c", "t")}
        assert began <= now <= ended
        writer = GraphWriter(store, scope=SCOPE, clock=lambda: now)
        report = await writer.write(MEMORIES, RELATIONS)
        assert (report.memories_created, report.relations_created) == (0, 0), "it finds all of it"
        assert await contents(driver) == imported
        await writer.forget(memory.id for memory in MEMORIES)
        await writer.write(MEMORIES, RELATIONS)
        assert await contents(driver) == imported
