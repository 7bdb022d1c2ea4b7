"""Read a dataset: memories, relations, questions with the ids of their evidence.

In: a folder and the name of a split. Out: a `Dataset`, checked. Reads files. Of a question,
only its conversation has an influence on how memories and relations are made.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoria._support.checks import check_scope
from memoria.errors import InvalidInputError
from memoria.evaluation.files import ARRAY, Entry, find_file, read_entries, read_vectors, splits
from memoria.evaluation.nodes import Node, conversation_of, read_nodes
from memoria.evaluation.scopes import memories_of, relations_of
from memoria.types import Memory, Relation

SCOPE_PREFIX = "memoria-evaluation"
MAX_NAME_CHARS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and the memories that are its evidence.

    Attributes
    ----------
    id, text
        Its id, and the question itself.
    gold
        Ids of the memories that answer it; at least one. Only the scores use it: no method sees it.
    category
        Category of the question, or None.
    scope
        Scope to search in.
    """

    id: str
    text: str
    gold: tuple[str, ...]
    category: str | None
    scope: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A graph of memories, and questions to it.

    Attributes
    ----------
    name, split
        Name of the folder, and name of the split whose questions were read.
    memories, relations
        Scope -> its memories, and its relations; both have every scope. No two relations of a
        scope have the same ends and name.
    questions
        The questions, in the order of the file.
    item_kinds
        Kinds that are ranked; at least one.
    vectors
        Id of a ranked memory -> its supplied vector; empty if the dataset has none.
    question_vectors
        Text of a question -> its supplied vector; empty if the dataset has none.
    left_out
        Reason -> number of lines that were left out for it.
    """

    name: str
    split: str
    memories: Mapping[str, tuple[Memory, ...]]
    relations: Mapping[str, tuple[Relation, ...]]
    questions: tuple[Question, ...]
    item_kinds: tuple[str, ...]
    vectors: Mapping[str, NDArray[np.float64]]
    question_vectors: Mapping[str, NDArray[np.float64]]
    left_out: Mapping[str, int]


def read_dataset(folder: Path, *, split: str = "dev") -> Dataset:
    """Read the files of one split.

    Parameters
    ----------
    folder
        Holds ``nodes``, ``edges`` and ``questions`` as JSON Lines, and perhaps vectors; see
        ``docs/evaluation.md``.

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
    prefix = f"{SCOPE_PREFIX}/{files.name}"
    if any(conversation_of(entry) is not None for entry in asked):
        conversations = list(dict.fromkeys(n.conversation for n in nodes if n.conversation))
        scopes: Mapping[str | None, str] = {c: _scope(prefix, c) for c in conversations}
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

    @property
    def name(self) -> str:
        """Name of the folder, with a hash of the graph: a graph that changes gets new scopes."""
        digest = hashlib.sha256()
        for path in (self.nodes, self.edges, self.node_vectors):
            if path is not None:
                with path.open("rb") as file:
                    while part := file.read(1 << 20):
                        digest.update(part)
        shown = self.folder.name.encode("utf-8", "replace").decode()[:MAX_NAME_CHARS]
        return f"{shown}-{digest.hexdigest()[:8]}"

    def _needed(self, name: str, split: str) -> Path:
        if (path := find_file(self.folder, name, split)) is None:
            raise InvalidInputError(
                f"{self.folder}: {name}.jsonl.gz or {name}.{split}.jsonl.gz was not found"
            )
        return path


def _scope(prefix: str, conversation: str) -> str:
    """Return the scope of a conversation; a long name is replaced by its hash."""
    if len(conversation.encode("utf-8", "replace")) > 4 * MAX_NAME_CHARS:
        conversation = hashlib.sha256(conversation.encode("utf-8", "replace")).hexdigest()
    return check_scope(f"{prefix}/{conversation}")


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
    """Read the vectors of the ranked memories, by id, and of the questions, by line."""
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
