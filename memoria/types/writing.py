"""What a write and a forgetting did.

Frozen data; touches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReport:
    """What a write did.

    Attributes
    ----------
    memories, relations
        How many were written, new or not.
    memories_created, relations_created
        How many of them were not there before.
    embedded
        Number of vectors that the embedder made.
    duplicates
        Memories whose id came again later in the same call; the last one counts.
    skipped
        Memories and relations left out because they were not valid.
    linked
        Memories that the writer's linker linked.
    unlinked
        Memories that the linker could not link, because they have no vector.
    links, links_created
        Edges that the linker made or found again, and how many of them were not there before.
    schema_created
        Names of the constraints and indexes that the first write made, because the database was
        not set up; as a rule there are none.
    restored
        Number of suppressions, of pairs that were active together, and of clocks that were written
        as an export has them.
    """

    memories: int = 0
    memories_created: int = 0
    relations: int = 0
    relations_created: int = 0
    embedded: int = 0
    duplicates: int = 0
    skipped: int = 0
    linked: int = 0
    unlinked: int = 0
    links: int = 0
    links_created: int = 0
    schema_created: tuple[str, ...] = ()
    restored: int = 0

    def plus(self, other: WriteReport) -> WriteReport:
        """Return the sums of both."""
        names = [field.name for field in fields(self)]
        return WriteReport(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """What a forgetting did.

    Attributes
    ----------
    deleted
        Memories whose nodes are gone.
    kept
        Ids of memories whose nodes stay, as they hold more than a memory; sorted.
    """

    deleted: int = 0
    kept: tuple[str, ...] = ()
