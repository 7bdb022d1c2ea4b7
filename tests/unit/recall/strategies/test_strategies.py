"""Strategies without a database: their settings, and runs on answers written by hand."""

from __future__ import annotations

import dataclasses
import itertools
import math
from datetime import UTC, datetime
from typing import Any

import pytest

import memoria
from memoria.errors import ConfigError
from memoria.formulas import lif
from memoria.recall.config import RetrieverConfig
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies import (
    STRATEGIES,
    AnchorSpreading,
    LeakyIntegrateAndFire,
    RunInput,
    Strategy,
    Synapse,
    TransferEnergy,
    edges_step,
)
from memoria.types import Hop, Path, Seed

#: The part of an answer that says which seeds exist, and that there are no connectors.
AT_S: dict[str, Any] = {"found": ["s"], "connectors": []}

RANGES: list[tuple[Any, str, list[Any], list[Any]]] = [
    (TransferEnergy, "max_depth", [1, 20], [0, 21, 5.0]),
    (TransferEnergy, "min_activation", [0, 0.0, 5e-324, 1e9], [-5e-324, -1]),
    (TransferEnergy, "tag_sim_floor", [0, 1], [-0.1, 1.1]),
    (TransferEnergy, "max_branches", [1, 100], [0, 101]),
    (TransferEnergy, "seed_branches", [None, 1, 100], [0, 101, 2.0]),
    (TransferEnergy, "round_trips", ["level", "single"], ["Single", None, 1]),
    (LeakyIntegrateAndFire, "fire_threshold", [1e-9, 0.5, 3.0], [0, -1, None]),
    (LeakyIntegrateAndFire, "leak_rate", [1e-9, 0.85, 1], [0, 1.01, "1"]),
    (LeakyIntegrateAndFire, "min_signal", [1e-12, 0.02], [0, -1]),
    (LeakyIntegrateAndFire, "max_hops", [1, 20], [0, 21, 3.0]),
    (LeakyIntegrateAndFire, "max_edges", [1, 100_000], [0, 100_001]),
    (AnchorSpreading, "use_spreading", [True, False], []),
    (AnchorSpreading, "spreading_strength", [0, 0.85, 1], [-0.1, 1.1]),
    (AnchorSpreading, "iterations", [1, 20], [0, 21]),
    (AnchorSpreading, "weight_similarity", [0, 1], [-1]),
    (AnchorSpreading, "weight_activation", [0, 1], [-1]),
    (AnchorSpreading, "weight_structural", [0, 1], [-1]),
    (AnchorSpreading, "anchor_top_k_episodes", [1, 100], [0, 101]),
    (AnchorSpreading, "anchor_top_k_facts", [0, 100], [-1, 101]),
    (AnchorSpreading, "fact_kinds", [(), ("Event",)], ["Event", ["Event"]]),
    (AnchorSpreading, "max_edges", [1, 10_000], [0, 10_001]),
    (Synapse, "max_steps", [1, 3, 20], [0, 21, 3.0]),
    (Synapse, "decay_factor", [1e-9, 0.5, 1], [0, 1.01]),
    (Synapse, "spread_factor", [1e-9, 0.8, 1], [0, 1.01, "1"]),
    (Synapse, "min_activation", [1e-9, 0.01, 2], [0, -1]),
    (Synapse, "temporal_decay_rate", [0, 0.01, 1e6], [-0.1, math.inf]),
    (Synapse, "inhibition_threshold", [0, 0.5, 2], [-0.1, None]),
    (Synapse, "inhibition_strength", [0, 0.15, 1], [-0.1, 1.1]),
    (Synapse, "min_overlap", [None, 1e-9, 0.5, 1], [0, 1.1, "x"]),
    (Synapse, "weight_context", [0, 0.35], [-1]),
    (Synapse, "weight_base_level", [0, 0.3], [-1]),
    (Synapse, "weight_feedback", [0, 0.15], [-1]),
    (Synapse, "weight_priority", [0, 0.2], [-1]),
    (Synapse, "context", [{}, {"language": "go", "n": [1]}], [None, "go", {1: 2}, {"a": {1, 2}}]),
    (Synapse, "unembedded", [0, 20, 1_000], [-1, 1_001]),
    (Synapse, "max_edges", [1, 10_000], [0, 10_001]),
    (Synapse, "now", [None, datetime(2026, 1, 1, tzinfo=UTC)], [datetime(2026, 1, 1), 7]),
]
# Of a mapping, the wrong place is named.
PLACES = {"context": ("a key of context ", "context['a'] ")}


def test_defaults_are_those_of_the_sources() -> None:
    transfer = TransferEnergy()
    assert (transfer.max_depth, transfer.min_activation) == (5, 0.005)
    assert (transfer.tag_sim_floor, transfer.max_branches) == (0.15, 3)
    assert (transfer.round_trips, transfer.seeds) == ("level", None)
    fire = LeakyIntegrateAndFire()
    assert (fire.fire_threshold, fire.leak_rate, fire.min_signal, fire.max_hops) == (
        *(0.5, 0.85, 0.02, 3),
    )
    assert (lif.INITIAL_CHARGE, lif.MAX_WEIGHT) == (1.0, 2.0)
    assert fire.seeds is not None
    assert (fire.seeds.max_seeds, fire.seeds.fusion) == (8, "rrf")
    spread = AnchorSpreading()
    assert (spread.spreading_strength, spread.iterations, spread.max_edges) == (0.85, 3, 500)
    weights = (spread.weight_similarity, spread.weight_activation, spread.weight_structural)
    assert weights == (0.5, 0.3, 0.2)
    assert (spread.seeds.max_seeds, spread.seeds.max_facts) == (10, 10)


@pytest.mark.parametrize("kind", [type(each) for each in STRATEGIES.values()])
def test_settings_of_a_strategy_are_checked_and_documented(kind: Any) -> None:
    named = {field for owner, field, *_ in RANGES if owner is kind}
    assert named == {field.name for field in dataclasses.fields(kind)}
    assert all(name in kind.__doc__ for name in named)
    for owner, field, good, bad in RANGES:
        if owner is kind:
            for value in good:
                assert getattr(kind(**{field: value}), field) == value
            for value in bad:
                with pytest.raises(ConfigError) as refused:
                    kind(**{field: value})
                assert str(refused.value).startswith((f"{field} ", *PLACES.get(field, ())))


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_settings_of_a_strategy_never_change(strategy: Any) -> None:
    """Runs under way, traces and the caches of callers rely on that."""
    assert hash(strategy) == hash(dataclasses.replace(strategy))
    for field in dataclasses.fields(strategy):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(strategy, field.name, getattr(strategy, field.name))


def test_strategies_are_known_by_their_names() -> None:
    for name, strategy in STRATEGIES.items():
        assert type(strategy).__name__ in memoria.__all__, "users write memoria.Synapse()"
        assert isinstance(strategy, Strategy)
        assert strategy.name == name
        assert RetrieverConfig(strategy=strategy).strategy is strategy


def test_only_the_seeds_of_the_default_may_be_divided_among_sessions() -> None:
    assert [name for name, each in STRATEGIES.items() if not each.together] == ["transfer"]


def test_a_step_for_edges_leaves_none_out_unless_told_to() -> None:
    step = edges_step(question("s"), {"s": 0.5}, limit=3)
    assert step.parameters["frontier"] == [["s", 0.5]]
    assert (step.parameters["floor"], step.parameters["limit"]) == (0.0, 3)
    assert (step.parameters["both_ways"], step.parameters["max_lif_weight"]) == (None, None)


class _Half:
    name = "half"

    def start(self, run_input: RunInput) -> None:
        """Lack everything else."""


@pytest.mark.parametrize(
    ("wrong", "give"),
    [
        ("lif", r"give LeakyIntegrateAndFire\(\)$"),
        ("LIF", r"give TransferEnergy\(\) or LeakyIntegrateAndFire\(\) or "),
        (Synapse, r"give Synapse\(\)$"),
        (_Half(), r"give TransferEnergy\(\) or"),
        (7, r"give TransferEnergy\(\) or"),
        (None, r"give TransferEnergy\(\) or"),
    ],
)
def test_a_strategy_that_is_not_an_object_is_refused_with_the_object_to_give(
    wrong: Any, give: str
) -> None:
    with pytest.raises(ConfigError, match=rf"^strategy must be an object, got .*: {give}"):
        RetrieverConfig(strategy=wrong)


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_seeds_are_those_that_are_given_or_those_that_the_strategy_wants(
    strategy: Strategy,
) -> None:
    default = RetrieverConfig(strategy=strategy)
    assert default.seed_search == (strategy.seeds or SeedConfig())
    for given in (SeedConfig(), SeedConfig(max_seeds=5), SeedConfig(max_seeds=3)):
        assert dataclasses.replace(default, seeds=given).seed_search == given


def question(*seeds: str) -> RunInput:
    return RunInput(
        seeds=tuple(Seed(id=seed, score=1.0) for seed in seeds),
        scope="s",
        query_tags=(),
    )


def row(source: str, target: str, weight: float, relation: str = "") -> list[Any]:
    return [source, target, relation, "out", weight, [], 2]


def answers(*rows: list[Any]) -> dict[str, Any]:
    return {"found": ["s", "t"], "connectors": [], "edges": list(rows)}


def ways(paths: list[Path]) -> list[tuple[tuple[str, ...], str]]:
    return [(path.ids, path.end_reason) for path in paths]


def test_order_of_the_answer_makes_no_difference() -> None:
    rows = [
        *(row("s", "a", 0.7), row("t", "a", 0.7), row("s", "a", 0.3, "x"), row("t", "b", 0.1)),
    ]
    outcomes = []
    for order in itertools.permutations(rows):
        run = LeakyIntegrateAndFire(max_hops=1).start(question("s", "t"))
        paths = run.absorb(answers(*order))
        outcomes.append((paths, run.outcome("s"), run.outcome("t")))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    # Two ways as strong as each other: the first ids win.
    assert ways(outcomes[0][0]) == [(("s", "a"), "max_depth"), (("t",), "dead_end")]


def test_a_stronger_way_of_more_hops_replaces_a_weak_one_of_one() -> None:
    run = LeakyIntegrateAndFire(min_signal=1e-6, fire_threshold=1e-6).start(question("s"))
    assert run.absorb({**AT_S, "edges": [row("s", "a", 0.1), row("s", "b", 1.0)]}) == []
    assert run.absorb({**AT_S, "edges": [row("b", "a", 0.9)]}) == []
    (way,) = run.absorb({**AT_S, "edges": []})
    assert way.ids == ("s", "b", "a")
    activation = next(entry for entry in run.outcome("s").activations if entry.id == "a")
    assert [entry.step for entry in activation.contributions] == [1, 2]
    assert way.energy == pytest.approx(0.085 + 0.85 * 0.9 * 0.85)


def test_no_way_leads_to_a_seed_or_twice_to_a_memory_however_strong() -> None:
    run = LeakyIntegrateAndFire().start(question("s", "t"))
    rows = [
        row(source, target, 2.0) for source, target in ("st", "sa", "ab", "ba")
    ]  # each gives 1.7 of a signal
    assert run.absorb(answers(*rows[:2])) == []
    assert run.absorb(answers(rows[2])) == []
    assert ways(run.absorb(answers(rows[3]))) == [
        (("s", "a", "b"), "dead_end"),
        (("t",), "below_threshold"),
    ]
    assert [run.outcome(seed).nodes for seed in "st"] == [3, 1]


def test_run_that_is_cut_gives_what_it_has_once() -> None:
    run = LeakyIntegrateAndFire().start(question("s", "t"))
    assert run.outcome("s").found is None
    assert run.absorb(answers(row("s", "a", 0.9))) == []
    assert not run.outcome("s").over
    assert ways(run.cut()) == [(("s", "a"), "truncated"), (("t",), "truncated")]
    assert run.cut() == []
    assert run.ask() is None
    assert run.outcome("s").over
    assert [entry.id for entry in run.outcome("s").activations] == ["s", "a"]


@pytest.mark.parametrize("strategy", [LeakyIntegrateAndFire(), AnchorSpreading(), Synapse()])
def test_run_that_is_cut_before_its_first_answer_leaves_the_seeds(strategy: Strategy) -> None:
    run = strategy.start(question("s", "t"))
    assert ways(run.cut()) == [(("s",), "truncated"), (("t",), "truncated")]
    assert run.parts() == {}, "seeds whose energy meets can't go on alone"


def test_hop_of_a_joint_run_carries_every_fact_of_its_edge() -> None:
    run = LeakyIntegrateAndFire().start(question("s"))
    edge = ["s", "a", "near", "in", 0.9, ["x", "y"], 2]
    assert run.absorb({**AT_S, "edges": [edge]}) == []
    (path,) = run.cut()
    assert path.hops == (
        Hop(
            source="s",
            target="a",
            relation="near",
            direction="in",
            weight=0.9,
            tags=("x", "y"),
            tag_similarity=1.0,  # tags do not change the energy of these strategies
            degree=2,
            energy_in=1.0,
            energy_out=0.9 * 0.85,
        ),
    )


def test_outcome_counts_the_memories_that_were_activated_from_a_seed() -> None:
    run = LeakyIntegrateAndFire(max_hops=1).start(question("s", "t"))
    assert run.outcome("s").nodes == 0
    run.absorb(answers(row("s", "a", 0.9), row("s", "b", 0.8)))
    assert [run.outcome(seed).nodes for seed in "st"] == [3, 1]


def test_nothing_is_reached_from_a_seed_that_is_not_found() -> None:
    run = TransferEnergy().start(question("s"))
    assert (run.outcome("s").found, run.outcome("s").nodes) == (None, 0)
    assert run.absorb({"level": []}) == []
    outcome = run.outcome("s")
    assert (outcome.found, outcome.over, outcome.nodes) == (False, True, 0)


@pytest.mark.parametrize(("threshold", "fires"), [(0.76, ["s", "a"]), (0.77, ["s"])])
def test_memory_fires_at_the_threshold_of_its_strategy(threshold: float, fires: list[str]) -> None:
    run = LeakyIntegrateAndFire(fire_threshold=threshold, max_hops=1).start(question("s"))
    run.absorb({**AT_S, "edges": [row("s", "a", 0.9)]})  # 0.9 * 0.85 = 0.765
    assert [entry.id for entry in run.outcome("s").activations] == fires


def test_anchors_follow_similar_against_its_stored_direction_too() -> None:
    """The anchor s has two edges that lead to it; only ``similar`` is followed back."""
    run = AnchorSpreading(iterations=1).start(question("s"))
    edges = [["a", "s", "similar", 0.8, ["x"], 3, 5], ["b", "s", "near", 0.9, [], 1, 5]]
    (path,) = run.absorb({**AT_S, "edges": edges, "cosines": [["a", 0.4]]})
    assert path.ids == ("s", "a")
    (hop,) = path.hops
    assert (hop.direction, hop.relation, hop.tags, hop.degree) == ("in", "similar", ("x",), 5)
    shares = {entry.id: entry.shares for entry in run.outcome("s").activations}
    # a: 0.5 * cosine 0.4; 0.3 * 0.68 (1 * 0.8 * 0.85), as s has the most, 1; 0.2 * 1 edge of 2.
    assert shares["a"] == pytest.approx({"cosine": 0.2, "spread": 0.204, "structure": 0.1})
    assert shares["s"] == pytest.approx({"cosine": 0.5, "spread": 0.3, "structure": 0.2})


def test_anchors_follow_a_stored_direction_with_the_degree_of_its_source() -> None:
    run = AnchorSpreading(iterations=1).start(question("s"))
    edges = [["s", "a", "similar", 0.8, [], 3, 5]]
    (path,) = run.absorb({**AT_S, "edges": edges, "cosines": []})
    assert [(hop.source, hop.direction, hop.degree) for hop in path.hops] == [("s", "out", 3)]


def test_cosine_alone_is_the_score_of_anchors_without_edges() -> None:
    run = AnchorSpreading().start(question("s"))
    run.absorb({**AT_S, "edges": [], "cosines": [["s", 1.0]]})
    (activation,) = run.outcome("s").activations
    assert activation.shares == {"cosine": 1.0}
