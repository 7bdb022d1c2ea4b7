"""Read a prepared graph: memories, relations, questions with the ids of their evidence.

In: a folder and the name of a split. Out: a `Dataset`, checked. Reads files. Of a question, only
its conversation affects how memories and relations are built.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoria.errors import InvalidInputError
from memoria.evaluation.dataset import Dataset, Question, scope_of, scopes_prefix
from memoria.evaluation.files import ARRAY, Entry, find_file, read_entries, read_vectors, splits
from memoria.evaluation.nodes import Node, conversation_of, read_nodes
from memoria.evaluation.scopes import memories_of, relations_of


def read_prepared(folder: Path, *, split: str = "dev") -> Dataset:
    """Read the files of one split.

    Parameters
    ----------
    folder
        A folder with ``nodes``, ``edges`` and ``questions`` as JSON Lines, and optionally vectors;
        see ``docs/evaluation.md``.

    Raises
    ------
    InvalidInputError
        A file is missing or wrong; the message names file, line and field.
    """
    files = _Files(folder, split)
    nodes, item_kinds = read_nodes(read_entries(files.nodes))
    if not item_kinds:
        raise InvalidInputError(f"{files.nodes}: no node has a text, so there is nothing to rank")
    asked = list(read_entries(files.questions))
    prefix = scopes_prefix(files.folder, (files.nodes, files.edges, files.node_vectors))
    if any(conversation_of(entry) is not None for entry in asked):
        conversations = list(dict.fromkeys(n.conversation for n in nodes if n.conversation))
        scopes: Mapping[str | None, str] = {c: scope_of(prefix, c) for c in conversations}
    else:
        nodes = [Node(memory=node.memory, conversation=None) for node in nodes]
        scopes = {None: prefix}
    left_out: Counter[str] = Counter()
    questions, numbers = _questions(asked, scopes, left_out)
    vectors, question_vectors = _vectors(files, nodes, item_kinds, asked)
    return Dataset(
        name=files.folder.name or str(files.folder),
        split=split,
        memories=memories_of(nodes, scopes),
        relations=relations_of(read_entries(files.edges), nodes, scopes, left_out),
        questions=questions,
        item_kinds=item_kinds,
        vectors=vectors,
        question_vectors={
            question.text: question_vectors[number]
            for question, number in zip(questions, numbers, strict=True)
            if len(question_vectors)
        },
        left_out=dict(left_out),
    )


class _Files:
    """The paths of the files of a split."""

    def __init__(self, folder: Path, split: str) -> None:
        if not folder.is_dir():
            raise InvalidInputError(f"{folder}: no such folder")
        self.folder = folder.resolve()
        self.nodes = self._needed("nodes", split)
        self.edges = self._needed("edges", split)
        questions = find_file(self.folder, f"questions.{split}", None)
        if questions is None:
            known = ", ".join(splits(self.folder)) or "none"
            raise InvalidInputError(
                f"{folder}: questions.{split}.jsonl does not exist; splits with questions: {known}"
            )
        self.questions = questions
        self.node_vectors = find_file(self.folder, "emb_nodes", split, ARRAY)
        self.question_vectors = find_file(self.folder, f"emb_questions.{split}", None, ARRAY)

    def _needed(self, name: str, split: str) -> Path:
        if (path := find_file(self.folder, name, split)) is None:
            raise InvalidInputError(
                f"{self.folder}: {name}.jsonl.gz or {name}.{split}.jsonl.gz was not found"
            )
        return path


def _questions(
    entries: Sequence[Entry], scopes: Mapping[str | None, str], left_out: Counter[str]
) -> tuple[tuple[Question, ...], list[int]]:
    """Read the questions that have evidence; also return the line number of each, from 0."""
    found: dict[str, Question] = {}
    numbers: list[int] = []
    for number, entry in enumerate(entries):
        id_, conversation = entry.string("id"), conversation_of(entry)
        if id_ in found:
            raise entry.fault(f"id {id_!r} is also the id of an earlier question", "id")
        scope = scopes.get(None) or scopes.get(conversation)
        if scope is None:
            raise entry.fault(
                f"conversation must be one that nodes have, got {conversation!r}", "conversation"
            )
        gold = tuple(dict.fromkeys(entry.strings("gold")))
        if not gold:
            left_out["question without gold"] += 1
            continue
        category = entry.optional_string("category")
        text = entry.string("question")
        found[id_] = Question(id=id_, text=text, gold=gold, category=category, scope=scope)
        numbers.append(number)
    if not found:
        raise InvalidInputError("no question with evidence (gold) was found to ask")
    return tuple(found.values()), numbers


def _vectors(
    files: _Files, nodes: Iterable[Node], item_kinds: Sequence[str], asked: Sequence[Entry]
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
    """Read the vectors: of the ranked memories by id, of the questions by line."""
    items = [node.memory.id for node in nodes if node.memory.kind in item_kinds]
    vectors: dict[str, NDArray[np.float64]] = {}
    if files.node_vectors is not None:
        rows = read_vectors(files.node_vectors, count=len(items), what="ranked nodes")
        vectors = dict(zip(items, rows, strict=True))
    of_questions: NDArray[np.float64] = np.empty((0, 0))
    if files.question_vectors is not None:
        of_questions = read_vectors(files.question_vectors, count=len(asked), what="questions")
    if vectors and len(of_questions):
        sizes = next(iter(vectors.values())).size, of_questions.shape[1]
        if sizes[0] != sizes[1]:
            raise InvalidInputError(
                f"{files.question_vectors}: vectors have {sizes[1]} numbers, but the vectors of "
                f"the nodes have {sizes[0]}"
            )
    return vectors, of_questions
