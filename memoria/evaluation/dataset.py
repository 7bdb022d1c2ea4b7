"""Data types of an evaluation: memories or messages, questions, ids of evidence.

Touches nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from numpy import float64
from numpy.typing import NDArray

from memoria._support.checks import check_scope
from memoria.graph.vocabulary import whole_id
from memoria.types import Conversation, Memory, Relation

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
        Ids of the memories or messages that answer the question; empty if it is unanswerable. Only
        the scores use them; no method sees them.
    category
        Category of the question, or None.
    scope
        Scope to search in.
    asked_at
        Time of the question, aware: only earlier memories may be found. None: all.
    """

    id: str
    text: str
    gold: tuple[str, ...]
    category: str | None
    scope: str
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """The messages of a scope, which memoria's own writer turns into a graph.

    Attributes
    ----------
    conversations
        The conversations, in the order of their first messages.
    ids
        Id of the memory written for a message (for a long message, of its first part) -> id of the
        message.
    """

    conversations: tuple[Conversation, ...]
    ids: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A graph of memories, or chats to build one from, and questions about it.

    Attributes
    ----------
    name, split
        Name of the folder, and name of the split whose questions were read.
    memories, relations
        Scope -> its memories, and its relations; both have every scope. No two relations of a
        scope have the same ends and name. A scope with a chat has no memories or relations here.
    questions
        The questions that have evidence, in the order of the file.
    item_kinds
        Kinds that are ranked; at least one.
    vectors
        Id of a ranked memory -> its supplied vector; empty if the dataset has none.
    question_vectors
        Text of a question -> its supplied vector; empty if the dataset has none.
    left_out
        Reason -> number of lines that were left out for it.
    chats
        Scope -> its chat, for all scopes; empty if the dataset is a graph.
    unanswerable
        The questions without an answer in their chats.
    """

    name: str
    split: str
    memories: Mapping[str, tuple[Memory, ...]]
    relations: Mapping[str, tuple[Relation, ...]]
    questions: tuple[Question, ...]
    item_kinds: tuple[str, ...]
    vectors: Mapping[str, NDArray[float64]]
    question_vectors: Mapping[str, NDArray[float64]]
    left_out: Mapping[str, int]
    chats: Mapping[str, Chat] = field(default_factory=dict)
    unanswerable: tuple[Question, ...] = ()

    def items_of(self, scope: str, ids: Sequence[str]) -> tuple[str, ...]:
        """Return the item that each ranked memory counts as: its message, or else itself.

        Parameters
        ----------
        ids
            Ids of N memories, all of kinds that are ranked.

        Returns
        -------
        tuple
            N ids, in the same order; parts of one message have the same id.
        """
        if scope not in self.chats:
            return tuple(ids)
        messages = self.chats[scope].ids
        return tuple(messages[whole_id(id_)] for id_ in ids)


def folded(items: Iterable[str]) -> tuple[str, ...]:
    """Return each item once, in the order of first occurrence.

    >>> folded(["b", "a", "b"])
    ('b', 'a')
    """
    return tuple(dict.fromkeys(items))


def scopes_prefix(folder: Path, files: Iterable[Path | None]) -> str:
    """Return the prefix of the dataset's scopes, which changes with the contents of its files."""
    digest = hashlib.sha256()
    for path in files:
        if path is not None:
            with path.open("rb") as file:
                while piece := file.read(1 << 20):
                    digest.update(piece)
    shown = folder.name.encode("utf-8", "replace").decode()[:MAX_NAME_CHARS]
    return f"{SCOPE_PREFIX}/{shown}-{digest.hexdigest()[:8]}"


def scope_of(prefix: str, conversation: str) -> str:
    """Return the scope of a conversation; a long name is replaced by its hash."""
    if len(conversation.encode("utf-8", "replace")) > 4 * MAX_NAME_CHARS:
        conversation = hashlib.sha256(conversation.encode("utf-8", "replace")).hexdigest()
    return check_scope(f"{prefix}/{conversation}")
