"""Ingesting files, on the real server."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from memoria.errors import InvalidInputError
from memoria.ingest import ingest_files
from memoria.store import Store
from memoria.types import WriteReport
from memoria.writer import GraphWriter

Fields = dict[str, Any]


def memory(id_: str, **fields: Any) -> Fields:
    return {"id": id_, "kind": "Event", "text": f"text of {id_}", **fields}


def edge(source: str, target: str, **fields: Any) -> Fields:
    return {"source": source, "target": target, **fields}


def write(path: Path, *lines: Fields | str) -> Path:
    text = "\n".join(part if isinstance(part, str) else json.dumps(part) for part in lines)
    path.write_text(text + "\n", encoding="utf-8")
    return path


@pytest.fixture
def writer(store: Store, scope: str) -> GraphWriter:
    return GraphWriter(store, scope=scope, batch_size=2)


async def count(store: Store, scope: str) -> tuple[int, int]:
    records, _, _ = await store.driver.execute_query(
        "MATCH (m:Memory {scope: $scope}) "
        "RETURN count(m) AS nodes, sum(COUNT { (m)-[:RELATES]->() }) AS edges",
        scope=scope,
    )
    return records[0]["nodes"], records[0]["edges"]


async def test_memories_may_follow_the_edges_that_name_them_even_in_another_file(
    writer: GraphWriter, store: Store, scope: str, tmp_path: Path
) -> None:
    first = write(tmp_path / "a.jsonl", edge("a", "b"), memory("a"), edge("c", "a"))
    second = tmp_path / "b.jsonl.gz"
    second.write_bytes(
        gzip.compress("\n".join(map(json.dumps, [memory("b"), memory("c")])).encode())
    )
    report = await ingest_files(writer, [first, second])
    assert report.lines == 5
    assert report.written == WriteReport(
        memories=3, memories_created=3, relations=2, relations_created=2
    )
    assert await count(store, scope) == (3, 2)


async def test_running_again_creates_nothing(writer: GraphWriter, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", memory("a"), memory("b"), edge("a", "b"))
    await ingest_files(writer, [path])
    report = await ingest_files(writer, [path])
    assert report.written == WriteReport(memories=2, relations=1)


async def test_standard_input_is_a_file(
    writer: GraphWriter, store: Store, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = "\n".join(map(json.dumps, [edge("a", "b"), memory("a"), memory("b")]))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data.encode())))
    await ingest_files(writer, ["-"])
    assert await count(store, scope) == (2, 1)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (edge("a", "b", weight=3), "weight must be in [0, 1], got 3"),
        (edge("a", "a"), "target must be another memory"),
        (memory("x", kind="Rumour"), "kind must be one of"),
        (memory("x", embedding=[1, 2]), "has 2 dimensions"),
        (memory("x", colour="red"), "unknown field 'colour'"),
        (edge("a", "ghost"), "target 'ghost' is not a memory of scope"),
        (edge("ghost", "a"), "source 'ghost' is not a memory of scope"),
        ("{", "not JSON"),
    ],
)
async def test_a_bad_line_is_named_or_passed_over(
    writer: GraphWriter,
    store: Store,
    scope: str,
    tmp_path: Path,
    bad: Fields | str,
    message: str,
) -> None:
    lines = [memory("a"), bad, memory("b"), edge("a", "b")]
    path = write(tmp_path / "file.jsonl", *lines)
    with pytest.raises(InvalidInputError) as caught:
        await ingest_files(writer, [path])
    assert str(caught.value).startswith(f"{path}:2: ")
    assert message in str(caught.value)
    report = await ingest_files(writer, [path], skip_invalid=True)
    assert (report.lines, report.written.skipped) == (4, 1)
    assert len(report.problems) == 1
    assert report.problems[0].startswith(f"{path}:2: ")
    assert await count(store, scope) == (2, 1)


async def test_only_the_first_problems_are_kept_but_all_are_counted(
    writer: GraphWriter, tmp_path: Path
) -> None:
    path = write(tmp_path / "a.jsonl", *["nonsense"] * 50)
    report = await ingest_files(writer, [path], skip_invalid=True)
    assert (report.written.skipped, len(report.problems)) == (50, 20)


async def test_of_equal_ids_the_last_one_counts_and_the_others_are_counted(
    writer: GraphWriter, store: Store, scope: str, tmp_path: Path
) -> None:
    path = write(
        tmp_path / "a.jsonl", *(memory("a", text=text) for text in ["one", "two", "three"])
    )
    report = await ingest_files(writer, [path])
    assert report.written.duplicates == 2
    records, _, _ = await store.driver.execute_query(
        "MATCH (m:Memory {scope: $scope}) RETURN m.text AS text", scope=scope
    )
    assert [record["text"] for record in records] == ["three"]


async def test_progress_names_stage_done_and_total(writer: GraphWriter, tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        *(memory(id_) for id_ in "abc"),
        *(edge("a", "b", relation=name) for name in ["x", "y", "z"]),
    )
    steps: list[tuple[str, int, int | None]] = []
    await ingest_files(writer, [path], progress=lambda *step: steps.append(step))
    assert steps == [
        ("memories", 2, None),
        ("memories", 3, None),
        ("memories", 3, 3),
        ("relations", 2, 3),
        ("relations", 3, 3),
    ]


async def test_an_empty_file_is_no_error(writer: GraphWriter, tmp_path: Path) -> None:
    report = await ingest_files(writer, [write(tmp_path / "a.jsonl")])
    assert (report.lines, report.written) == (0, WriteReport())
