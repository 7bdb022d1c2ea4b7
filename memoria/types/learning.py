"""Reports of learning, and the kinds of suppression."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

SuppressionKind = Literal["conflicts", "overrides", "deprecated-to", "merged-into"]
LearningKind = Literal[
    "reinforce", "strengthen", "feedback", "co_activate", "suppress", "override", "consolidate"
]
LoggedChangeKind = Literal["memory", "changed", "created", "deleted", "pair", "suppression"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnReport:
    """What one learning event did; for an event that was applied before, what it did then.

    Attributes
    ----------
    event_id
        Id of the event; sending the same id again changes nothing.
    applied
        Whether this call applied the event; False if an earlier call did.
    memories
        Memories whose use or feedback was counted.
    edges
        Edges strengthened, or updated by Oja's rule.
    edges_created
        Edges that were created.
    pairs
        Pairs whose co-activation was counted; enough co-activations create an edge.
    suppressions
        Suppressing edges that were created.
    """

    event_id: str
    applied: bool
    memories: int = 0
    edges: int = 0
    edges_created: int = 0
    pairs: int = 0
    suppressions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeChange:
    """What `consolidate` does to one edge.

    Attributes
    ----------
    source, target, relation
        The edge.
    before, after
        Its weights before and after; ``after`` is None for a pruned edge.
    promoted
        Whether the weight has become the base of the edge, which does not decay.
    """

    source: str
    target: str
    relation: str
    before: float
    after: float | None
    promoted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateReport:
    """What a consolidation did, or would do.

    Attributes
    ----------
    dry_run
        True if nothing was written.
    edges
        Learned edges that were examined.
    decayed, promoted, pruned
        Edges that lost weight but stay; edges whose weight became their base; edges that were
        deleted.
    skipped
        Edges that were used between reading and writing; the next consolidation takes them.
    pairs_forgotten
        Pending co-activations that are too old to count.
    events_trimmed
        Events that were dropped from the log because of their age; they can't be undone any more.
    changes
        The changes, one for each edge, sorted by source, target and relation.
    """

    dry_run: bool
    edges: int
    decayed: int
    promoted: int
    pruned: int
    skipped: int
    pairs_forgotten: int
    events_trimmed: int
    changes: tuple[EdgeChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """What an undo did.

    Attributes
    ----------
    since
        Events from this time on were undone.
    events
        Events undone.
    restored
        Changes that were taken back: of edges, memories, pairs and suppressions.
    kept
        Changes that were left in place, because the edge was written or deleted by something else
        since.
    log_since
        Start of the log. Events before it were dropped and can't be undone. None if no event was
        dropped.
    """

    since: datetime
    events: int
    restored: int
    kept: int
    log_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedChange:
    """One change of a `LoggedEvent`.

    Attributes
    ----------
    kind
        ``memory``: uses or feedback of a memory were counted. ``changed``, ``created``,
        ``deleted``: an edge. ``pair``: a co-activation was counted or forgotten. ``suppression``: a
        suppressing edge was created.
    source
        The memory, or the first end of the edge or pair.
    target
        The other end; None for a memory.
    relation
        Relation of the edge, or kind of the suppression; None for a memory or a pair.
    before, after
        Weights of the edge; None if the edge did not exist, or for other changes.
    """

    kind: LoggedChangeKind
    source: str
    target: str | None = None
    relation: str | None = None
    before: float | None = None
    after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvent:
    """One event in the log of a scope.

    Attributes
    ----------
    id
        Unique in the scope.
    kind
        The call that made it.
    at
        When it was applied; in UTC.
    undone_at
        When it was undone; in UTC. None if it was not.
    total
        Number of its changes.
    changes
        The first 100 of them, by kind and ids.
    """

    id: str
    kind: LearningKind
    at: datetime
    undone_at: datetime | None
    total: int
    changes: tuple[LoggedChange, ...]
