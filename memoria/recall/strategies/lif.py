"""Leaky integrate and fire: charge adds up over all edges; enough charge fires (source: 000).

In: seeds, then, hop by hop, the edges at the memories that a signal has reached. Out: the memories
that fire. Touches nothing. Query: ``strategies.edges``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from memoria._support.settings_check import SettingsCheck
from memoria.formulas import lif
from memoria.graph.vocabulary import SIMILAR
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies._edges import SLACK, Edge, edges_of, edges_step
from memoria.recall.strategies._joint import JointRun
from memoria.recall.strategies.base import RunInput, Step
from memoria.types import Path

MARK = "synaptic"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeakyIntegrateAndFire:
    """Memories are neurons: seeds are charged, signals leak at every hop, enough charge fires.

    Signals follow the stored direction of an edge; edges of the relation ``similar`` count both
    ways, and so do the edges of connectors that have 60 at most. If an edge has a ``lif_weight``,
    it counts instead of the weight.

    Attributes
    ----------
    fire_threshold
        Charge at which a memory fires; > 0.
    leak_rate
        Share of a signal that survives a hop, in addition to the edge's weight; above 0, up to 1.
    min_signal
        Signals below this value are lost; > 0.
    max_hops
        Largest number of hops from a seed; 1 to 20.
    max_edges
        Largest number of edges followed per hop, those with the strongest signals; 1 to 100,000.
    """

    name: ClassVar[str] = "lif"
    together: ClassVar[bool] = True
    seeds: ClassVar[SeedConfig | None] = SeedConfig(max_seeds=8)

    fire_threshold: float = lif.FIRE_THRESHOLD
    leak_rate: float = lif.LEAK_RATE
    min_signal: float = lif.MIN_SIGNAL
    max_hops: int = lif.MAX_HOPS
    max_edges: int = 5_000

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        for name in ("fire_threshold", "leak_rate", "min_signal"):
            check.positive(name)
        check.within("leak_rate", 0.0, 1.0)
        check.whole("max_hops", 1, 20)
        check.whole("max_edges", 1, 100_000)

    def start(self, run_input: RunInput) -> LifRun:
        """Charge the seeds."""
        return LifRun(run_input, self)


class LifRun(JointRun):
    """One run from all seeds, hop by hop."""

    def __init__(self, run_input: RunInput, settings: LeakyIntegrateAndFire) -> None:
        charges = {seed.id: lif.INITIAL_CHARGE for seed in run_input.seeds}
        super().__init__(run_input, charges, mark=MARK)
        self._settings = settings
        self._wave: Mapping[str, float] = charges

    def ask(self) -> Step | None:
        """Ask for the edges over which the signals of the last hop can go on."""
        if self.over:
            return None
        return edges_step(
            self.input,
            self._wave,
            limit=self._settings.max_edges,
            floor=self._settings.min_signal / self._settings.leak_rate * SLACK,
            both_ways=(SIMILAR,),
            max_lif_weight=lif.MAX_WEIGHT,
        )

    def absorb(self, record: Mapping[str, Any]) -> list[Path]:
        """Carry every signal one hop; after the last hop, return the paths to what fired."""
        self.begin(record["found"], record["connectors"])
        self._wave = self.receive(self._signals(edges_of(record)))
        if self._wave and self.steps < self._settings.max_hops:
            return []
        return self.end(self.results(), unspread=self._wave)

    def results(self) -> Mapping[str, Mapping[str, float]]:
        """Return the memories that fire; seeds do not count."""
        threshold = self._settings.fire_threshold
        return {
            node: shares
            for node, shares in super().results().items()
            if node not in self.charges and lif.fires(sum(shares.values()), threshold)
        }

    def _signals(self, edges: Iterable[Edge]) -> Iterable[tuple[Edge, float, float]]:
        settings = self._settings
        for edge in edges:
            signal = self._wave[edge.source]
            arrives = lif.transmitted(
                signal, edge.weight, leak_rate=settings.leak_rate, min_signal=settings.min_signal
            )
            if arrives > 0:
                yield edge, signal, arrives
