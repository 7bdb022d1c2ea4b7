"""The lists of the HTTP API, as its description has them.

In: nothing. Out: types. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, kw_only=True)
class StoredMemory:
    """A memory as it is stored.

    Attributes
    ----------
    id
        Id of the memory.
    kind
        Kind of the memory.
    text
        What it says. Somebody else may have written it: to show it to a model, use ``open``.
    tags, topics, entities
        Strings under which it is filed.
    category
        One coarse class, or null.
    priority
        Importance, 0 to 1, or null.
    when
        Conditions under which it holds.
    created_at
        When it was made, or null.
    metadata
        What else the writer kept.
    valid_until
        When it ceases to hold; null: never.
    """

    id: str
    kind: str
    text: str
    tags: Sequence[str]
    topics: Sequence[str]
    entities: Sequence[str]
    category: str | None
    priority: float | None
    when: Mapping[str, Any]
    created_at: datetime | None
    metadata: Mapping[str, Any]
    valid_until: datetime | None


@dataclass(frozen=True, kw_only=True)
class MemoryList:
    """A page of memories, in the order of their ids.

    Attributes
    ----------
    memories
        The memories.
    next_cursor
        What to give as ``cursor`` for the next page; null on the last page.
    """

    memories: Sequence[StoredMemory]
    next_cursor: str | None


@dataclass(frozen=True, kw_only=True)
class OpenScope:
    """A scope that a credential opens.

    Attributes
    ----------
    scope
        Name of the scope.
    scope_size
        Number of its memories, counted up to 10,000.
    scope_size_exact
        False if it has more.
    read_only
        Whether the credential may only read it.
    """

    scope: str
    scope_size: int
    scope_size_exact: bool
    read_only: bool


@dataclass(frozen=True, kw_only=True)
class ScopeList:
    """A page of scopes.

    Attributes
    ----------
    scopes
        The scopes that the credential opens.
    next_cursor
        What to give as ``cursor`` for the next page; null on the last page.
    """

    scopes: Sequence[OpenScope]
    next_cursor: str | None
