"""Reading a dataset: what becomes of nodes, edges and questions, and what is refused where."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memoria.errors import InvalidInputError
from memoria.evaluation import Dataset, read_dataset, supplied_embedder
from memoria.evaluation.nodes import kind_labels
from memoria.types import Memory

DATA = Path(__file__).parents[2] / "data"
NODES: list[dict[str, Any]] = [
    {"id": "a", "kind": "note", "text": "Rain in Lund."},
    {"id": "b", "kind": "note", "title": "Cellar", "text": "It was wet."},
    {"id": "x", "kind": "place", "name": "Lund"},
]
EDGES: list[dict[str, Any]] = [{"s": "a", "t": "x", "type": "NAMES", "w": 0.5}]
QUESTIONS: list[dict[str, Any]] = [{"id": "q", "question": "Where did it rain?", "gold": ["a"]}]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def folder(path: Path, **changed: list[dict[str, Any]]) -> Path:
    """A dataset on disk; each file may be replaced."""
    files = {"nodes": NODES, "edges": EDGES, "questions.dev": QUESTIONS}
    for name, rows in (files | {k.replace("_", "."): v for k, v in changed.items()}).items():
        (path / f"{name}.jsonl").write_bytes(lines(rows))
    return path


def only(dataset: Dataset) -> tuple[Memory, ...]:
    """The memories of a dataset with one scope."""
    [memories] = dataset.memories.values()
    return memories


def test_nodes_become_memories_and_edges_relations(tmp_path: Path) -> None:
    dataset = read_dataset(folder(tmp_path))
    assert [(m.id, m.kind, m.text) for m in only(dataset)] == [
        ("a", "Note", "Rain in Lund."),
        ("b", "Note", "Cellar\nIt was wet."),
        ("x", "Place", "Lund"),
    ]
    [[edge]] = dataset.relations.values()
    assert (edge.source, edge.target, edge.relation, edge.weight) == ("a", "x", "NAMES", 0.5)
    [question] = dataset.questions
    assert (question.text, question.gold, question.category) == (
        "Where did it rain?",
        ("a",),
        None,
    )
    assert dataset.memories.keys() == dataset.relations.keys() == {question.scope}
    assert question.scope.startswith(f"memoria-evaluation/{tmp_path.name[:64]}-")
    assert dataset.item_kinds == ("Note",)
    assert not dataset.left_out


def test_kinds_are_ranked_by_their_texts_and_never_by_the_gold(tmp_path: Path) -> None:
    asked = [{"id": "q", "question": "Where?", "gold": ["x"]}]
    assert read_dataset(folder(tmp_path, questions_dev=asked)).item_kinds == ("Note",)


def test_text_is_the_name_or_another_string_or_the_id(tmp_path: Path) -> None:
    nodes = [
        *NODES,
        {"id": "s", "kind": "day", "time": "2026-01-02T03:04:05", "n": 1, "shown": "2 January"},
        {"id": "t", "kind": "day", "n": 2},
        {"id": "u", "kind": "note", "text": "  ", "title": "Only a title"},
    ]
    by_id = {memory.id: memory for memory in only(read_dataset(folder(tmp_path, nodes=nodes)))}
    assert by_id["s"].text == "2 January"
    assert by_id["s"].created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert by_id["t"].text == "t"
    assert by_id["u"].text == "Only a title"


def test_entities_are_cut_to_what_a_memory_may_have(tmp_path: Path) -> None:
    names = ["x" * 300, *(f"e{i}" for i in range(300))]
    nodes = [{"id": "a", "kind": "note", "text": "t", "entities": names}]
    [memory] = only(read_dataset(folder(tmp_path, nodes=nodes)))
    assert len(memory.entities) == 256
    assert max(map(len, memory.entities)) == 256


def test_edges_that_can_not_stand_are_counted(tmp_path: Path) -> None:
    edges = [
        *EDGES,
        {"s": "a", "t": "a", "type": "SELF", "w": 1.0},
        {"s": "a", "t": "nobody", "type": "NAMES", "w": 1.0},
        {"s": "a", "t": "x", "type": "NAMES", "w": 0.7},
        {"s": "a", "t": "x", "type": "NAMES", "w": 0.6},
        {"s": "a", "t": "b"},
    ]
    dataset = read_dataset(folder(tmp_path, edges=edges))
    [relations] = dataset.relations.values()
    assert [(e.target, e.relation, e.weight) for e in relations] == [
        ("x", "NAMES", 0.7),
        ("b", "related", 1.0),
    ]
    assert dataset.left_out == {
        "edge from a node to itself": 1,
        "edge with an end that is not a node": 1,
    }


def test_no_edges_and_unknown_gold_are_no_error(tmp_path: Path) -> None:
    asked = [{"id": "q", "question": "Where?", "gold": ["nobody"]}]
    dataset = read_dataset(folder(tmp_path, edges=[], questions_dev=asked))
    assert list(dataset.relations.values()) == [()]
    assert dataset.questions[0].gold == ("nobody",)


def test_a_question_without_gold_is_left_out(tmp_path: Path) -> None:
    asked = [{"id": "p", "question": "Why?", "gold": []}, *QUESTIONS]
    dataset = read_dataset(folder(tmp_path, questions_dev=asked))
    assert [question.id for question in dataset.questions] == ["q"]
    assert dataset.left_out == {"question without gold": 1}


def test_each_conversation_is_a_scope() -> None:
    dataset = read_dataset(DATA / "talks")
    assert [scope.rpartition("/")[2] for scope in dataset.memories] == ["tea", "garden"]
    for scope, memories in dataset.memories.items():
        assert {memory.id.partition(":")[0] for memory in memories} == {scope.rpartition("/")[2]}
    assert {q.scope for q in dataset.questions} == set(dataset.memories)
    assert dataset.item_kinds == ("Utterance",)


def test_what_has_no_conversation_stands_in_all(tmp_path: Path) -> None:
    nodes: list[dict[str, Any]] = [
        {"id": "a", "kind": "note", "text": "one", "conversation": "c1"},
        {"id": "b", "kind": "note", "text": "two", "conversation": 2},
        {"id": "x", "kind": "place", "name": "Lund"},
        {"id": "y", "kind": "place", "name": "Ystad"},
    ]
    edges = [
        {"s": "a", "t": "x"},
        {"s": "y", "t": "b"},
        {"s": "x", "t": "y"},
        {"s": "a", "t": "b"},
    ]
    asked = [{"id": "q", "question": "Where?", "gold": ["b"], "conversation": "2"}]
    dataset = read_dataset(folder(tmp_path, nodes=nodes, edges=edges, questions_dev=asked))
    first, second = dataset.memories
    assert [m.id for m in dataset.memories[first]] == ["a", "x", "y"]
    assert [m.id for m in dataset.memories[second]] == ["b", "x", "y"]
    assert [(e.source, e.target) for e in dataset.relations[first]] == [("a", "x"), ("x", "y")]
    assert [(e.source, e.target) for e in dataset.relations[second]] == [("y", "b"), ("x", "y")]
    assert dataset.left_out == {"edge between two conversations": 1}


def test_conversations_without_questions_of_their_own_are_one_scope(tmp_path: Path) -> None:
    nodes = [node | {"conversation": node["id"]} for node in NODES]
    dataset = read_dataset(folder(tmp_path, nodes=nodes))
    assert len(dataset.memories) == 1
    assert len(next(iter(dataset.relations.values()))) == 1


@pytest.mark.parametrize(
    ("name", "row", "where", "field"),
    [
        ("nodes", {"kind": "note", "text": "t"}, "nodes.jsonl, line 4: id", "id"),
        ("nodes", {"id": 7, "kind": "note"}, "nodes.jsonl, line 4: id must be a string", "id"),
        ("nodes", {"id": "n", "text": "t"}, "nodes.jsonl, line 4: kind is missing", "kind"),
        ("nodes", {"id": "a", "kind": "note"}, "line 4: id 'a' is also the id", "id"),
        ("nodes", {"id": "\ud800", "kind": "k", "text": "t"}, "line 4: id holds a lone", "id"),
        ("nodes", {"id": "n", "kind": "k", "text": 1}, "line 4: text must be a string", "text"),
        ("nodes", {"id": "n", "kind": "k", "time": "noon"}, "line 4: time must be", "time"),
        ("nodes", {"id": "n", "kind": "k", "entities": "e"}, "line 4: entities", "entities"),
        ("nodes", {"id": "n" * 600, "kind": "k"}, "line 4: id has 600 bytes", "id"),
        ("edges", {"t": "a"}, "edges.jsonl, line 2: s is missing", "s"),
        ("edges", {"s": "a", "t": "x", "w": 2}, "edges.jsonl, line 2: w: ", "w"),
        ("edges", {"s": "a", "t": "x", "w": "1"}, "edges.jsonl, line 2: w: ", "w"),
        ("edges", {"s": "a", "t": "x", "type": 3}, "line 2: type must be a string", "type"),
        ("questions.dev", {"question": "Why?", "gold": ["a"]}, "dev.jsonl, line 2: id", "id"),
        ("questions.dev", {"id": "q", "question": "Why?", "gold": ["a"]}, "line 2: id 'q'", "id"),
        ("questions.dev", {"id": "r", "gold": ["a"]}, "line 2: question is", "question"),
        ("questions.dev", {"id": "r", "question": "Why?", "gold": "a"}, "line 2: gold", "gold"),
        ("questions.dev", {"id": "r", "question": "Why?", "gold": [1]}, "line 2: gold", "gold"),
    ],
)
def test_a_wrong_line_is_named(
    tmp_path: Path, name: str, row: dict[str, Any], where: str, field: str
) -> None:
    folder(tmp_path)
    with (tmp_path / f"{name}.jsonl").open("ab") as file:
        file.write(lines([row]))
    with pytest.raises(InvalidInputError) as caught:
        read_dataset(tmp_path)
    assert where in str(caught.value)
    assert caught.value.field == field


def test_a_question_of_a_conversation_that_is_not_there_is_refused(tmp_path: Path) -> None:
    asked = [QUESTIONS[0] | {"conversation": "c9"}]
    with pytest.raises(InvalidInputError, match="line 1: conversation must be one that nodes have"):
        read_dataset(folder(tmp_path, questions_dev=asked))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "line 1: not JSON"),
        (b'\n\n{"id": NaN}', "line 3: NaN is not JSON"),
        (b"[]", "line 1: must be a JSON object"),
        (b"\xff", "line 1: not UTF-8"),
        (b"\x1f\x8bnonsense", "gzip data are damaged"),
        (b"", "no node has a text"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, data: bytes, message: str) -> None:
    folder(tmp_path)
    (tmp_path / "nodes.jsonl").write_bytes(data)
    with pytest.raises(InvalidInputError, match=f"nodes.jsonl.*{message}"):
        read_dataset(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no such folder"):
        read_dataset(tmp_path / "nothing")
    with pytest.raises(InvalidInputError, match=r"nodes.jsonl.gz or nodes.dev.jsonl.gz"):
        read_dataset(tmp_path)
    with pytest.raises(InvalidInputError, match="splits with questions: dev"):
        read_dataset(folder(tmp_path), split="test")


def test_the_file_of_the_split_comes_first_and_may_be_packed(tmp_path: Path) -> None:
    folder(tmp_path)
    own = [{"id": "z", "kind": "note", "text": "of the split"}]
    (tmp_path / "nodes.dev.jsonl.gz").write_bytes(gzip.compress(lines(own)))
    assert [memory.id for memory in only(read_dataset(tmp_path))] == ["z"]


def test_other_content_gets_another_scope(tmp_path: Path) -> None:
    before = read_dataset(folder(tmp_path))
    again = read_dataset(folder(tmp_path))
    edges = [EDGES[0] | {"w": 0.25}]
    after = read_dataset(folder(tmp_path, edges=edges))
    assert list(before.memories) == list(again.memories) != list(after.memories)


def test_kinds_become_labels_of_their_own() -> None:
    labels = kind_labels(["passage", "a b", "a-b", "memory", "日記", "年", "9th", "x" * 100])
    assert labels["passage"] == "Passage"
    assert len(set(labels.values())) == 8
    assert not {"Memory", ""} & set(labels.values())


async def test_supplied_vectors_belong_to_the_ranked_nodes_in_order(tmp_path: Path) -> None:
    folder(tmp_path)
    np.save(tmp_path / "emb_nodes.f16.npy", np.array([[1, 0], [0, 0.5]], dtype=np.float16))
    np.save(tmp_path / "emb_questions.dev.f16.npy", np.array([[0.5, 0.5]], dtype=np.float16))
    dataset = read_dataset(tmp_path)
    assert {id_: list(row) for id_, row in dataset.vectors.items()} == {"a": [1, 0], "b": [0, 0.5]}
    embedder = supplied_embedder(dataset)
    assert embedder.dimensions == 2
    assert await embedder.embed_query("Where did it rain?") == [0.5, 0.5]
    with pytest.raises(InvalidInputError, match="ask one of these"):
        await embedder.embed_query("Something else?")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((3, 2), dtype=np.float16), "3 rows for 2 ranked nodes"),
        (np.ones(2, dtype=np.float16), "two axes"),
        (np.ones((2, 4097), dtype=np.float16), "up to 4096 numbers"),
        (np.array([[1, 1], [0, 0]], dtype=np.float16), "row 1 has only zeros"),
        (np.array([[1, np.nan], [1, 1]], dtype=np.float16), "row 0"),
        (
            np.ones((2, 3), dtype=np.float16),
            "vectors have 2 numbers, but the vectors of the nodes have 3",
        ),
    ],
)
def test_wrong_vectors_are_refused(tmp_path: Path, array: np.ndarray, message: str) -> None:
    folder(tmp_path)
    np.save(tmp_path / "emb_nodes.dev.f16.npy", array)
    np.save(tmp_path / "emb_questions.dev.f16.npy", np.ones((1, 2), dtype=np.float16))
    with pytest.raises(InvalidInputError, match=message):
        read_dataset(tmp_path)


def test_a_dataset_without_vectors_says_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="it lacks the emb_nodes file of split dev"):
        supplied_embedder(read_dataset(folder(tmp_path)))
