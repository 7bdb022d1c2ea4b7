"""An export in Markdown: the notes that lines become, and the lines that notes become."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoria.errors import InvalidInputError
from memoria.importers import read_notes
from memoria.ingest.jsonl import read_lines
from memoria.ingest.vault import VaultWriter

MEMORIES: list[dict[str, Any]] = [
    {"id": "notes/Tea.md", "kind": "DataSource", "text": "Tea\n\nGreen.", "tags": ["a", "b"],
     "created_at": "2026-03-02T09:00:00+00:00", "metadata": {"path": "Tea.md", "n": [1, {}]}},
    {"id": "slack:C1:1", "kind": "Event", "text": "---\nx: y\n---\n%% memoria: links %%\n\r\n "},
    {"id": "plain", "kind": "Event",
     "text": "ü 🙂 %%x%% [[Tea]]\n\n%% memoria: links %%\n- a %%{}%%"},
    {"id": "%/]]|\n%%", "kind": "Event", "text": ""},
]  # fmt: skip
EDGES: list[dict[str, Any]] = [
    {"source": "notes/Tea.md", "target": "%/]]|\n%%", "relation": "like %% this", "weight": 0.5},
    {"source": "plain", "target": "notes/Tea.md", "relation": "next", "weight": 1.0},
    {"source": "plain", "target": "slack:C1:1", "suppresses": "overrides"},
    {"clock": {"active_hours": 1.5}},
]


def vault(folder: Path, *fields: dict[str, Any]) -> Path:
    """A folder with the notes of some lines."""
    folder.mkdir()
    writer = VaultWriter(folder)
    for each in fields:
        writer.add(json.dumps(each, ensure_ascii=False))
    writer.close()
    return folder


def read(folder: Path) -> list[dict[str, Any]]:
    """The lines of such a folder."""
    return [json.loads(line.raw) for line in read_lines([folder])]


def key(fields: dict[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True)


def test_an_export_comes_back_from_its_notes(tmp_path: Path) -> None:
    folder = vault(tmp_path / "v", *MEMORIES, *EDGES)
    assert sorted(read(folder), key=key) == sorted([*MEMORIES, *EDGES], key=key)
    (tea,) = (folder / "notes").iterdir()
    assert tea.name == "Tea.md " + tea.stem[-8:] + ".md"
    text = tea.read_text(encoding="utf-8")
    assert text.startswith('---\nid: "notes/Tea.md"\nkind: "DataSource"\ntags: ["a", "b"]\n')
    assert "\n---\nTea\n\nGreen.\n\n%% memoria: links %%\n- like this [[" in text


def test_an_edited_note_is_an_edited_memory(tmp_path: Path) -> None:
    folder = vault(tmp_path / "v", MEMORIES[0])
    (tea,) = (folder / "notes").iterdir()
    tea.write_text(tea.read_text("utf-8").replace("Green.", "Black."), encoding="utf-8")
    assert read(folder) == [{**MEMORIES[0], "text": "Tea\n\nBlack."}]


def test_a_note_of_somebody_else_is_named(tmp_path: Path) -> None:
    folder = vault(tmp_path / "v", MEMORIES[0])
    (folder / "mine.md").write_text("Mine.", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"mine\.md: not a note of an export"):
        read(folder)
    with pytest.raises(InvalidInputError, match="memoria ingest"):
        read_notes(folder)


@settings(deadline=None, max_examples=100)
@given(
    id_=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60),
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=80),
    tag=st.text(st.characters(exclude_categories=["Cs"]), max_size=9),
)
def test_any_text_comes_back(id_: str, text: str, tag: str, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("vault") / "v"
    memory = {"id": id_, "kind": "Event", "text": text, "tags": [tag]}
    target = tag or "x"
    target += "y" * (target == id_)
    edge = {"source": id_, "target": target, "relation": text or "r", "weight": 0.5}
    assert read(vault(folder, memory, edge)) == [memory, edge]
