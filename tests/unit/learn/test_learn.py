"""Learning without a database: formulas and their bounds, what a trace says, what fades."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.errors import ConfigError, InvalidInputError
from memoria.formulas import plasticity
from memoria.formulas.plasticity import decayed, oja_terms
from memoria.learn import LearnConfig, is_more_specific
from memoria.learn.consolidation import LearnedEdge, decide
from memoria.learn.events import event_id_of, event_key
from memoria.learn.specific import overrides
from memoria.learn.trails import EdgeKey, active, checked_ids, co_active, edges_to
from memoria.types import Path
from tests.for_each import for_each
from tests.oracle.learning import oja, strengthened
from tests.traces import hop, path, trace

unit = st.floats(0.0, 1.0)


def test_constants_are_those_of_the_sources() -> None:
    assert plasticity.INCREMENT == 0.1
    assert (plasticity.MAX_WEIGHT, plasticity.MAX_LIF_WEIGHT) == (1.0, 2.0)
    assert plasticity.ETA == 0.05
    assert plasticity.MIN_WEIGHT == 0.01
    assert (plasticity.CO_ACTIVATIONS, plasticity.WINDOW_DAYS) == (3, 7.0)
    assert plasticity.DECAY_PER_HOUR == 0.01


def test_the_defaults_are_those_of_the_sources() -> None:
    config = LearnConfig()
    assert (config.increment, config.eta, config.min_weight) == (0.1, 0.05, 0.01)
    assert (config.co_activations, config.window_days) == (3, 7.0)


@for_each(
    "wrong",
    [
        {"increment": 0},
        {"increment": 1.5},
        {"eta": 0.0},
        {"eta": math.nan},
        {"co_activations": 0},
        {"window_days": 0},
        {"max_active": 1},
        {"decay_per_hour": -0.1},
        {"promote_uses": 0},
        {"min_weight": 2},
        {"log_days": 0},
    ],
)
def test_a_setting_out_of_its_range_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        LearnConfig(**wrong)


class TestStrengthened:
    @given(unit, st.lists(st.floats(0.0, 1.0, exclude_min=True), max_size=50))
    def test_a_weight_never_falls_and_never_passes_the_cap(
        self, weight: float, increments: list[float]
    ) -> None:
        for increment in increments:
            after = strengthened(weight, increment)
            assert weight <= after <= 1.0
            weight = after

    @given(st.floats(0.0, 2.0), unit)
    def test_the_cap_of_leaky_integrate_and_fire_is_two(self, weight: float, gain: float) -> None:
        assert weight <= strengthened(weight, gain, cap=2.0) <= 2.0

    def test_a_foreign_weight_above_the_cap_stays(self) -> None:
        assert strengthened(7.0, 0.1) == 7.0


class TestOja:
    def test_the_update_is_that_of_the_source(self) -> None:
        # 0.5 + 0.05 * (0.8 * 0.4 - 0.4 * 0.4 * 0.5) = 0.5 + 0.05 * 0.24
        assert oja(0.5, 0.8, 0.4) == pytest.approx(0.512, abs=1e-12)

    @given(unit, unit, unit, unit)
    def test_a_weight_stays_between_itself_and_the_fixed_point(
        self, weight: float, earlier: float, later: float, eta: float
    ) -> None:
        after = oja(weight, earlier, later, eta=eta)
        fixed = earlier / later if later > 0 else math.inf
        low, high = min(weight, fixed), max(weight, min(fixed, 1.0))
        assert low - 1e-12 <= after <= high + 1e-12
        assert 0.0 <= after <= 1.0

    @given(unit, st.lists(st.tuples(unit, unit), max_size=200))
    def test_a_weight_is_bounded_however_often_it_is_updated(
        self, weight: float, activations: list[tuple[float, float]]
    ) -> None:
        for earlier, later in activations:
            weight = oja(weight, earlier, later)
            assert 0.0 <= weight <= 1.0

    @given(st.floats(0.3, 1.0), st.floats(0.3, 1.0))
    def test_repeated_it_comes_to_the_fixed_point(self, earlier: float, later: float) -> None:
        weight = 0.1
        for _ in range(10_000):
            weight = oja(weight, earlier, later)
        assert weight == pytest.approx(min(earlier / later, 1.0), abs=1e-6)

    def test_gain_and_loss_are_those_of_the_update(self) -> None:
        gain, loss = oja_terms(0.8, 0.4)
        assert oja(0.5, 0.8, 0.4) == 0.5 + (gain - loss * 0.5)


class TestDecayed:
    @given(st.floats(0.0, 2.0), unit, st.floats(0.0, 1e6), st.floats(0.0, 10.0))
    def test_it_never_falls_below_the_base_nor_rises(
        self, weight: float, base: float, hours: float, rate: float
    ) -> None:
        after = decayed(weight, base, hours, rate=rate)
        assert min(weight, base) <= after <= weight or after == pytest.approx(weight)

    @given(st.floats(0.0, 500.0), st.floats(0.0, 500.0))
    def test_two_steps_are_as_one(self, first: float, second: float) -> None:
        twice = decayed(decayed(1.0, 0.3, first), 0.3, second)
        assert twice == pytest.approx(decayed(1.0, 0.3, first + second), abs=1e-9)

    def test_a_gain_is_halved_in_sixty_nine_hours(self) -> None:
        assert decayed(1.0, 0.5, math.log(2) / 0.01) == pytest.approx(0.75)


class TestMoreSpecific:
    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            ({"a": 1, "b": 2}, {"a": 1}, True),
            ({"a": 1}, {"a": 1, "b": 2}, False),
            ({"a": 1}, {"a": 1}, False),
            ({"a": 1, "b": 2}, {"a": 2}, False),
            ({"a": 1}, {}, False),
            ({}, {}, False),
            ({"a": ["x", "y"], "b": 1}, {"a": ["x", "y"]}, True),
        ],
    )
    def test_a_strict_superset_of_conditions(
        self, one: dict[str, Any], other: dict[str, Any], expected: bool
    ) -> None:
        assert is_more_specific(one, other) is expected

    @given(
        st.dictionaries(
            st.sampled_from("abcdef"),
            st.dictionaries(st.sampled_from("xyz"), st.integers(0, 1)),
            max_size=6,
        )
    )
    def test_the_pairs_are_those_of_comparing_all(self, whens: dict[str, dict[str, int]]) -> None:
        expected = sorted(
            (a, b) for a in whens for b in whens if is_more_specific(whens[a], whens[b])
        )
        assert list(overrides(whens)) == expected


class TestTrails:
    def test_edges_to_a_used_memory_are_those_from_the_seed_to_it(self) -> None:
        one = trace("s", [("a", 1.0), ("b", 0.5), ("c", 0.2), ("d", 0.1)])
        assert edges_to(one, ["c"]) == (EdgeKey("a", "b", "near"), EdgeKey("b", "c", "near"))
        assert edges_to(one, ["a"]) == ()

    def test_an_edge_of_two_paths_counts_once_and_stands_as_stored(self) -> None:
        one = trace(
            "s",
            [("a", 1.0), ("b", 0.5), ("c", 0.2)],
            [("a", 1.0), ("b", 0.5), ("d", 0.2)],
            path([("x", 0.9), ("d", 0.2)], direction="in"),
        )
        assert edges_to(one, ["c", "d"]) == (
            EdgeKey("a", "b", "near"),
            EdgeKey("b", "c", "near"),
            EdgeKey("b", "d", "near"),
            EdgeKey("d", "x", "near"),
        )

    def test_what_led_there_by_shared_tags_alone_is_no_edge(self) -> None:
        first = hop("a", "b", (1.0, 0.5))
        virtual = replace(hop("b", "c", (0.5, 0.2)), relation="shared-tags")
        reached = Path(
            seed_id="a", hops=(first, virtual), memories=(), end_reason="dead_end", energy=0.2
        )
        assert edges_to(trace("s", reached), ["c"]) == (EdgeKey("a", "b", "near"),)

    def test_active_are_the_strongest_in_the_order_they_were_reached(self) -> None:
        one = trace("s", [("a", 1.0), ("b", 0.2), ("c", 0.3)], [("z", 0.8), ("c", 0.1)])
        assert active(one, 10) == (("a", 1.0, 0), ("z", 0.8, 0), ("c", 0.3, 1), ("b", 0.2, 1))
        assert [id_ for id_, _, _ in active(one, 3)] == ["a", "z", "c"]

    def test_pairs_of_seeds_are_left_out_and_j_is_the_later(self) -> None:
        one = trace("s", [("b", 0.9), ("a", 0.4)], [("z", 0.8)])
        pairs = co_active(one, 10)
        assert [(p.one, p.other, p.earlier, p.later) for p in pairs] == [
            ("a", "b", 0.9, 0.4),
            ("a", "z", 0.8, 0.4),
        ]

    def test_energies_above_one_count_as_one(self) -> None:
        assert active(trace("s", [("a", 1.0), ("b", 3.0)]), 2)[1] == ("b", 1.0, 1)

    def test_an_id_that_the_recall_did_not_find_is_refused(self) -> None:
        one = trace("s", [("a", 1.0), ("b", 0.5)], hits=["h"])
        assert checked_ids(["h", "b", "b"], "used", one) == ("b", "h")
        with pytest.raises(InvalidInputError, match="used names 1 id that"):
            checked_ids(["q"], "used", one)
        with pytest.raises(InvalidInputError, match="list of ids"):
            checked_ids("ab", "used", one)

    def test_frontiers_hold_every_level(self) -> None:
        one = trace("s", [("a", 1.0), ("b", 0.5), ("c", 0.2)], [("a", 1.0), ("d", 0.3)])
        assert one.explorations[0].frontiers == (
            (("a", 1.0),),
            (("b", 0.5), ("d", 0.3)),
            (("c", 0.2),),
        )


def learned(**fields: Any) -> LearnedEdge:
    values: dict[str, Any] = {
        "source": "a",
        "target": "b",
        "relation": "near",
        "weight": 0.9,
        "lif_weight": None,
        "base_weight": 0.5,
        "uses": 1,
        "promoted_uses": 0,
        "made": False,
        "since": 0.0,
    }
    return LearnedEdge(**{**values, **fields})


class TestDecide:
    config = LearnConfig()

    def test_what_was_learned_fades_towards_what_was_given(self) -> None:
        decision = decide(learned(), 100 * 3600.0, self.config)
        assert decision.weight == pytest.approx(0.5 + 0.4 * math.exp(-1))
        assert decision.base_weight == 0.5
        assert not decision.promoted

    def test_the_weight_of_leaky_integrate_and_fire_fades_by_itself(self) -> None:
        decision = decide(learned(weight=1.0, lif_weight=1.5), 100 * 3600.0, self.config)
        assert decision.lif_weight == pytest.approx(0.5 + 1.0 * math.exp(-1))

    def test_five_uses_make_it_permanent(self) -> None:
        decision = decide(learned(uses=5), 0.0, self.config)
        assert decision.promoted
        assert decision.base_weight == 0.9
        again = learned(uses=5, promoted_uses=5, base_weight=0.9)
        assert not decide(again, 1e9, self.config).changes

    def test_a_made_edge_is_pruned_when_it_is_too_weak_a_given_one_never(self) -> None:
        weak = {"weight": 0.009, "base_weight": 0.0}
        assert decide(learned(made=True, **weak), 0.0, self.config).weight is None
        assert decide(learned(made=True, uses=9, **weak), 0.0, self.config).weight is None
        assert decide(learned(made=False, **weak), 0.0, self.config).weight == 0.009
        at = learned(made=True, weight=0.01, base_weight=0.0)
        assert decide(at, 0.0, self.config).weight == 0.01

    def test_a_clock_set_back_changes_nothing(self) -> None:
        assert not decide(learned(since=1e6), 0.0, self.config).changes

    @given(
        unit,
        unit,
        st.none() | st.floats(0.0, 2.0),
        st.integers(0, 20),
        st.booleans(),
        st.floats(0.0, 1e7),
    )
    def test_weights_stay_bounded(
        self, weight: float, base: float, lif: float | None, uses: int, made: bool, now: float
    ) -> None:
        edge = learned(weight=weight, base_weight=base, lif_weight=lif, uses=uses, made=made)
        decision = decide(edge, now, self.config)
        assert decision.weight is None or 0.0 <= decision.weight <= weight + 1e-12
        assert decision.lif_weight is None or 0.0 <= decision.lif_weight <= 2.0
        assert 0.0 <= decision.base_weight <= 1.0


def test_the_id_of_an_event_says_what_it_says() -> None:
    assert event_id_of("mine") == "mine"
    assert event_id_of(None, "reinforce", "t", ("a",)) == event_id_of(
        None, "reinforce", "t", ("a",)
    )
    assert event_id_of(None, "reinforce", "t", ("a",)) != event_id_of(
        None, "reinforce", "t", ("b",)
    )
    assert event_id_of(None) != event_id_of(None)
    with pytest.raises(InvalidInputError, match="event_id"):
        event_id_of("")


def test_the_key_of_an_event_is_of_bounded_size() -> None:
    assert len(event_key("s" * 512, "i" * 512)) < 100


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"target": "a"}, "itself"),
        ({"relation": "r" * 100_000}, "trace has 100000 bytes"),
        ({"target": ""}, "must not be empty"),
        ({"relation": "\ud800"}, "surrogate"),
    ],
)
def test_a_trace_with_a_hop_that_cannot_be_an_edge_teaches_nothing(
    wrong: dict[str, Any], said: str
) -> None:
    whole = trace("s", path([("a", 1.0), ("b", 0.5)]))
    torn_hop = replace(whole.explorations[0].paths[0].hops[0], **wrong)
    paths = (replace(whole.explorations[0].paths[0], hops=(torn_hop,)),)
    torn = replace(whole, explorations=(replace(whole.explorations[0], paths=paths),))
    with pytest.raises(InvalidInputError, match=said) as caught:
        edges_to(torn, [torn_hop.target])
    assert caught.value.field == "trace"
