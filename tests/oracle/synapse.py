"""Spreading activation with suppression in plain Python: the oracle of the engine (source: 003).

In: a small graph in memory and seeds. Out: every signal, and the activation of every memory. Where
the source is open:

- a step carries on what arrived, in sum, with the step before it; what was carried is not again;
- RELATES edges conduct both ways, whatever their relation; loops do not, but count as edges;
- suppression is subtracted at the end, down to 0; it does not fade with age;
- affinity leads from the seeds alone, in the first step;
- neighbours are memories between which a signal has passed; a connector is nobody's neighbour.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import Synapse
from tests.oracle.validity import Span, holds

ONE_WAY = {"overrides", "deprecated-to", "merged-into"}


class Relates(NamedTuple):
    """A RELATES edge; hours since it was last used."""

    source: str
    target: str
    weight: float = 1.0
    relation: str = "related"
    hours: float = 0.0


class Suppresses(NamedTuple):
    """A SUPPRESSES edge."""

    source: str
    target: str
    kind: str = "conflicts"
    weight: float | None = None


@dataclass(frozen=True, kw_only=True)
class World:
    """Memories of one scope with their properties, and what joins them.

    ``spans``: what some memories say of their own time and conditions. ``connectors``: those that
    are topics; they conduct, but share no tags.
    """

    memories: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    relates: Sequence[Relates] = ()
    suppresses: Sequence[Suppresses] = ()
    spans: Mapping[str, Span] = field(default_factory=dict)
    connectors: frozenset[str] = frozenset()

    @property
    def ids(self) -> frozenset[str]:
        """Those that are described, and those that edges name."""
        edges: list[Relates | Suppresses] = [*self.relates, *self.suppresses]
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        return frozenset(ends | self.memories.keys())

    def holding(self, config: RetrieverConfig) -> frozenset[str]:
        """Those that hold."""
        return frozenset(node for node in self.ids if holds(self.spans.get(node), config))

    def tags(self, node: str) -> set[str]:
        """Tags of a memory."""
        return set(self.memories.get(node, {}).get("tags", ()))


class Signal(NamedTuple):
    """What passed over one edge in one step; below 0: it suppressed."""

    step: int
    source: str
    target: str
    relation: str
    energy: float


def settings_of(config: RetrieverConfig) -> Synapse:
    """Constants of spreading with suppression, the strategy that this reference knows."""
    assert isinstance(config.strategy, Synapse)
    return config.strategy


def leading_away(
    world: World, node: str, config: RetrieverConfig, affinity: bool
) -> Iterator[tuple[str, str, float, int]]:
    """(target, relation, signed weight, edges of its category) of all that leads from a memory."""
    settings = settings_of(config)
    holding = world.holding(config)
    at = [edge for edge in world.relates if node in (edge.source, edge.target)]
    for edge in at:
        other = edge.target if edge.source == node else edge.source
        if other != node and other in holding:
            weight = edge.weight * math.exp(-settings.temporal_decay_rate * edge.hours)
            yield other, edge.relation, weight, len(at)
    touching = [edge for edge in world.suppresses if node in (edge.source, edge.target)]
    conflicts = [edge for edge in touching if edge.kind == "conflicts"]
    superseded = [edge for edge in touching if edge.kind in ONE_WAY and edge.source == node]
    for edges in (conflicts, superseded):
        for one in edges:
            other = one.target if one.source == node else one.source
            if other != node and other in holding:
                yield other, one.kind, -(1.0 if one.weight is None else one.weight), len(edges)
    if affinity and settings.min_overlap is not None and world.tags(node):
        mine = world.tags(node)
        alike = {
            other: len(mine & world.tags(other)) / len(mine | world.tags(other))
            for other in holding - world.connectors - {node}
        }
        partners = {
            other: overlap
            for other, overlap in alike.items()
            if overlap > 0 and overlap >= settings.min_overlap
        }
        for other, overlap in partners.items():
            yield other, "shared-tags", overlap, len(partners)


def signals(world: World, seeds: Mapping[str, float], config: RetrieverConfig) -> list[Signal]:
    """Every signal of a run."""
    settings = settings_of(config)
    wave = {seed: score for seed, score in seeds.items() if seed in world.holding(config)}
    passed: list[Signal] = []
    for step in range(1, settings.max_steps + 1):
        now = []
        for node, energy in wave.items():
            if energy < settings.min_activation:
                continue
            for target, relation, weight, count in leading_away(world, node, config, step == 1):
                energy_out = (
                    energy * settings.spread_factor * settings.decay_factor * weight / count
                )
                if abs(energy_out) >= settings.min_activation / settings.max_edges:
                    now.append(Signal(step, node, target, relation, energy_out))
        passed += now
        arrived: defaultdict[str, list[float]] = defaultdict(list)
        for signal in now:
            arrived[signal.target].append(signal.energy)
        wave = {node: math.fsum(energies) for node, energies in arrived.items()}
    return passed


def activations(
    world: World, seeds: Mapping[str, float], config: RetrieverConfig
) -> dict[str, float]:
    """Id -> activation after suppression and inhibition, of all that was reached."""
    settings = settings_of(config)
    passed = signals(world, seeds, config)
    gathered: defaultdict[str, list[float]] = defaultdict(list)
    for seed, score in seeds.items():
        if seed in world.holding(config):
            gathered[seed].append(score)
    for signal in passed:
        gathered[signal.target].append(signal.energy)
    before = {node: max(0.0, math.fsum(parts)) for node, parts in gathered.items()}
    after = {}
    for node, own in before.items():
        if node in world.connectors:
            after[node] = own
            continue
        ends = [(signal.source, signal.target) for signal in passed]
        neighbours = (
            {end for pair in ends if node in pair for end in pair} - {node} - world.connectors
        )
        most = max((before[other] for other in neighbours), default=0.0)
        damping = 0.0
        if most > settings.inhibition_threshold and most > own:
            damping = settings.inhibition_strength * (most - own)
        after[node] = own * max(0.0, 1.0 - damping)
    return after
