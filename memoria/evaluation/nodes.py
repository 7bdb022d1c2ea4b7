"""Turn the nodes of a dataset into memories.

In: the lines of a nodes file. Out: `Node`s, each a memory and its conversation; and the kinds that
are ranked. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memoria._support.checks import MAX_TAG_CHARS, MAX_TAGS
from memoria.evaluation.files import Entry
from memoria.graph.vocabulary import RESERVED_LABELS
from memoria.types import Memory

MAX_LABEL_CHARS = 60  # 64 are allowed; the rest is for a number
# Fields whose strings are never the text of a node.
_NO_TEXT = ("id", "kind", "conversation", "time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node as a memory.

    Attributes
    ----------
    memory
        The memory, without a vector.
    """

    memory: Memory
    conversation: str | None


def read_nodes(entries: Iterable[Entry]) -> tuple[list[Node], tuple[str, ...]]:
    """Make a memory of each node.

    Returns
    -------
    tuple
        The nodes, in the same order; and the labels of the kinds that are ranked, which are the
        kinds of nodes with a text, sorted.

    Raises
    ------
    InvalidInputError
        A field is wrong, or two nodes have the same id; the message names the place.
    """
    lines = list(entries)
    labels = kind_labels([entry.string("kind") for entry in lines])
    nodes: list[Node] = []
    seen: set[str] = set()
    ranked: set[str] = set()
    for entry in lines:
        kind = labels[entry.string("kind")]
        memory = _memory(entry, kind)
        if memory.id in seen:
            raise entry.fault(f"id {memory.id!r} is also the id of an earlier node", "id")
        seen.add(memory.id)
        if entry.optional_string("text") is not None:
            ranked.add(kind)
        nodes.append(Node(memory=memory, conversation=entry.conversation))
    return nodes, tuple(sorted(ranked))


def kind_labels(kinds: Sequence[str]) -> dict[str, str]:
    """Make a label for each kind; kinds that would get the same label get numbers.

    >>> kind_labels(["passage", "news item", "news_item", "1st", "memory"])
    {'1st': '_1st', 'memory': 'Memory_2', 'news item': 'NewsItem', 'news_item': 'NewsItem_2', \
'passage': 'Passage'}
    """
    labels: dict[str, str] = {}
    taken = set(RESERVED_LABELS)
    for kind in sorted(set(kinds)):
        words = re.findall(r"[A-Za-z0-9]+", kind)
        label = "".join(word[0].upper() + word[1:] for word in words)[:MAX_LABEL_CHARS] or "Node"
        label = label if label[0].isalpha() else f"_{label}"
        free, number = label, 1
        while free in taken:
            number += 1
            free = f"{label}_{number}"
        taken.add(free)
        labels[kind] = free
    return labels


def _memory(entry: Entry, kind: str) -> Memory:
    id_ = entry.string("id")
    with entry.placing():
        return Memory(
            id=id_,
            kind=kind,
            text=_text(entry) or id_,
            entities=_cut(entry.strings("entities")),
            created_at=entry.time("time"),
        )


def _text(entry: Entry) -> str | None:
    """Return the text of a node: title and text, or name, or the first of its other strings."""
    parts = [entry.optional_string(name) for name in ("title", "text")]
    if any(parts):
        return "\n".join(part for part in parts if part)
    if (name := entry.optional_string("name")) is not None:
        return name
    for field, value in entry.fields.items():
        if field not in _NO_TEXT and isinstance(value, str) and value.strip():
            return value
    return None


def _cut(names: Iterable[str]) -> list[str]:
    """Return the names, cut to the number and the length that a memory may have."""
    return list(dict.fromkeys(name[:MAX_TAG_CHARS] for name in names))[:MAX_TAGS]
