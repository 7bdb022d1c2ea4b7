"""Memories, and the relations between them.

In: values from a caller or a file, checked once when they are made. Out: frozen data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memoria._support import checks
from memoria._support.wording import cut
from memoria.errors import InvalidInputError
from memoria.types.history import EdgeHistory, MemoryHistory, aware_time

#: Relation of an edge for which no relation is given.
RELATED = "related"
#: Roles of messages that identify the speaker.
#: Key of the metadata of a message: the name of its conversation.
CONVERSATION = "conversation"
SAID_BY_ROLES = ("user", "assistant", "tool", "system")
_MAX_SPEAKER_CHARS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNode:
    """A memory as it is stored in the graph, never with its embedding.

    Not checked, because any program may have written the graph: a property that is missing or of
    another type reads as empty.

    Attributes
    ----------
    id
        Identifier, unique within its scope.
    kind
        Its kind label, such as ``UserRequest``; ``Memory`` when it carries no other label.
    text
        What the memory says; of a connector, such as a ``Topic``, its name.
    tags, topics, entities
        Strings under which the memory is filed.
    category
        One coarse class, or None.
    priority
        Importance, 0 to 1, or None.
    when
        Conditions under which the memory holds.
    created_at
        When the memory was made; an aware datetime, or None.
    metadata
        Anything else that the writer wants to keep.
    valid_until
        When the memory ceases to hold; an aware datetime, or None: never. Later recalls leave it
        out.
    """

    id: str
    kind: str
    text: str
    tags: Sequence[str] = ()
    topics: Sequence[str] = ()
    entities: Sequence[str] = ()
    category: str | None = None
    priority: float | None = None
    when: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    valid_until: datetime | None = None

    @property
    def speaker(self) -> str:
        """The speaker in one short line: name, or else role; "" if the memory has no speaker.

        Conversations store both in the metadata. If the text begins with the name, as older
        versions wrote it, this is "", too.
        """
        found = self.metadata.get("speaker")
        if not isinstance(found, str) or not found.strip():
            role = self.metadata.get("role")
            found = role if CONVERSATION in self.metadata and role in SAID_BY_ROLES else ""
        name = cut(" ".join(found.split()), _MAX_SPEAKER_CHARS)
        return "" if self.text.startswith(f"{name}: ") else name

    @property
    def said(self) -> str:
        """The text, preceded by its speaker if there is one."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(MemoryNode):
    """A memory to be written; see `MemoryNode` for its fields.

    Lists of strings are kept sorted and without duplicates. A naive time counts as UTC.

    Attributes
    ----------
    embedding
        Vector of the text; None to have the writer's embedder make the vector.
    learned
        History of use and linking, as an export has it; it replaces what is stored. None leaves the
        stored history as it is.

    Raises
    ------
    InvalidInputError
        A field is missing, has the wrong type or is out of its range; the error names the field.
    """

    embedding: Iterable[float] | None = None
    learned: MemoryHistory | None = None

    def __post_init__(self) -> None:
        """Check every field once and put it into the form that is stored."""
        checks.check_id(self.id)
        checks.check_kind(self.kind)
        _set(self, "text", checks.mended_text(self.text, "text"))
        for name in ("tags", "topics", "entities"):
            _set(self, name, checks.check_strings(getattr(self, name), name))
        if self.category is not None:
            checks.check_string(self.category, "category", max_bytes=checks.MAX_ID_BYTES)
        if self.priority is not None:
            _set(self, "priority", checks.check_number(self.priority, "priority", low=0, high=1))
        for name in ("when", "metadata"):
            _set(self, name, checks.check_json_map(getattr(self, name), name))
        for name in ("created_at", "valid_until"):
            if getattr(self, name) is not None:
                _set(self, name, aware_time(getattr(self, name), name))
        if self.embedding is not None:
            _set(self, "embedding", checks.check_vector(self.embedding))
        _check_learned(self.learned, MemoryHistory)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A weighted, tagged edge between two memories of one scope.

    Writing the same ``(source, target, relation)`` again updates the edge.

    Attributes
    ----------
    source, target
        Ids of the two memories; energy flows in both directions.
    relation
        What the edge says, such as ``caused_by``.
    weight
        Strength, 0 to 1; usually 0.25 to 1.
    tags
        Topics of the edge, compared with the tags of a query.
    created_at
        An aware datetime, or None: the time of writing, where the edge is new.
    learned
        Traces of use and linking from an export; they replace the traces in this scope. None keeps
        the traces in this scope, unless the weight differs from the weight written before.
    """

    source: str
    target: str
    relation: str = RELATED
    weight: float = 0.5
    tags: Sequence[str] = ()
    created_at: datetime | None = None
    learned: EdgeHistory | None = None

    def __post_init__(self) -> None:
        checks.check_id(self.source, "source")
        checks.check_id(self.target, "target")
        checks.check_id(self.relation, "relation")
        _set(self, "weight", checks.check_number(self.weight, "weight", low=0, high=1))
        _set(self, "tags", checks.check_strings(self.tags, "tags"))
        if self.created_at is not None:
            _set(self, "created_at", aware_time(self.created_at, "created_at"))
        _check_learned(self.learned, EdgeHistory)


def _check_learned(value: object, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise InvalidInputError(f"learned must be {kind.__name__} or nothing", field="learned")


def _set(instance: object, name: str, value: object) -> None:
    """Store the checked form of a field of a frozen instance, while it is being made."""
    object.__setattr__(instance, name, value)
