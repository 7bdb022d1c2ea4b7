"""Reports of writing, linking and forgetting; and the part of a linker that a writer calls.

Frozen data; touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Protocol, Self, cast

#: Reasons that a report keeps.
MAX_PROBLEMS = 20


class _Summed:
    """A report whose fields add up."""

    __slots__ = ()

    def plus(self, other: Self) -> Self:
        """Return the sums of two reports; the sum is certain where both are."""
        summed: Self = replace(cast(Any, self), **_sums(self, other))
        return summed


class Count(int):
    """How many of something a call has changed: a number with one more attribute.

    Attributes
    ----------
    certain
        False if an answer of the server was lost and the change was sent again: the number may then
        be too low. What was asked for is done all the same.
    """

    certain: bool

    def __new__(cls, number: int = 0, *, certain: bool = True) -> Self:
        """Make a count of a number."""
        made = super().__new__(cls, number)
        made.certain = certain
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReport(_Summed):
    """Counts of one write.

    Attributes
    ----------
    memories, relations
        Memories and relations written, whether new or updated; connectors count as memories here.
    memories_created, relations_created
        Memories and relations that did not exist before.
    embedded
        Vectors made by the embedder, those included that earlier writes could not make.
    pending_vectors
        Memories that this write left without a vector because the embedder failed. They are found
        by words and by edges, and later writes make their vectors.
    duplicates
        Memories whose id came again later in the same call; the last memory with an id counts.
    skipped
        Memories and relations left out because they were not valid.
    problems
        Why they were left out, each with its id: the first 20; and why vectors are pending.
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
    certain
        False if an answer of the server was lost and the change was sent again: what counts
        as new may then be too few.
        What was asked for is done all the same.
    """

    memories: int = 0
    memories_created: int = 0
    relations: int = 0
    relations_created: int = 0
    embedded: int = 0
    pending_vectors: int = 0
    duplicates: int = 0
    skipped: int = 0
    problems: tuple[str, ...] = ()
    linked: int = 0
    unlinked: int = 0
    links: int = 0
    links_created: int = 0
    schema_created: tuple[str, ...] = ()
    restored: int = 0
    certain: bool = True

    def plus(self, other: Self) -> Self:
        """Return the sums of two reports, with the first problems of both."""
        sums = _sums(self, other)
        return replace(self, **sums | {"problems": sums["problems"][:MAX_PROBLEMS]})


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkReport(_Summed):
    """Counts of one run of a linker.

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


class MemoryLinker(Protocol):
    """Something that links memories which were just written, such as a `Linker`."""

    @property
    def scope(self) -> str:
        """Scope of the memories."""
        ...

    async def link(self, ids: Iterable[str] | None = None, *, only_new: bool = False) -> LinkReport:
        """Link these memories, or all memories of the scope."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport(_Summed):
    """Counts of one `GraphWriter.forget`.

    Attributes
    ----------
    deleted
        Number of memories whose nodes were deleted.
    kept
        Ids of memories whose nodes stay because they have data of other programs; sorted.
    connectors
        Number of connectors that joined no other memory, and were deleted with these.
    certain
        False if an answer of the server was lost and the change was sent again: the counts
        may then be too low, and ``kept`` too short.
        What was asked for is done all the same.
    """

    deleted: int = 0
    kept: tuple[str, ...] = ()
    connectors: int = 0
    certain: bool = True

    def plus(self, other: Self) -> Self:
        """Return the sums of two reports, with the ids of both."""
        kept = tuple(sorted({*self.kept, *other.kept}))
        return replace(self, **_sums(self, other) | {"kept": kept})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeReceipt:
    """What `GraphWriter.forget_scope` deleted; zeros where nothing was left to delete.

    Attributes
    ----------
    scope
        The scope that was forgotten.
    finished_at
        When nothing was left; aware.
    memories
        Number of memories and connectors whose nodes were deleted.
    kept
        Ids of memories whose nodes stay because they have data of other programs; sorted. For a
        node without an id, the server's element id.
    relations, suppressions, pairs
        Number of edges between memories, of suppressions, and of pairs that were active together.
    events, changes
        Number of events in the log of learning, and of the changes that they had noted.
    clocks
        1 if the scope had a clock.
    certain
        False if an answer of the server was lost and the change was sent again: the counts
        may then be too low, and ``kept`` too short.
        What was asked for is done all the same.
    """

    scope: str
    finished_at: datetime
    memories: int = 0
    kept: tuple[str, ...] = ()
    relations: int = 0
    suppressions: int = 0
    pairs: int = 0
    events: int = 0
    changes: int = 0
    clocks: int = 0
    certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationReport(_Summed):
    """Counts of one write of conversations.

    Attributes
    ----------
    conversations
        Number of conversations given.
    messages
        Number of messages written, whether new or written again.
    known
        Number of messages that were there before and were left as they are.
    skipped
        Number of messages left out, now or by a write before: their role is not remembered, they
        are blank, or their id came before; ``written.problems`` names those of the last
        kind that have another text.
    parts
        Number of memories that the messages became; more than messages where some are long.
    sessions
        Number of sessions begun.
    topics
        Number of topics that the messages mention, once for each transaction.
    forgotten
        Number of memories forgotten because their messages no longer have them: those of a text
        that is blank now, and further parts of a longer text at the same place.
    connectors
        Number of topics and speakers that joined no memory any more, and were deleted, too.
    written
        Counts of what was stored; speakers, topics and sessions are among its memories.
    certain
        False if an answer of the server was lost and the change was sent again: what was
        written or forgotten may then be counted as known, or not at all.
        What was asked for is done all the same.
    """

    conversations: int = 0
    messages: int = 0
    known: int = 0
    skipped: int = 0
    parts: int = 0
    sessions: int = 0
    topics: int = 0
    forgotten: int = 0
    connectors: int = 0
    written: WriteReport = WriteReport()
    certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReport(_Summed):
    """Counts of one write of documents.

    Attributes
    ----------
    documents
        Number of documents given.
    skipped
        Number of documents left out because they have neither title nor text.
    parts
        Number of memories that the documents became; more than documents where some are long.
    topics
        Number of topics that they mention and are titled by, once for each transaction.
    names
        Number of edges from a text to a document whose title it names.
    links
        Number of edges from a document to one that it links to.
    missing_links
        Number of links to documents that are not there.
    forgotten
        Number of memories forgotten because their documents no longer have them.
    connectors
        Number of topics that joined no memory any more, and were deleted.
    written
        Counts of what was stored; topics are among its memories.
    certain
        False if an answer of the server was lost and the change was sent again: what counts
        as new or forgotten may then be too few.
        What was asked for is done all the same.
    """

    documents: int = 0
    skipped: int = 0
    parts: int = 0
    topics: int = 0
    names: int = 0
    links: int = 0
    missing_links: int = 0
    forgotten: int = 0
    connectors: int = 0
    written: WriteReport = WriteReport()
    certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport(_Summed):
    """Counts of one import.

    Attributes
    ----------
    conversations, documents, graph
        What became of the conversations, of the documents, and of memories and relations.
    """

    conversations: ConversationReport = ConversationReport()
    documents: DocumentReport = DocumentReport()
    graph: WriteReport = WriteReport()

    @property
    def written(self) -> WriteReport:
        """Counts of all that was stored."""
        return self.conversations.written.plus(self.documents.written).plus(self.graph)

    @property
    def certain(self) -> bool:
        """False if an answer of the server was lost and a change was sent again."""
        return self.conversations.certain and self.documents.certain and self.graph.certain


def _sums(one: Any, other: Any) -> dict[str, Any]:
    """Add two reports of one type, field by field; a report inside a report likewise."""
    sums: dict[str, Any] = {}
    for name in (each.name for each in fields(one)):
        left, right = getattr(one, name), getattr(other, name)
        if name == "certain":
            sums[name] = left and right
        else:
            sums[name] = left.plus(right) if isinstance(left, _Summed) else left + right
    return sums
