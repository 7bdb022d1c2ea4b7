"""What learning did."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

SuppressionKind = Literal["conflicts", "overrides", "deprecated-to", "merged-into"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnReport:
    """What one learning event did; the same again where the event was applied before.

    Attributes
    ----------
    event_id
        The event's id: the same one again changes nothing.
    applied
        Whether this call applied it; False: an earlier one had.
    memories
        Memories whose use or feedback was counted.
    edges
        Edges strengthened, or updated by Oja's rule.
    edges_created
        Edges made.
    pairs
        Pairs whose co-activation was counted towards an edge.
    suppressions
        Suppressing edges made.
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
        Its weight; ``after`` is None for a pruned edge.
    promoted
        Whether its weight is now its base, which does not decay.
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
        Whether nothing was written.
    edges
        Learned edges looked at.
    decayed, promoted, pruned
        Edges that lost weight and stay, whose weight became their base, that were deleted.
    skipped
        Edges that were used between reading and writing: left to the next consolidation.
    pairs_forgotten
        Pending co-activations that are too old to count.
    events_trimmed
        Events too old for the log, which they leave; they can't be undone any more.
    changes
        Each edge that changes, by source, target and relation.
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
        Changes taken back: edges, memories, pairs and suppressions.
    kept
        Changes left as they are: something else wrote or deleted the edge since.
    log_since
        What was learned before is not in the log any more, and stays; None where it holds all.
    """

    since: datetime
    events: int
    restored: int
    kept: int
    log_since: datetime | None = None
