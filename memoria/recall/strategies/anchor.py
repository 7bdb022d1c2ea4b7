"""Anchors spread their similarity over the strongest edges at the anchors (source: 004).

In: anchors with their cosines, then the edges at them, loaded once. Out: every memory that was
activated, with a score of three parts. Touches nothing. Query: ``strategies.anchors``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar

from memoria._support.settings_check import SettingsCheck
from memoria.formulas import spreading
from memoria.graph.vocabulary import SIMILAR
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies._edges import CONNECTOR_EDGES, Edge
from memoria.recall.strategies._joint import JointRun
from memoria.recall.strategies.base import RunInput, Step
from memoria.types import Path

MARK = "spread"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorSpreading:
    """The memories nearest by cosine activate those that they point at, for a few rounds.

    The score is the weighted sum of three parts: the cosine, the activation as a share of the
    highest activation, and the in-degree as a share of the highest in-degree. Edges count in their
    stored direction; edges of the relation ``similar``, and of connectors that have 60 at most, in
    both.

    Attributes
    ----------
    use_spreading
        Whether activation passes over edges; if False, the anchors are ranked by cosine alone.
    spreading_strength
        Share of an activation that passes over an edge, in addition to the edge's weight; 0 to 1.
        With 0 nothing spreads.
    iterations
        Number of rounds; 1 to 20. In each round every activated memory passes on what it had before
        the round.
    weight_similarity, weight_activation, weight_structural
        Weights of the three parts of the score: cosine, activation and in-degree; >= 0.
    anchor_top_k_episodes, anchor_top_k_facts
        Largest number of anchors of kinds that hold no facts, 1 to 100, and of ``fact_kinds``, 0 to
        100. With 0 for facts all kinds are treated alike.
    fact_kinds
        Kinds that hold facts rather than episodes.
    max_edges
        Largest number of edges at the anchors that are loaded, the heaviest first; 1 to 10,000.
    """

    name: ClassVar[str] = "anchor"
    together: ClassVar[bool] = True

    use_spreading: bool = True
    spreading_strength: float = spreading.SPREADING_STRENGTH
    iterations: int = spreading.ITERATIONS
    weight_similarity: float = spreading.WEIGHT_SIMILARITY
    weight_activation: float = spreading.WEIGHT_ACTIVATION
    weight_structural: float = spreading.WEIGHT_STRUCTURAL
    anchor_top_k_episodes: int = spreading.ANCHOR_TOP_K_EPISODES
    anchor_top_k_facts: int = spreading.ANCHOR_TOP_K_FACTS
    fact_kinds: tuple[str, ...] = ("UserPreference", "DataSource")
    max_edges: int = spreading.MAX_EDGES

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        check.flag("use_spreading")
        check.within("spreading_strength", 0.0, 1.0)
        check.whole("iterations", 1, 20)
        for name in ("weight_similarity", "weight_activation", "weight_structural"):
            check.within(name, 0.0, 1e6)
        check.whole("anchor_top_k_episodes", 1, 100)
        check.whole("anchor_top_k_facts", 0, 100)
        check.names("fact_kinds")
        check.whole("max_edges", 1, 10_000)

    @property
    def spreads(self) -> bool:
        """Whether anything can pass over an edge."""
        return self.use_spreading and self.spreading_strength > 0

    @property
    def seeds(self) -> SeedConfig:
        """How to search for the anchors: by cosine alone, facts in addition to episodes."""
        return SeedConfig(
            fusion="cosine",
            max_seeds=self.anchor_top_k_episodes,
            max_facts=self.anchor_top_k_facts,
            fact_kinds=self.fact_kinds,
            candidates=max(50, self.anchor_top_k_episodes + self.anchor_top_k_facts),
        )

    def start(self, run_input: RunInput) -> AnchorRun:
        """Activate the anchors."""
        return AnchorRun(run_input, self)


class AnchorRun(JointRun):
    """One run: the edges are loaded once, and all rounds work on them."""

    def __init__(self, run_input: RunInput, settings: AnchorSpreading) -> None:
        charges = {
            seed.id: max(0.0, seed.score if seed.vector_score is None else seed.vector_score)
            for seed in run_input.seeds
        }
        super().__init__(run_input, charges, mark=MARK)
        self._settings = settings
        self._edges: Sequence[Edge] = ()
        self._cosines: dict[str, float] = {}

    def ask(self) -> Step | None:
        """Ask for the edges, once."""
        if self.over:
            return None
        run_input, settings = self.input, self._settings
        parameters = {
            "connector_edges": CONNECTOR_EDGES,
            "held": run_input.validity.held,
            "ids": list(self.charges),
            "limit": settings.max_edges if settings.spreads else 0,
            "max_weight": float(run_input.max_weight),
            "scope": run_input.scope,
            "vector": None if run_input.vector is None else list(run_input.vector),
        }
        return Step(query="strategies.anchors", parameters=parameters)

    def absorb(self, record: Mapping[str, Any]) -> list[Path]:
        """Take the edges, spread for all rounds, then score."""
        self.begin(record["found"], record["connectors"])
        self._edges = _followed(record["edges"], self.connectors)
        self._cosines = {node: cosine for node, cosine in record["cosines"] if cosine is not None}
        before: Set[str] = set()
        for _ in range(self._settings.iterations):
            before = set(self.activation)
            if not self.receive(self._round()):
                break
        return self.end(self.results(), unspread=self.activation.keys() - before)

    def results(self) -> Mapping[str, Mapping[str, float]]:
        """Score every activated memory; without edges, its cosine is its score."""
        activation = {
            node: value for node, value in self.activation.items() if node not in self.connectors
        }
        if not self._edges:
            return {node: {"cosine": cosine} for node, cosine in activation.items()}
        settings = self._settings
        ends = (edge.target for edge in self._edges)
        in_degrees = Counter(end for end in ends if end not in self.connectors)
        most_in = max(in_degrees.values(), default=1)
        most = max(activation.values(), default=0.0)
        return {
            node: {
                "cosine": settings.weight_similarity * self._cosine(node),
                "spread": settings.weight_activation * spreading.share_of_most(value, most),
                "structure": settings.weight_structural * in_degrees[node] / most_in,
            }
            for node, value in activation.items()
        }

    def _round(self) -> list[tuple[Edge, float, float]]:
        """Return what each edge passes on of the activation that its source had before."""
        passed = []
        for edge in self._edges:
            energy = self.activation.get(edge.source, 0.0)
            arrives = spreading.passed_on(energy, edge.weight, self._settings.spreading_strength)
            if arrives > 0:
                passed.append((edge, energy, arrives))
        return passed

    def _cosine(self, node: str) -> float:
        """Return the cosine of a memory and the query; 0 where it is not known."""
        if node in self.charges:
            return self.charges[node]
        return max(0.0, self._cosines.get(node, 0.0))


def _followed(rows: Sequence[Sequence[Any]], connectors: Set[str]) -> list[Edge]:
    """Turn stored edges into the edges to follow.

    An edge of the relation ``similar``, or of a connector that is not too large, becomes two, one
    each way.
    """
    edges = []
    for source, target, relation, weight, tags, out_degree, in_degree in rows:
        ends = [(source, target, "out", out_degree)]
        degrees = {source: out_degree, target: in_degree}
        leads_on = any(degrees[end] <= CONNECTOR_EDGES for end in connectors & degrees.keys())
        if relation == SIMILAR or leads_on:
            ends.append((target, source, "in", in_degree))
        edges += [
            Edge(
                source=one,
                target=other,
                relation=relation,
                direction="out" if way == "out" else "in",
                weight=weight,
                tags=tuple(map(str, tags)),
                degree=degree,
            )
            for one, other, way, degree in ends
        ]
    return edges
