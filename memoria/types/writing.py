"""What a write and a forgetting did.

Frozen data; touches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReport:
    """Counts of one write.

    Attributes
    ----------
    memories, relations
        Memories and relations written, whether new or updated.
    memories_created, relations_created
        Memories and relations that did not exist before.
    embedded
        Vectors made by the embedder.
    duplicates
        Memories whose id came again later in the same call; the last memory with an id counts.
    skipped
        Memories and relations left out because they were not valid.
    linked
        Memories that the writer's linker linked.
    unlinked
        Memories that the linker could not link because they have no vector.
    links, links_created
        Edges that the linker made or found again; edges that did not exist before.
    schema_created
        Names of the constraints and indexes that this write created because the database was not
        set up; as a rule empty.
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
        """Return the sums of two reports."""
        names = [field.name for field in fields(self)]
        return WriteReport(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """Counts of one `GraphWriter.forget`.

    Attributes
    ----------
    deleted
        Number of memories whose nodes were deleted.
    kept
        Ids of memories whose nodes stay because they hold more than a memory; sorted.
    """

    deleted: int = 0
    kept: tuple[str, ...] = ()
