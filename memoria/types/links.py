"""What linking memories did, and what a writer asks of a linker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkReport:
    """What a linker did.

    Attributes
    ----------
    memories
        Linked: their neighbours were looked for, whether or not there are any.
    already_linked
        Left alone, as only new ones were wanted.
    without_embedding
        Left out: they have no vector that the index holds.
    missing
        Ids that no memory of the scope has.
    edges
        Edges made or found again.
    edges_created
        Of those, the ones that were not there before.
    """

    memories: int = 0
    already_linked: int = 0
    without_embedding: int = 0
    missing: int = 0
    edges: int = 0
    edges_created: int = 0

    def plus(self, other: LinkReport) -> LinkReport:
        """Return the sums of both."""
        names = [field.name for field in fields(self)]
        return LinkReport(**{name: getattr(self, name) + getattr(other, name) for name in names})


class MemoryLinker(Protocol):
    """Links memories that were just written; `Linker` does."""

    @property
    def scope(self) -> str:
        """Scope of the memories."""
        ...

    async def link(self, ids: Iterable[str] | None = None, *, only_new: bool = False) -> LinkReport:
        """Link these memories, or all of the scope."""
        ...
