"""Learn from use: strengthen edges that helped, connect what belongs together, let the rest fade.

In: the `Trace` of a recall and which of its memories were used; or ids. Out: reports.
Writes weights, learned and suppressing edges, counters of memories, the scope's clock, the log.
Queries: ``learn.*``, ``graph.advance_clock``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from memoria._support.checks import check_id, check_number, check_scope, check_whole
from memoria._support.foreign import json_map
from memoria._support.wording import kind_of, number_of
from memoria.errors import ConfigError, InvalidInputError, ScopeError
from memoria.graph.clock import advance_clock
from memoria.graph.pages import pages
from memoria.graph.server_facts import require_ready
from memoria.graph.vocabulary import (
    META_INDEX,
    RELATED,
    SUPPRESSION_KINDS,
    UNIQUE_INDEX,
    clock_key,
)
from memoria.learn.config import LearnConfig
from memoria.learn.consolidation import Consolidation
from memoria.learn.events import (
    Event,
    apply,
    co_activation_event,
    event_id_of,
    suppression_event,
    undo_since,
    use_event,
)
from memoria.learn.specific import overrides
from memoria.learn.trails import EdgeKey, checked_ids, co_active, edges_to
from memoria.store import Store, StoreOrDriver, writable_store_of
from memoria.store.queries import load
from memoria.types import (
    ConsolidateReport,
    LearningKind,
    LearnReport,
    LoggedChange,
    LoggedEvent,
    SuppressionKind,
    Trace,
    UndoReport,
)
from memoria.types.history import utc_time

#: Most events that `Learner.log` returns, and most changes of each.
MAX_EVENTS = 1_000
MAX_CHANGES = 100


class Learner:
    """Learns, in one scope, from how the results of recalls were used.

    Every call except `consolidate` and `undo` is one event, which is written in one transaction and
    applied once: a second call with the same ``event_id`` changes nothing. If a call on a trace has
    no ``event_id``, the id is made of its content, so that the same call twice counts once. All
    events are logged, and can be undone. Both hold only for events that are still in the log:
    `consolidate` drops events older than ``LearnConfig.log_days``.

    Parameters
    ----------
    store
        A `Store`, such as that of a retriever, or an open driver of your own.
    config
        How fast to learn, and how fast to forget.
    clock
        Returns the present as an aware datetime.
    database
        Name of the database, for a driver of your own; None for ``neo4j``.
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
            raise ConfigError(
                f"config must be a LearnConfig, got {kind_of(config)}", field="config"
            )
        self._store = writable_store_of(store, database)
        self._clock = clock

    async def reinforce(
        self, trace: Trace, used: Iterable[str], *, event_id: str | None = None
    ) -> LearnReport:
        """Say which memories of a recall were used; the edges that led to them gain weight.

        Each edge on a path from a seed to a used memory gains `LearnConfig.increment` once, up to a
        weight of 1 (2 for leaky integrate and fire). An edge that was deleted meanwhile is made
        again. Each used memory gets one more use, at the present time, and keeps the question: in
        the ranking it moves up for questions like it.

        Parameters
        ----------
        trace
            The trace of a recall in this scope, or in several with this one; then only what was
            found in this scope is learned from.
        used
            Ids of memories that the recall found.
        event_id
            Id of the event; None makes it of the trace and ``used``.

        Raises
        ------
        InvalidInputError
            The recall did not find one of the ids, or an event of another kind has this id.
        ScopeError
            The trace is of another scope.
        """
        trace = self._own(trace)
        ids = checked_ids(used, "used", trace)
        edges = edges_to(trace, ids)
        name = event_id_of(event_id, "reinforce", trace.id, ids)
        memories = [[id_, 1, 0, 0] for id_ in ids]
        return await self._use(
            name, "reinforce", edges, self.config.increment, memories, trace.query
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
            The edge, in its stored direction. If one of its ends does not exist, no edge is made.
        increment
            Added to the weight; above 0, up to 1; None for `LearnConfig.increment`. A missing edge
            is made with this weight.
        event_id
            Name of the event; None: a new one with each call.

        Raises
        ------
        InvalidInputError
            An end or the increment is not valid, or both ends are the same.
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
        """Say which memories of a recall proved right, and which proved wrong.

        Each memory counts how often it was ``confirmed`` and ``overridden``, and keeps the
        question: in the ranking it moves up, or down, for questions like it. No weight changes.

        Raises
        ------
        InvalidInputError
            An id is in both lists, or the recall did not find it.
        ScopeError
            The trace is of another scope.
        """
        trace = self._own(trace)
        right = checked_ids(confirmed, "confirmed", trace)
        wrong = checked_ids(overridden, "overridden", trace)
        if both := set(right) & set(wrong):
            raise InvalidInputError(
                f"{number_of(len(both), 'id is', 'ids are')} both confirmed and overridden: "
                "put each in one list only",
                field="overridden",
            )
        memories = [[i, 0, 1, 0] for i in right] + [[i, 0, 0, 1] for i in wrong]
        name = event_id_of(event_id, "feedback", trace.id, right, wrong)
        return await self._use(name, "feedback", (), 0.0, memories, trace.query)

    async def co_activate(self, trace: Trace, *, event_id: str | None = None) -> LearnReport:
        """Note which memories were active together in a recall.

        Counts each pair among the `LearnConfig.max_active` strongest memories, except pairs of two
        seeds. A pair without any edge gets an edge of relation ``co_activated`` once it was active
        together three times within seven days; from then on, each co-activation changes that edge
        by Oja's rule. A pair with another edge is left alone, because that edge explains why both
        were active.

        Raises
        ------
        ScopeError
            The trace is of another scope.
        """
        trace = self._own(trace)
        config = self.config
        pairs = co_active(trace, config.max_active)
        name = event_id_of(event_id, "co_activate", trace.id)
        return await self._apply(co_activation_event(name, pairs, config))

    async def suppress(
        self, source: str, target: str, *, kind: SuppressionKind, event_id: str | None = None
    ) -> LearnReport:
        """Say that a memory suppresses another.

        Parameters
        ----------
        kind
            ``overrides``, ``deprecated-to``, ``merged-into``: the source supersedes the target,
            which recalls leave out from then on. ``conflicts``: both stay; the newer one is ranked
            first, the context shows the conflict, and under the strategy ``synapse`` each
            suppresses the other.
        event_id
            Name of the event; None: a new one with each call.

        Raises
        ------
        InvalidInputError
            The kind is not one of the four, or both ends are the same.
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
        """Let memories override memories with less specific conditions.

        A memory whose ``when`` is a strict superset of another memory's ``when`` suppresses that
        memory (``overrides``). A memory without conditions neither overrides others nor is
        overridden.

        Parameters
        ----------
        ids
            New memories, to be compared with all memories of the scope; None compares all memories
            with each other.
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
        """Let learned weights fade, make often used ones permanent, delete edges that are too weak.

        Only the part that learning added fades, never the weight that a writer gave. Events older
        than `LearnConfig.log_days` are dropped from the log, and their effect stays for good. Run
        it while the scope is not in use, for example every night. A second run at the same time
        changes nothing. Each page of memories is one transaction; if a run is interrupted, run it
        again.

        Parameters
        ----------
        now
            Time of the consolidation; None for the time of the clock.
        dry_run
            Whether to report what would change, without writing.
        """
        await self._ready()
        moment = self._now() if now is None else utc_time(now, "now")
        return await Consolidation(self._store, self.scope, self.config, moment).run(
            dry_run=dry_run
        )

    async def undo(self, since: datetime) -> UndoReport:
        """Take back what was learned since a time, the newest event first.

        Weights get their earlier values. An edge that something else has written since stays as it
        is. Events that were dropped from the log can't be undone (`UndoReport.log_since`). If a run
        is interrupted, run it again.

        Parameters
        ----------
        since
            Events from this time on are undone; a naive time counts as UTC.
        """
        await self._ready()
        return await undo_since(self._store, self.scope, utc_time(since, "since"), self._now())

    async def log(self, *, limit: int = 20) -> tuple[LoggedEvent, ...]:
        """Return the latest learning events, the newest first.

        Parameters
        ----------
        limit
            Largest number of events; 1 to 1,000.
        """
        check_whole(limit, "limit", low=1, high=MAX_EVENTS)
        parameters = {"key": clock_key(self.scope), "limit": limit, "most": MAX_CHANGES}
        rows = (await self._store.run(load("learn.events"), parameters))[0]["rows"]
        names = [field.name for field in fields(LoggedChange)]
        return tuple(
            LoggedEvent(
                id=id_,
                kind=kind,
                at=at.to_native(),
                undone_at=None if undone_at is None else undone_at.to_native(),
                total=total,
                changes=tuple(
                    LoggedChange(**dict(zip(names, each, strict=True))) for each in changes
                ),
            )
            for id_, kind, at, undone_at, total, changes in rows
        )

    async def _use(
        self,
        event_id: str,
        kind: LearningKind,
        edges: Iterable[EdgeKey],
        increment: float,
        memories: Sequence[list[Any]] = (),
        question: str = "",
    ) -> LearnReport:
        """Strengthen edges and count uses and feedback of memories, in one event."""
        await self._ready()
        hours = await advance_clock(self._store, scope=self.scope, now=self._now())
        edits = [[edge.source, edge.target, edge.relation, increment, []] for edge in edges]
        return await self._apply(use_event(event_id, kind, edits, memories, hours, question))

    async def _apply(self, event: Event) -> LearnReport:
        await self._ready()
        return await apply(self._store, self.scope, self._now(), event)

    def _now(self) -> datetime:
        return utc_time(self._clock(), "clock")

    async def _ready(self) -> None:
        """Check that ids are unique: without that, an event could be applied twice."""
        await require_ready(self._store, UNIQUE_INDEX, META_INDEX)

    def _own(self, trace: Trace) -> Trace:
        """Return the part of a trace that was found in this scope."""
        if not isinstance(trace, Trace):
            raise InvalidInputError(f"trace must be a Trace, got {kind_of(trace)}")
        if (own := trace.of(self.scope)) is None:
            raise ScopeError(
                "the trace is of another scope: make a Learner for the scope of the recall",
                field="trace",
            )
        return own


async def read_conditions(store: Store, scope: str) -> dict[str, dict[str, Any]]:
    """Return memory -> its ``when``, for all memories of a scope that have conditions."""
    found: dict[str, dict[str, Any]] = {}
    async for page in pages(store, scope=scope):
        parameters = {"ids": page, "scope": scope}
        rows = (await store.run(load("learn.conditions"), parameters))[0]["rows"]
        found.update((id_, when) for id_, text in rows if (when := json_map(text)))
    return found
