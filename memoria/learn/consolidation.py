"""One consolidation: learned weights fade, stay for good, or their edges are deleted.

In: the learned edges of a scope, page by page. Out: a `ConsolidateReport`.
Writes weights, deletes edges and old events of the log, unless it is a dry run.
Queries: ``learn.edges``, ``learn.consolidate``, ``learn.old``, ``learn.trim``, ``graph.page``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from memoria._support import foreign
from memoria.formulas.plasticity import DAY_S, decayed
from memoria.graph.pages import pages
from memoria.graph.vocabulary import ORIGIN_LEARNED, clock_key
from memoria.learn.config import LearnConfig
from memoria.learn.events import Event, apply
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import ConsolidateReport, EdgeChange

HOUR_S = 3_600.0
# Events deleted in one transaction: few, as the event of a consolidation has thousands of changes.
TRIM_BATCH = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedEdge:
    """A stored edge whose weight was changed by learning.

    Attributes
    ----------
    weight, lif_weight, base_weight
        The weight now; the weight for leaky integrate and fire, or None; and the weight to which
        the edge fades.
    uses, promoted_uses
        How often the edge was used; and how often it had been used at its last promotion.
    made
        Whether learning made the edge.
    since
        Time of the last use or decay; epoch seconds, or None.
    """

    source: str
    target: str
    relation: str
    weight: float
    lif_weight: float | None
    base_weight: float
    uses: int
    promoted_uses: int
    made: bool
    since: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What happens to an edge; ``weight`` is None for an edge that is pruned."""

    edge: LearnedEdge
    weight: float | None
    lif_weight: float | None
    base_weight: float
    promoted: bool

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        edge = self.edge
        return self.promoted or self.weight != edge.weight or self.lif_weight != edge.lif_weight


def decide(edge: LearnedEdge, now: float, config: LearnConfig) -> Decision:
    """Decide about one edge: its weight fades first; then the edge is promoted, pruned or left.

    Parameters
    ----------
    now
        Epoch seconds.
    """
    hours = 0.0 if edge.since is None else max(0.0, (now - edge.since) / HOUR_S)
    rate = config.decay_per_hour
    weight = decayed(edge.weight, edge.base_weight, hours, rate=rate)
    lif_weight = edge.lif_weight
    if lif_weight is not None:
        lif_weight = decayed(lif_weight, edge.base_weight, hours, rate=rate)
    pruned = edge.made and weight < config.min_weight
    often = edge.uses - edge.promoted_uses >= config.promote_uses
    promoted = often and not pruned and weight > edge.base_weight
    return Decision(
        edge=edge,
        weight=None if pruned else weight,
        lif_weight=lif_weight,
        base_weight=weight if promoted else edge.base_weight,
        promoted=promoted,
    )


class Consolidation:
    """One call of `Learner.consolidate`."""

    def __init__(self, store: Store, scope: str, config: LearnConfig, now: datetime) -> None:
        self._store = store
        self._scope = scope
        self._config = config
        self._now = now
        self._before = now.timestamp() - config.window_days * DAY_S

    async def run(self, *, dry_run: bool) -> ConsolidateReport:
        """Consolidate the scope, page by page."""
        edges = skipped = pairs = 0
        done: list[Decision] = []
        async for page in pages(self._store, scope=self._scope):
            found, old_pairs = await self._read(page)
            edges += len(found)
            pairs += old_pairs
            decisions = [decide(edge, self._now.timestamp(), self._config) for edge in found]
            changed = [decision for decision in decisions if decision.changes]
            done += changed
            if (changed or old_pairs) and not dry_run:
                skipped += max(0, len(changed) - await self._write(page, changed))
        trimmed = await self._trim(dry_run=dry_run)
        pruned = sum(decision.weight is None for decision in done)
        promoted = sum(decision.promoted for decision in done)
        return ConsolidateReport(
            dry_run=dry_run,
            edges=edges,
            decayed=sum(
                decision.weight is not None and decision.weight < decision.edge.weight
                for decision in done
            ),
            promoted=promoted,
            pruned=pruned,
            skipped=skipped,
            pairs_forgotten=pairs,
            events_trimmed=trimmed,
            changes=tuple(map(_change, done)),
        )

    async def _read(self, page: list[str]) -> tuple[list[LearnedEdge], int]:
        parameters = {"before": self._before, "ids": page, "scope": self._scope}
        row = (await self._store.run(load("learn.edges"), parameters))[0]
        return sorted(_edges(row["edges"]), key=_place), row["pairs"]

    async def _write(self, page: list[str], decisions: Sequence[Decision]) -> int:
        """Write a page in one transaction; return how many edges had not changed since reading."""
        ends = {end for each in decisions for end in (each.edge.source, each.edge.target)}
        event = Event(
            id=uuid4().hex,
            kind="consolidate",
            query="learn.consolidate",
            ids=ends,
            parameters={
                "before": self._before,
                "page": page,
                "rows": list(map(_row, decisions)),
            },
        )
        return (await apply(self._store, self._scope, self._now, event)).edges

    async def _trim(self, *, dry_run: bool) -> int:
        """Delete old events from the log; return how many events are too old."""
        before = self._now - timedelta(days=self._config.log_days)
        parameters = {"before": before, "key": clock_key(self._scope)}
        old: int = (await self._store.run(load("learn.old"), parameters))[0]["events"]
        trim = {**parameters, "limit": TRIM_BATCH}
        while old and not dry_run and (await self._store.run(load("learn.trim"), trim))[0][0]:
            pass
        return old


def _edges(rows: Sequence[Sequence[Any]]) -> Iterator[LearnedEdge]:
    """Read edges; leave out edges of a foreign graph whose weights are not weights."""
    for row in rows:
        source, target, relation, weight, lif_weight, base_weight, uses, promoted, origin = row[:9]
        now, base = _weight(weight), _weight(base_weight)
        if now is None or base is None:
            continue
        times = [time for time in row[9:] if time is not None]
        yield LearnedEdge(
            source=source,
            target=target,
            relation=relation,
            weight=now,
            lif_weight=_weight(lif_weight),
            base_weight=base,
            uses=foreign.count(uses),
            promoted_uses=foreign.count(promoted),
            made=origin == ORIGIN_LEARNED,
            since=max(times, default=None),
        )


def _weight(value: object) -> float | None:
    number = foreign.number(value)
    return None if number is None or number < 0 else number


def _place(edge: LearnedEdge) -> tuple[str, str, str]:
    return (edge.source, edge.target, edge.relation)


def _row(decision: Decision) -> list[Any]:
    edge = decision.edge
    return [
        *_place(edge),
        edge.weight,
        decision.weight,
        decision.lif_weight,
        decision.base_weight,
        edge.uses if decision.promoted else edge.promoted_uses,
    ]


def _change(decision: Decision) -> EdgeChange:
    edge = decision.edge
    return EdgeChange(
        source=edge.source,
        target=edge.target,
        relation=edge.relation,
        before=edge.weight,
        after=decision.weight,
        promoted=decision.promoted,
    )
