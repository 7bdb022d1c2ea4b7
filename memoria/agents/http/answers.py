"""The answers of the HTTP API, as its description has them.

In: nothing. Out: types. Touches nothing. A test compares what a server answers with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memoria.types import Hop, OmitReason, Seed


@dataclass(frozen=True, kw_only=True)
class Answered:
    """What most answers have.

    Attributes
    ----------
    text
        The answer for a model. All that comes from memories stands between two marks, below a line
        which says that it is data.
    scope
        The scope that the credential opens.
    scope_size
        Number of memories of the scope, counted up to 10,000.
    scope_size_exact
        False if the scope has more.
    also_read
        Further scope that recalls read -> number of its memories, counted up to 10,000; missing if
        there is none.
    """

    text: str
    scope: str
    scope_size: int
    scope_size_exact: bool
    also_read: Mapping[str, int] | None = None


@dataclass(frozen=True, kw_only=True)
class RecalledMemory:
    """A memory of a recall.

    Attributes
    ----------
    label
        Its name in ``text``, such as ``a1``, which other calls accept as well as the id.
    id
        Id of the memory.
    kind
        Kind of the memory.
    date
        When the memory was made, in ISO 8601; null if that is not known.
    score
        Energy with which the search or a path reached the memory, 0 to 1. It is not the order of
        the memories: compare them by ``relevance``.
    relevance
        Probability that the memory bears on the question; null if it is not known.
    text
        The whole memory, after the name of who said it, such as ``user: ``. Somebody else may have
        written it: give a model the ``text`` of the answer, not this one.
    scope
        Scope of the memory; missing if only one scope is read.
    """

    label: str
    id: str
    kind: str
    date: str | None
    score: float
    relevance: float | None
    text: str
    scope: str | None = None


@dataclass(frozen=True, kw_only=True)
class Recalled(Answered):
    """The memories that bear on a question, the answer of a recall.

    Attributes
    ----------
    recall_id
        Id of the recall, for ``explain``, ``feedback`` and ``remember``.
    memories
        The memories of ``text``, in the same order.
    best_relevance
        Relevance of the best memory that was found, a probability: also if ``memories`` is empty.
        Below 0.3, the memories may not answer the question. Null: not known.
    omitted
        Reason -> number of memories that were found and left out.
    truncated
        Whether memories were left out for lack of tokens.
    degraded
        What did not work; empty if all did.
    notes
        What else there is to say of the recall.
    """

    recall_id: str
    memories: Sequence[RecalledMemory]
    best_relevance: float | None
    omitted: Mapping[OmitReason, int]
    truncated: bool
    degraded: Sequence[str]
    notes: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Explained(Answered):
    """Why a recall found a memory.

    Attributes
    ----------
    recall_id
        Id of the recall.
    memory_id
        Id of the memory.
    rank
        Its place in the ranking, from 1.
    score
        Score of the ranking.
    relevance
        Probability that the memory bears on the question; null if it is not known.
    hit
        What the search made of the memory itself; null if the search did not find it.
    seed
        What the search made of the memory where the way begins.
    hops
        The way from there, hop by hop.
    features
        Feature of the ranking -> its value.
    shares
        Feature of the ranking -> what it adds to the score.
    needed_by
        Id of a memory that needs this one -> weight.
    adjacent
        Ids of memories that lent it some of their score.
    memory_scope
        Scope of the memory; missing if only one scope is read.
    """

    recall_id: str
    memory_id: str
    rank: int
    score: float
    relevance: float | None
    hit: Seed | None
    seed: Seed | None
    hops: Sequence[Hop]
    features: Mapping[str, float]
    shares: Mapping[str, float]
    needed_by: Mapping[str, float]
    adjacent: Sequence[str]
    memory_scope: str | None = None


@dataclass(frozen=True, kw_only=True)
class Opened(Answered):
    """Memories in full.

    Attributes
    ----------
    ids
        Ids of the memories that ``text`` shows.
    missing
        Ids that no memory has.
    truncated
        Ids of memories that are cut or left out for lack of tokens.
    superseded
        Id of a memory that no longer holds -> id of the memory that has taken its place.
    """

    ids: Sequence[str]
    missing: Sequence[str]
    truncated: Sequence[str]
    superseded: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Similar:
    """A memory that resembles a new text.

    Attributes
    ----------
    id
        Id of the memory.
    score
        How near it is, on the scale of the search.
    """

    id: str
    score: float


@dataclass(frozen=True, kw_only=True)
class Remembered(Answered):
    """What became of a text.

    Attributes
    ----------
    id
        Id of the memory that says it.
    created
        Whether the memory is new.
    duplicate_of
        Id of the memory that said it already; null if none did.
    echo_of
        Id of the memory of the recall that the text only repeats; null if it repeats none.
    similar
        The nearest memories.
    edges
        Number of edges made.
    superseded
        Ids of memories whose place it takes.
    superseded_by
        Id of the memory that has taken its place; null if it holds.
    pending_vectors
        Number of memories that get their vector later, because the embedder failed.
    certain
        False if an answer of the database was lost: the text is stored, but the other fields may
        be of a second try.
    may_replace
        Ids of memories that the text may replace. To say so, send it again with ``supersedes``.
    """

    id: str
    created: bool
    duplicate_of: str | None
    echo_of: str | None
    similar: Sequence[Similar]
    edges: int
    superseded: Sequence[str]
    superseded_by: str | None
    pending_vectors: int
    certain: bool
    may_replace: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Appended(Answered):
    """What became of messages.

    Attributes
    ----------
    conversation_id
        The conversation.
    messages
        Number of messages written.
    known
        Number of messages that were there before.
    skipped
        Number of messages left out: blank, or of a role that is not remembered.
    parts
        Number of memories that the messages became.
    certain
        False if an answer of the database was lost: all is stored, but may count as known.
    """

    conversation_id: str
    messages: int
    known: int
    skipped: int
    parts: int
    certain: bool


@dataclass(frozen=True, kw_only=True)
class Noted(Answered):
    """What feedback did.

    Attributes
    ----------
    recall_id
        Id of the recall.
    used
        Ids of memories that were used.
    wrong
        Ids of memories that proved wrong.
    edges
        Number of edges that gained weight.
    """

    recall_id: str
    used: Sequence[str]
    wrong: Sequence[str]
    edges: int


@dataclass(frozen=True, kw_only=True)
class Forgotten(Answered):
    """What was deleted.

    Attributes
    ----------
    deleted
        Ids of memories that were there, and are deleted.
    unknown
        Ids that no memory had.
    kept
        Ids of nodes that stay without a text, since they are more than a memory.
    certain
        False if an answer of the database was lost: all is deleted, but may count as unknown.
    """

    deleted: Sequence[str]
    unknown: Sequence[str]
    kept: Sequence[str]
    certain: bool


@dataclass(frozen=True, kw_only=True)
class Status:
    """The state of a scope and of the database.

    Attributes
    ----------
    text
        The answer for a model.
    scope
        The scope that the credential opens.
    scope_size
        Number of its memories.
    kinds
        Kind -> number of memories.
    edges
        Number of edges.
    embedded
        Number of memories with a vector.
    pending_vectors
        Number of memories that get their vector later, because the embedder failed.
    embedder
        Embedder that the database is set up for; null before the first write.
    indexes
        Index -> state, ``ONLINE`` where all is well.
    server
        Version of Neo4j.
    read_only
        Whether the credential may only read.
    version
        Version of memoria.
    also_read
        As in other answers.
    """

    text: str
    scope: str
    scope_size: int
    kinds: Mapping[str, int]
    edges: int
    embedded: int
    pending_vectors: int
    embedder: str | None
    indexes: Mapping[str, str]
    server: str
    read_only: bool
    version: str
    also_read: Mapping[str, int] | None = None


@dataclass(frozen=True, kw_only=True)
class PathFound:
    """A path of a recall that has ended: the data of an event ``path``.

    Attributes
    ----------
    number
        Number of paths so far.
    ids
        Ids of its memories, from the seed on.
    energy
        Energy at its end.
    scope
        Scope of its memories; "" if only one scope is read.
    """

    number: int
    ids: Sequence[str]
    energy: float
    scope: str = ""
