"""The report of a linker, and the part of a linker that a writer calls."""

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
        Memories whose neighbours were looked for, whether or not there were any.
    already_linked
        Memories passed over, because only new memories were to be linked.
    without_embedding
        Memories left out, because the index has no vector of them.
    missing
        Ids for which the scope has no memory.
    edges
        Edges created or found again.
    edges_created
        Edges that did not exist before.
    certain
        False if an answer of the server was lost and the change was sent again: the counts
        may then be too low.
        What was asked for is done all the same.
    """

    memories: int = 0
    already_linked: int = 0
    without_embedding: int = 0
    missing: int = 0
    edges: int = 0
    edges_created: int = 0
    certain: bool = True

    def plus(self, other: LinkReport) -> LinkReport:
        """Return a report with the sums of both."""
        names = [field.name for field in fields(self) if field.name != "certain"]
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return LinkReport(**sums, certain=self.certain and other.certain)


class MemoryLinker(Protocol):
    """Something that links memories which were just written, such as a `Linker`."""

    @property
    def scope(self) -> str:
        """Scope of the memories."""
        ...

    async def link(self, ids: Iterable[str] | None = None, *, only_new: bool = False) -> LinkReport:
        """Link these memories, or all memories of the scope."""
        ...
