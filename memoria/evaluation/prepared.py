"""Read a prepared graph: memories, relations, questions with the ids of their evidence.

In: a folder and the name of a split. Out: a `Dataset`, checked. Reads files. Of a question, only
its conversation affects how memories and relations are built.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memoria.errors import InvalidInputError
from memoria.evaluation.dataset import Dataset, Question, scope_of, scopes_prefix
from memoria.evaluation.files import ARRAY, Entry, find_file, read_entries, read_vectors, splits
from memoria.evaluation.nodes import Node, read_nodes
from memoria.graph.vocabulary import RELATED
from memoria.types import Memory, Relation


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
    if any(entry.conversation is not None for entry in asked):
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
        memories=_memories(nodes, scopes),
        relations=_relations(read_entries(files.edges), nodes, scopes, left_out),
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


def read_asked(folder: Path, *, split: str, kinds: Sequence[str], scope: str) -> Dataset:
    """Read only the questions of a split, about a graph that is in the database already.

    Parameters
    ----------
    kinds
        Kinds that are ranked.
    scope
        Scope of the questions that name no ``conversation``.

    Raises
    ------
    InvalidInputError
        The file is missing or wrong; the message names file, line and field.
    """
    asked = list(read_entries(_questions_file(folder, split)))
    named = dict.fromkeys(entry.conversation for entry in asked)
    left_out: Counter[str] = Counter()
    questions, _ = _questions(asked, {name: name or scope for name in named}, left_out)
    scopes = list(dict.fromkeys(question.scope for question in questions))
    return Dataset(
        name=folder.name or str(folder),
        split=split,
        memories=dict.fromkeys(scopes, ()),
        relations=dict.fromkeys(scopes, ()),
        questions=questions,
        item_kinds=tuple(kinds),
        vectors={},
        question_vectors={},
        left_out=dict(left_out),
    )


def _questions_file(folder: Path, split: str) -> Path:
    if not folder.is_dir():
        raise InvalidInputError(f"{folder}: no such folder")
    questions = find_file(folder, f"questions.{split}", None)
    if questions is None:
        known = ", ".join(splits(folder)) or "none"
        raise InvalidInputError(
            f"{folder}: questions.{split}.jsonl does not exist; splits with questions: {known}"
        )
    return questions


class _Files:
    """The paths of the files of a split."""

    def __init__(self, folder: Path, split: str) -> None:
        if not folder.is_dir():
            raise InvalidInputError(f"{folder}: no such folder")
        self.folder = folder.resolve()
        self.nodes = self._needed("nodes", split)
        self.edges = self._needed("edges", split)
        self.questions = _questions_file(self.folder, split)
        self.node_vectors = find_file(self.folder, "emb_nodes", split, ARRAY)
        self.question_vectors = find_file(self.folder, f"emb_questions.{split}", None, ARRAY)

    def _needed(self, name: str, split: str) -> Path:
        if (path := find_file(self.folder, name, split)) is None:
            raise InvalidInputError(
                f"{self.folder}: {name}.jsonl.gz or {name}.{split}.jsonl.gz was not found"
            )
        return path


def _memories(
    nodes: Iterable[Node], scopes: Mapping[str | None, str]
) -> dict[str, tuple[Memory, ...]]:
    """Put each memory into its scope; a memory without a conversation is in all scopes."""
    found: dict[str, list[Memory]] = {scope: [] for scope in scopes.values()}
    for node in nodes:
        for scope in _scopes_of(node.conversation, scopes):
            found[scope].append(node.memory)
    return {scope: tuple(memories) for scope, memories in found.items()}


def _scopes_of(conversation: str | None, scopes: Mapping[str | None, str]) -> list[str]:
    return [scopes[conversation]] if conversation is not None else list(scopes.values())


def _relations(
    entries: Iterable[Entry],
    nodes: Iterable[Node],
    scopes: Mapping[str | None, str],
    left_out: Counter[str],
) -> dict[str, tuple[Relation, ...]]:
    """Read the edges; of several edges with the same ends and name, the strongest stays."""
    of = {node.memory.id: node.conversation for node in nodes}
    found: dict[str, dict[tuple[str, str, str], Relation]] = {s: {} for s in scopes.values()}
    for relation in _read_relations(entries, of, left_out):
        ends = {of[relation.source], of[relation.target]} - {None}
        if len(ends) > 1:
            left_out["edge between two conversations"] += 1
            continue
        key = (relation.source, relation.target, relation.relation)
        for scope in _scopes_of(next(iter(ends), None), scopes):
            known = found[scope].get(key)
            if known is None or relation.weight > known.weight:
                found[scope][key] = relation
    return {scope: tuple(relations.values()) for scope, relations in found.items()}


def _read_relations(
    entries: Iterable[Entry], known: Mapping[str, str | None], left_out: Counter[str]
) -> Iterator[Relation]:
    for entry in entries:
        source, target = entry.string("s"), entry.string("t")
        if source == target:
            left_out["edge from a node to itself"] += 1
            continue
        if source not in known or target not in known:
            left_out["edge with an end that is not a node"] += 1
            continue
        weight = entry.fields.get("w")
        try:
            yield Relation(
                source=source,
                target=target,
                relation=entry.optional_string("type") or RELATED,
                weight=1.0 if weight is None else weight,
            )
        except InvalidInputError as exc:
            field = {"weight": "w", "relation": "type"}.get(exc.field or "", exc.field)
            raise entry.fault(f"{field}: {exc}", field) from exc


def _questions(
    entries: Sequence[Entry], scopes: Mapping[str | None, str], left_out: Counter[str]
) -> tuple[tuple[Question, ...], list[int]]:
    """Read the questions that have evidence; also return the line number of each, from 0."""
    found: dict[str, Question] = {}
    numbers: list[int] = []
    for number, entry in enumerate(entries):
        id_, conversation = entry.string("id"), entry.conversation
        if id_ in found:
            raise entry.fault(f"id {id_!r} is also the id of an earlier question", "id")
        scope = scopes.get(conversation) or scopes.get(None)
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
