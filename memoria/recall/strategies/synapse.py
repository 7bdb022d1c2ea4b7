"""Spreading activation with suppressing edges; use, feedback and priority count (source: 003).

In: seeds, then, step by step, the edges at the memories that energy has reached, then what is known
of these memories. Out: every activated memory, with a score of four parts. Touches nothing.
Queries: ``strategies.synapse``, ``strategies.situation``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from memoria._support.checks import check_json_map
from memoria._support.settings_check import SettingsCheck
from memoria.errors import ConfigError, InvalidInputError
from memoria.formulas import situation, synapse
from memoria.graph.vocabulary import AFFINITY, CONFLICTS, DIRECTIONAL
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies._edges import SLACK, Edge
from memoria.recall.strategies._joint import JointRun
from memoria.recall.strategies._situation import NOTHING_KNOWN, Situation, situations_of
from memoria.recall.strategies.base import RunInput, Step
from memoria.types import Path

MARK = "synapse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Synapse:
    """Memories activate their neighbours; conflicting and superseded memories are suppressed.

    The score is the weighted sum of four parts: the context (activation * how well ``when`` fits),
    the base level, the feedback and the priority.

    Attributes
    ----------
    max_steps
        Largest number of steps from a seed; 1 to 20.
    decay_factor, spread_factor
        Share of an energy that survives a hop, and share that an edge transmits; above 0, up to 1.
    min_activation
        A memory with a lower activation passes nothing on and is not a result; > 0.
    temporal_decay_rate
        Share of its weight that an edge loses per hour since its last use; >= 0.
    inhibition_threshold, inhibition_strength
        A memory above the threshold, >= 0, damps each weaker neighbour that has no stronger
        neighbour: by the strength, 0 to 1, times the difference of the two activations.
    min_overlap
        A seed activates, even without an edge, each memory whose tags have at least this Jaccard
        similarity to the seed's tags; above 0, up to 1. None turns this off.
    weight_context, weight_base_level, weight_feedback, weight_priority
        Weights of the four parts of the score; >= 0.
    context
        The present situation, with which ``when`` of a memory is compared, such as
        ``{"language": "go"}``.
    unembedded
        Largest number of memories without an embedding that a recall adds to its seeds; 0 to 1,000.
    max_edges
        Largest number of edges of each category followed per step, the strongest; 1 to 10,000.
    now
        Time from which ages are counted, with a time zone; None for the start of the run.
    """

    name: ClassVar[str] = "synapse"
    together: ClassVar[bool] = True

    max_steps: int = synapse.MAX_STEPS
    decay_factor: float = synapse.DECAY_FACTOR
    spread_factor: float = synapse.SPREAD_FACTOR
    min_activation: float = synapse.MIN_ACTIVATION
    temporal_decay_rate: float = synapse.TEMPORAL_DECAY_RATE
    inhibition_threshold: float = synapse.INHIBITION_THRESHOLD
    inhibition_strength: float = synapse.INHIBITION_STRENGTH
    min_overlap: float | None = 0.5
    weight_context: float = situation.WEIGHT_CONTEXT
    weight_base_level: float = situation.WEIGHT_BASE_LEVEL
    weight_feedback: float = situation.WEIGHT_FEEDBACK
    weight_priority: float = situation.WEIGHT_PRIORITY
    context: Mapping[str, Any] = field(default_factory=dict, hash=False)
    unembedded: int = 20
    max_edges: int = 500
    now: datetime | None = None

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        check.whole("max_steps", 1, 20)
        for name in ("decay_factor", "spread_factor"):
            check.within(name, 0.0, 1.0, above_low=True)
        check.positive("min_activation")
        for name in ("temporal_decay_rate", "inhibition_threshold"):
            check.within(name, 0.0, 1e6)
        check.within("inhibition_strength", 0.0, 1.0)
        if self.min_overlap is not None:
            check.within("min_overlap", 0.0, 1.0, above_low=True)
        for part in ("context", "base_level", "feedback", "priority"):
            check.within(f"weight_{part}", 0.0, 1e6)
        check.whole("unembedded", 0, 1_000)
        check.whole("max_edges", 1, 10_000)
        try:
            object.__setattr__(self, "context", check_json_map(self.context, "context"))
        except InvalidInputError as exc:
            raise ConfigError(str(exc), field=exc.field) from exc
        if self.now is not None and not (isinstance(self.now, datetime) and self.now.tzinfo):
            raise ConfigError(
                "now must be an aware datetime, such as datetime.now(UTC), or None", field="now"
            )

    @property
    def seeds(self) -> SeedConfig:
        """The default search, and memories without an embedding, which it cannot compare."""
        return SeedConfig(unembedded=self.unembedded)

    def start(self, run_input: RunInput) -> SynapseRun:
        """Activate the seeds."""
        return SynapseRun(run_input, self)


class SynapseRun(JointRun):
    """One run: it spreads the energy, then reads once what is known of the memories reached."""

    def __init__(self, run_input: RunInput, settings: Synapse) -> None:
        charges = {seed.id: seed.score for seed in run_input.seeds}
        super().__init__(run_input, charges, mark=MARK)
        self._settings = settings
        self._now = settings.now or run_input.now
        # A signal is ignored if even the largest number of edges, each with such a signal, would
        # not add up to the least activation.
        self._least = settings.min_activation / settings.max_edges
        self._wave: Mapping[str, float] = charges
        self._spreading = True
        self._situations: Mapping[str, Situation] = {}

    def ask(self) -> Step | None:
        """Ask for the next edges, or, after the last step, for what is known of the results."""
        if self.over:
            return None
        now_ms = int(self._now.timestamp() * 1000)
        scope = self.input.scope
        if not self._spreading:
            ids = sorted(self._activated())
            parameters: dict[str, Any] = {"ids": ids, "now_ms": now_ms, "scope": scope}
            return Step(query="strategies.situation", parameters=parameters)
        settings = self._settings
        parameters = {
            "conflicts": CONFLICTS,
            "directional": list(DIRECTIONAL),
            "floor": self._least * SLACK,
            "frontier": [[node, self._leaves(node, 1.0, 1)] for node in self._wave],
            "held": self.input.validity.held,
            "limit": settings.max_edges,
            "max_weight": float(self.input.max_weight),
            "min_overlap": None if self.steps else settings.min_overlap,
            "now_ms": now_ms,
            "rate": float(settings.temporal_decay_rate),
            "scope": scope,
        }
        return Step(query="strategies.synapse", parameters=parameters)

    def absorb(self, record: Mapping[str, Any]) -> list[Path]:
        """Carry energy one hop; when it goes no further, score the memories that it reached."""
        if not self._spreading:
            self._situations = situations_of(record["situations"], self._now.timestamp())
            return self.end(self.results(), unspread=self._wave)
        self.begin(record["found"], record["connectors"])
        arrived = self.receive(self._signals(record))
        least = self._settings.min_activation
        self._wave = {node: energy for node, energy in arrived.items() if energy >= least}
        self._spreading = bool(self._wave) and self.steps < self._settings.max_steps
        return self.end({}) if not self.activation else []

    def results(self) -> Mapping[str, Mapping[str, float]]:
        """Score the seeds, the activated memories, and the memories on the paths to them."""
        settings = self._settings
        return {
            node: {
                part: getattr(settings, f"weight_{part}") * value
                for part, value in self._situations.get(node, NOTHING_KNOWN)
                .parts(synapse.squashed(activation), settings.context)
                .items()
            }
            for node, activation in self._activated().items()
        }

    def _activated(self) -> dict[str, float]:
        """Return activations after inhibition, of results and of the memories on their paths."""
        inhibited = self._inhibited()
        least = self._settings.min_activation
        nodes: set[str] = set()
        for node, activation in inhibited.items():
            if node in self.charges or activation >= least:
                route = self._routes[node]
                nodes.update(route.ids)
        return {node: inhibited[node] for node in nodes}

    def _inhibited(self) -> dict[str, float]:
        """Let the strongest memory of each neighbourhood damp the others, all at the same time.

        Two memories are neighbours if a signal has passed between them. A connector competes with
        nobody. Suppression takes an activation down to 0 at most.
        """
        settings = self._settings
        before = {node: max(0.0, activation) for node, activation in self.activation.items()}
        strongest: defaultdict[str, float] = defaultdict(float)
        for node, contributions in self._received.items():
            if node in self.connectors:
                continue
            for other in {each.source for each in contributions} - self.connectors:
                strongest[node] = max(strongest[node], before[other])
                strongest[other] = max(strongest[other], before[node])
        return {
            node: synapse.inhibited(
                activation,
                strongest[node],
                threshold=settings.inhibition_threshold,
                strength=settings.inhibition_strength,
            )
            for node, activation in before.items()
        }

    def _leaves(self, node: str, weight: float, count: int) -> float:
        """Return how much of a memory's energy an edge carries away in this step."""
        energy = self._wave[node]
        if energy < self._settings.min_activation:
            return 0.0
        return synapse.passed_on(
            energy,
            weight,
            count,
            decay=self._settings.decay_factor,
            spread=self._settings.spread_factor,
        )

    def _signals(self, record: Mapping[str, Any]) -> Iterable[tuple[Edge, float, float]]:
        """Return what passes over each edge: above 0 if it activates, below 0 if it suppresses."""
        for edge, sign in _signed_edges(record, self._settings.temporal_decay_rate):
            passed = self._leaves(edge.source, edge.weight, edge.degree)
            if passed >= self._least:
                yield edge, self._wave[edge.source], sign * passed


def _signed_edges(record: Mapping[str, Any], rate: float) -> Iterator[tuple[Edge, int]]:
    """Read the edges of an answer, each with 1 if it activates or -1 if it suppresses.

    Three categories of edges are stored; affinity is not. The degree of an edge is the number of
    edges of the same category at its source (source: 003, "Why four denominators?"). Only edges
    that activate fade: a superseded memory does not come back because time has passed.

    Parameters
    ----------
    rate
        Share of its weight that an edge loses per hour since its last use; >= 0.
    """
    for source, target, relation, direction, weight, hours, tags, count in record["edges"]:
        edge = Edge(
            source=source,
            target=target,
            relation=relation,
            direction=direction,
            weight=synapse.faded(weight, hours, rate),
            tags=tuple(map(str, tags)),
            degree=count,
        )
        yield edge, 1
    for source, target, kind, direction, weight, count in record["suppressions"]:
        edge = Edge(
            source=source,
            target=target,
            relation=kind,
            direction=direction,
            weight=weight,
            degree=count,
        )
        yield edge, -1
    for source, target, overlap, tags, count in record["affinities"]:
        edge = Edge(
            source=source,
            target=target,
            relation=AFFINITY,
            direction="out",
            weight=overlap,
            tags=tuple(tags),
            degree=count,
        )
        yield edge, 1
