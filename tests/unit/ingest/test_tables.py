"""The order of the edges in the tables of an offline import."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memoria.graph.vocabulary import DEFAULT_KINDS
from memoria.ingest import Tables, write_tables
from memoria.ingest.rows import relation_row
from memoria.types import Relation

NOW = datetime(2026, 1, 1, tzinfo=UTC)
IDS = ["a\nb", "hub", "c"]
SOURCE, TARGET = np.array([0, 1, 2, 0, 1]), np.array([2, 0, 1, 1, 2])
NAMES = [f'{number}\nof "{IDS[end]}"' for number, end in enumerate(SOURCE)]
# The first edge is not the hub's, and its busier end is the one with the lowest number.
ARRANGED = [0, 1, 2, 3, 4]


def relations() -> list[Relation]:
    """Edge by edge, the one that is not the hub's in the middle."""
    return [
        Relation(source=IDS[SOURCE[number]], target=IDS[TARGET[number]], relation=NAMES[number])
        for number in (1, 2, 0, 3, 4)
    ]


def order_in(file: Path) -> list[int]:
    """Numbers of the edges, in the order of the file."""
    text = file.read_text()
    found = {text.index(name.replace('"', '""')): number for number, name in enumerate(NAMES)}
    assert text.startswith(":START_ID(Memory),")
    assert all(text.count(name.replace('"', '""')) == 1 for name in NAMES)
    return [found[place] for place in sorted(found)]


def test_edges_stand_with_the_busier_of_their_ends(tmp_path: Path) -> None:
    order = [1, 2, 0, 3, 4]
    with Tables(tmp_path, scope="s", now=NOW) as tables:
        for relation in relations():
            tables.add_relation(relation_row(relation))
        tables.arrange(SOURCE[order], TARGET[order])
    assert tables.multiline
    assert order_in(tables.relations) == ARRANGED


def test_tables_made_of_files_are_arranged(tmp_path: Path) -> None:
    edges = [
        {"source": one.source, "target": one.target, "relation": one.relation}
        for one in relations()
    ]
    memories = [{"id": id_, "kind": "Event", "text": "t"} for id_ in IDS]
    file = tmp_path / "graph.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in [*edges, *memories]))
    steps: list[tuple[str, int, int | None]] = []

    def progress(*step: Any) -> None:
        steps.append(step)

    with Tables(tmp_path / "tables", scope="s", now=NOW) as tables:
        write_tables([file], tables, kinds=DEFAULT_KINDS, progress=progress)
    assert steps == [("lines", 8, 8), ("arrange", 5, 5)]
    assert order_in(tables.relations) == [1, 2, 3, 4, 0], "numbered as they come: the hub first"


def test_tables_without_edges_stay_as_they_are(tmp_path: Path) -> None:
    with Tables(tmp_path, scope="s", now=NOW) as tables:
        tables.arrange(np.array([], int), np.array([], int))
    assert tables.relations.read_bytes().count(b"\n") == 1


def test_ends_that_are_not_those_of_the_relations_are_refused(tmp_path: Path) -> None:
    with Tables(tmp_path, scope="s", now=NOW) as tables:
        for relation in relations():
            tables.add_relation(relation_row(relation))
        with pytest.raises(ValueError, match="4 edges to arrange, 5 written"):
            tables.arrange(SOURCE[:4], TARGET[:4])


def test_what_was_learned_is_left_out_and_counted_and_times_are_kept(
    tmp_path: Path,
) -> None:
    lines = [
        {"id": "a", "kind": "Event", "text": "t", "learned": {"use_count": 2}},
        {"id": "b", "kind": "Event", "text": "t", "created_at": None},
        {"source": "a", "target": "b", "created_at": "2025-05-05T05:05:05Z"},
        {"source": "b", "target": "a", "learned": {"uses": 3}},
        {"source": "a", "target": "b", "suppresses": "overrides"},
        {"source": "a", "target": "b", "co_activated": [1.0]},
        {"clock": {"active_hours": 1.0}},
    ]
    file = tmp_path / "graph.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Tables(tmp_path, scope="s", now=NOW) as tables:
        report = write_tables([file], tables, kinds=DEFAULT_KINDS)
    assert (report.memories, report.relations, report.left_out) == (2, 2, 5)
    memories = tables.memories.read_text().splitlines()
    assert ["2026-01-01" in line for line in memories[-2:]] == [True, False]  # b has no time
    text = tables.relations.read_text()
    assert ",ingest,2025-05-05T05:05:05Z,0\n" in text.replace('"', "")
    assert ",ingest,2026-01-01T00:00:00Z,0\n" in text.replace('"', "")
