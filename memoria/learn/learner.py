"""Learn from use: strengthen what helped, note what belongs together, let the rest fade.

In: the `Trace` of a recall and what became of its memories, or ids. Out: reports.
Writes weights, learned and suppressing edges, counters of memories, the scope's clock, the log.
Queries: ``learn.*``, ``graph.advance_clock``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from memoria._support.checks import check_id, check_number, check_scope
from memoria.errors import ConfigError, InvalidInputError, ScopeError
from memoria.graph.clock import advance_clock
from memoria.graph.server import require_ready
from memoria.graph.vocabulary import (
    CONFLICTS,
    META_INDEX,
    RELATED,
    SUPPRESSION_KINDS,
    UNIQUE_INDEX,
)
from memoria.learn.conditions import read_conditions
from memoria.learn.config import LearnConfig
from memoria.learn.consolidation import Consolidation
from memoria.learn.events import (
    Event,
    apply,
    aware,
    co_activation_event,
    event_id_of,
    suppression_event,
    use_event,
)
from memoria.learn.specific import overrides
from memoria.learn.trails import EdgeKey, checked_ids, co_active, edges_to
from memoria.learn.undoing import undo_since
from memoria.store import StoreOrDriver, store_of
from memoria.types import (
    ConsolidateReport,
    LearnReport,
    SuppressionKind,
    Trace,
    UndoReport,
)


class Learner:
    """Learns, in one scope, from what recalls were good for.

    Every call but `consolidate` and `undo` is one event, written in one transaction and applied
    once: a call that is sent again with the same ``event_id`` changes nothing. Without one, a call
    on a trace has an id made of what it says, so that saying the same of a trace twice counts once.
    All events are logged, and can be undone. Both hold for as long as the log reaches back:
    `consolidate` drops events older than ``LearnConfig.log_days``.

    Parameters
    ----------
    store
        A `Store`, such as that of a retriever, or an open driver of your own.
    config
        How fast to learn, and to forget.
    clock
        Gives the time; aware.
    database
        Name of the database, on a driver of your own; None for ``neo4j``.
    """

    def __init__(
        self,
        store: StoreOrDriver,
        *,
        scope: str,
        config: LearnConfig | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        database: str | None = None,
    ) -> None:
        self.scope = check_scope(scope)
        self.config = LearnConfig() if config is None else config
        if not isinstance(self.config, LearnConfig):
            raise ConfigError(f"config must be a LearnConfig, got a {type(config).__name__}")
        self._store = store_of(store, database)
        self._clock = clock

    async def reinforce(
        self, trace: Trace, used: Iterable[str], *, event_id: str | None = None
    ) -> LearnReport:
        """Say which memories of a recall were used: the edges that led to them gain weight.

        Each edge on a path from a seed to a used memory gains `LearnConfig.increment`, once, up to
        a weight of 1, and up to 2 for leaky integrate and fire; one that has gone meanwhile is made
        anew. Each used memory counts one use more, now.

        Parameters
        ----------
        trace
            Of the recall, of this scope.
        used
            Ids among those that it found.
        event_id
            Name of the event; None: made of the trace and ``used``.

        Raises
        ------
        InvalidInputError
            An id is not among those that the recall found, or the event's id is that of another.
        ScopeError
            The trace is of another scope.
        """
        self._check_scope(trace)
        ids = checked_ids(used, "used", trace)
        edges = edges_to(trace, ids)
        name = event_id_of(event_id, "reinforce", trace.id, ids)
        return await self._use(
            name, "reinforce", edges, self.config.increment, memories=[[i, 1, 0, 0] for i in ids]
        )

    async def strengthen_edge(
        self,
        source: str,
        target: str,
        *,
        relation: str = RELATED,
        increment: float | None = None,
        event_id: str | None = None,
    ) -> LearnReport:
        """Add to the weight of one edge, and make it if it is missing.

        Parameters
        ----------
        source, target, relation
            The edge, in its stored direction; ends that don't exist are left out.
        increment
            What it gains, above 0 up to 1; None for that of the settings. A missing edge is made
            with it as its weight.
        event_id
            Name of the event; None: a new one with each call.

        Raises
        ------
        InvalidInputError
            An end or the increment can't be used, or both ends are the same.
        """
        edge = EdgeKey(check_id(source, "source"), check_id(target, "target"), relation)
        check_id(relation, "relation")
        if source == target:
            raise InvalidInputError("source and target are the same memory", field="target")
        gain = self.config.increment if increment is None else increment
        gain = check_number(gain, "increment", low=0, high=1, above_low=True)
        return await self._use(event_id_of(event_id), "strengthen", [edge], gain)

    async def feedback(
        self,
        trace: Trace,
        *,
        confirmed: Iterable[str] = (),
        overridden: Iterable[str] = (),
        event_id: str | None = None,
    ) -> LearnReport:
        """Say which memories of a recall proved right, and which were contradicted.

        Counted on each memory as ``confirmed`` and ``overridden``; no weight changes.

        Raises
        ------
        InvalidInputError
            An id is in both lists, or not among those that the recall found.
        ScopeError
            The trace is of another scope.
        """
        self._check_scope(trace)
        right = checked_ids(confirmed, "confirmed", trace)
        wrong = checked_ids(overridden, "overridden", trace)
        if both := set(right) & set(wrong):
            raise InvalidInputError(
                f"{len(both)} ids are both confirmed and overridden: decide", field="overridden"
            )
        memories = [[i, 0, 1, 0] for i in right] + [[i, 0, 0, 1] for i in wrong]
        name = event_id_of(event_id, "feedback", trace.id, right, wrong)
        return await self._use(name, "feedback", (), 0.0, memories=memories)

    async def co_activate(self, trace: Trace, *, event_id: str | None = None) -> LearnReport:
        """Note which memories were active together in a recall.

        Of the strongest `LearnConfig.max_active`, each pair but those of two seeds: a pair without
        any edge gets one of relation ``co_activated`` once it was active together three times
        within seven days; such an edge then changes by Oja's rule each time. A pair that another
        edge joins is left alone, as it was found along that.

        Raises
        ------
        ScopeError
            The trace is of another scope.
        """
        self._check_scope(trace)
        config = self.config
        pairs = co_active(trace, config.max_active)
        name = event_id_of(event_id, "co_activate", trace.id)
        return await self._apply(co_activation_event(name, pairs, config))

    async def suppress(
        self,
        source: str,
        target: str,
        *,
        kind: SuppressionKind = CONFLICTS,
        event_id: str | None = None,
    ) -> LearnReport:
        """Say that a memory suppresses another; strategies that know suppression heed it.

        Parameters
        ----------
        kind
            ``conflicts``: each suppresses the other. ``overrides``, ``deprecated-to``,
            ``merged-into``: the source suppresses the target.
        event_id
            Name of the event; None: a new one with each call.

        Raises
        ------
        InvalidInputError
            The kind is not one of these, or both ends are the same.
        """
        if kind not in SUPPRESSION_KINDS:
            raise InvalidInputError(
                f"kind must be one of {', '.join(SUPPRESSION_KINDS)}", field="kind"
            )
        ends = (check_id(source, "source"), check_id(target, "target"))
        if source == target:
            raise InvalidInputError("source and target are the same memory", field="target")
        return await self._apply(suppression_event(event_id_of(event_id), "suppress", [ends], kind))

    async def override(
        self, ids: Iterable[str] | None = None, *, event_id: str | None = None
    ) -> LearnReport:
        """Have memories override those that are less specific, by their conditions.

        A memory whose ``when`` is a strict superset of another's suppresses that one
        (``overrides``). Memories without conditions are unscoped: they override nothing, and
        nothing overrides them.

        Parameters
        ----------
        ids
            New memories, each compared with all of the scope; None: all with all.
        """
        wanted = None if ids is None else set(checked_ids(ids, "ids"))
        pairs = [
            pair
            for pair in overrides(await read_conditions(self._store, self.scope))
            if wanted is None or not wanted.isdisjoint(pair)
        ]
        return await self._apply(
            suppression_event(event_id_of(event_id), "override", pairs, "overrides")
        )

    async def consolidate(
        self, now: datetime | None = None, *, dry_run: bool = False
    ) -> ConsolidateReport:
        """Let what was learned fade, make permanent what is used often, delete what is too weak.

        Events older than `LearnConfig.log_days` leave the log: what they did stays for good. Only
        what learning added fades: never the weight that a writer gave. Run it when nothing
        else goes on, such as every night; run again at the same time it changes nothing. Pages of
        memories are one transaction each; interrupted, run it again.

        Parameters
        ----------
        now
            Time of the consolidation; None for the clock's.
        dry_run
            Only say what would change.
        """
        await self._ready()
        moment = aware(self._clock() if now is None else now)
        return await Consolidation(self._store, self.scope, self.config, moment).run(
            dry_run=dry_run
        )

    async def undo(self, since: datetime) -> UndoReport:
        """Take back what was learned since a time, the newest first; weights are what they were.

        An edge that something else has written since stays as it is, and so does what has left the
        log (`UndoReport.log_since`). Interrupted, run it again.

        Parameters
        ----------
        since
            Events from then on are undone; a naive time counts as UTC.
        """
        await self._ready()
        return await undo_since(self._store, self.scope, aware(since), aware(self._clock()))

    async def _use(
        self,
        event_id: str,
        kind: str,
        edges: Iterable[EdgeKey],
        increment: float,
        memories: Sequence[list[Any]] = (),
    ) -> LearnReport:
        """Strengthen edges and count what became of memories, in one event."""
        await self._ready()
        hours = await advance_clock(self._store, scope=self.scope, now=aware(self._clock()))
        edits = [[edge.source, edge.target, edge.relation, increment, []] for edge in edges]
        return await self._apply(use_event(event_id, kind, edits, memories, hours))

    async def _apply(self, event: Event) -> LearnReport:
        await self._ready()
        return await apply(self._store, self.scope, aware(self._clock()), event)

    async def _ready(self) -> None:
        """Check that ids are unique: without that, an event could be applied twice."""
        await require_ready(self._store, UNIQUE_INDEX, META_INDEX)

    def _check_scope(self, trace: Trace) -> None:
        if not isinstance(trace, Trace):
            raise InvalidInputError(f"trace must be a Trace, got a {type(trace).__name__}")
        if trace.scope != self.scope:
            raise ScopeError(
                "the trace is of another scope: make a Learner for the scope of the recall",
                field="trace",
            )
