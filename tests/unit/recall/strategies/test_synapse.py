"""The formulas of source 003 for retrieval, and what a score makes of what is stored."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.formulas import base_level, situation, synapse
from memoria.graph.vocabulary import CONFLICTS, DIRECTIONAL
from memoria.recall.strategies import RunInput, Synapse
from memoria.recall.strategies._situation import NOTHING_KNOWN, Situation, situations_of
from memoria.types import Seed
from tests.for_each import for_each

AT_S: dict[str, Any] = {"found": ["s"], "connectors": []}

shares = st.floats(0, 1)
counts = st.integers(1, 1_000)


def test_constants_are_those_of_the_source() -> None:
    plain = Synapse()
    assert (plain.max_steps, plain.decay_factor, plain.spread_factor) == (3, 0.5, 0.8)
    assert (plain.min_activation, plain.temporal_decay_rate) == (0.01, 0.01)
    weights = (
        *(plain.weight_context, plain.weight_base_level),
        *(plain.weight_feedback, plain.weight_priority),
    )
    assert weights == (0.35, 0.30, 0.15, 0.20)
    assert math.fsum(weights) == 1.0
    assert (synapse.SIGMOID_SLOPE, synapse.SIGMOID_CENTRE) == (10, 0.3)
    assert (base_level.DECAY, base_level.CENTRE, base_level.NEUTRAL) == (0.5, -1, 0.5)
    assert situation.KIND_BOOSTS == {"constraint": 2.0, "directive": 1.5, "procedure": 1.2}
    assert CONFLICTS == "conflicts"
    assert DIRECTIONAL == ("overrides", "deprecated-to", "merged-into")


def test_constants_that_the_source_leaves_out_are_those_of_the_design() -> None:
    plain = Synapse()
    assert (plain.inhibition_threshold, plain.inhibition_strength) == (0.5, 0.15)
    assert base_level.MIN_AGE_HOURS == 1 / 60
    assert plain.seeds.unembedded == 20


def test_settings_that_differ_in_the_situation_alone_are_one_hash() -> None:
    one, other = Synapse(context={"a": 1}), Synapse(context={"a": 2})
    assert one != other
    assert hash(one) == hash(other)


@given(energy=shares, weight=shares, count=counts)
def test_pool_of_one_category_never_passes_on_more_than_there_is(
    energy: float, weight: float, count: int
) -> None:
    assert synapse.passed_on(energy, weight, count) * count <= energy * 0.4 * (1 + 1e-12)


@given(weight=shares, age=st.floats(0, 1e9), rate=st.floats(0, 10))
def test_edges_fade_and_never_below_nothing(weight: float, age: float, rate: float) -> None:
    assert 0 <= synapse.faded(weight, age, rate) <= weight
    assert synapse.faded(weight, 0.0, rate) == synapse.faded(weight, age, 0.0) == weight


def test_edge_has_half_its_weight_after_69_hours() -> None:
    assert synapse.faded(1.0, math.log(2) / 0.01) == pytest.approx(0.5)


@given(one=st.floats(0, 10), other=st.floats(0, 10), strongest=st.floats(0, 10))
def test_inhibition_damps_and_keeps_the_order(one: float, other: float, strongest: float) -> None:
    low, high = sorted((one, other))
    damped = [synapse.inhibited(each, strongest) for each in (low, high)]
    assert 0 <= damped[0] <= low
    assert 0 <= damped[1] <= high
    if strongest <= 2:  # activations far above 1 don't occur
        assert damped[0] <= damped[1] + 1e-12


def test_inhibition_needs_more_than_the_threshold() -> None:
    assert synapse.inhibited(0.2, 0.5) == 0.2
    assert synapse.inhibited(0.2, 0.6) == pytest.approx(0.2 * (1 - 0.15 * 0.4))
    assert synapse.inhibited(0.6, 0.6) == 0.6
    assert synapse.inhibited(0.2, 1.0, strength=0.0) == 0.2


@pytest.mark.parametrize(
    ("activation", "expected"),
    [(0.0, 0.0474), (0.1, 0.1192), (0.2, 0.2689), (0.3, 0.5), (0.4, 0.7311), (0.6, 0.9526)],
)
def test_sigmoid_is_nearly_binary(activation: float, expected: float) -> None:
    assert synapse.squashed(activation) == pytest.approx(expected, abs=5e-5)
    assert synapse.squashed(activation) == 1 / (1 + math.exp(-10 * (activation - 0.3)))


@given(uses=counts, age=st.floats(0, 1e6))
def test_base_level_is_the_formula(uses: int, age: float) -> None:
    hours = max(age, 1 / 60)
    assert base_level.base_level(uses, age) == pytest.approx(
        math.log(uses * hours**-0.5 / (1 - 0.5)), abs=1e-9
    )
    assert 0 < base_level.base_level_share(uses, age) < 1


def test_base_level_of_usual_memories_lies_between_minus_4_and_2() -> None:
    assert base_level.base_level(1, 24 * 365) == pytest.approx(-3.85, abs=0.01)
    assert base_level.base_level(4, 1.0) == pytest.approx(2.08, abs=0.01)
    assert base_level.base_level(1, 0.0) == base_level.base_level(1, 1 / 60)


def test_base_level_share_is_a_half_at_minus_one_and_for_what_is_new() -> None:
    age = (2 * math.e) ** 2  # ln(2 / sqrt(L)) = -1
    assert base_level.base_level(1, age) == pytest.approx(-1)
    assert base_level.base_level_share(1, age) == pytest.approx(0.5)
    assert base_level.base_level_share(0, 1.0) == 0.5
    assert base_level.base_level_share(5, None) == 0.5
    assert base_level.base_level_share(5, 100.0) > base_level.base_level_share(5, 200.0)
    assert base_level.base_level_share(6, 100.0) > base_level.base_level_share(5, 100.0)


@pytest.mark.parametrize(
    ("confirmed", "overridden", "expected"), [(0, 0, 0.5), (1, 0, 1.0), (0, 2, 0.0), (3, 1, 0.75)]
)
def test_feedback_is_the_share_of_confirmations(
    confirmed: int, overridden: int, expected: float
) -> None:
    assert situation.feedback_share(confirmed, overridden) == expected


@for_each(
    "priority, kinds, expected",
    [
        (0.4, ["Event"], 0.4),
        (0.4, ["Constraint"], 0.8),
        (0.4, ["directive"], pytest.approx(0.6)),
        (0.4, ["Procedure"], pytest.approx(0.48)),
        (0.4, ["Procedure", "constraint"], 0.8),
        (0.9, ["Constraint"], 1.0),
        (None, ["Event"], 0.5),
        (None, [], 0.5),
        (0.0, ["Constraint"], 0.0),
    ],
)
def test_priority_is_boosted_by_kind(
    priority: float | None, kinds: list[str], expected: float
) -> None:
    assert situation.priority_share(priority, kinds) == expected


WHEN = {"language": "go", "file": "*_test.go", "task": ["testing", "review"]}


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({"language": "Go", "file": "cache_test.go", "task": "testing"}, 1.0),
        ({"language": "go", "file": "cache.go", "task": "testing"}, 2 / 3),
        ({"language": "python", "file": "cache.py", "task": "docs"}, 0.0),
        ({"language": "go"}, 2 / 3),
        ({}, 0.5),
        ({"other": 1}, 0.5),
        ({"task": ["docs", "review"], "language": "c", "file": "a.c"}, 1 / 3),
    ],
)
def test_predicates_match_in_part(context: dict[str, Any], expected: float) -> None:
    assert situation.match(WHEN, context) == pytest.approx(expected)


def test_memory_without_predicates_always_applies() -> None:
    assert situation.match({}, {}) == situation.match({}, {"language": "go"}) == 1.0


@for_each(
    "wanted, actual, expected",
    [
        *((1, 1.0, True), (1, 2, False), (True, 1, False), (True, True, True), (None, None, True)),
        *(("[wip]", "[WIP]", True), ("1", 1, False), ({"a": 1}, {"a": 1}, True), ([], "x", False)),
        *(("a?c", "abc", True), ("a*", "b", False), (["a", ["b"]], ["b"], False)),
        (f"{'a' * 256}*", "a" * 300, False),  # too long for a pattern
    ],
)
def test_predicate_holds(wanted: Any, actual: Any, expected: bool) -> None:
    assert situation.holds(wanted, actual) is expected


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)
maps = st.dictionaries(st.sampled_from("abc"), anything, max_size=3)


@given(when=maps, context=maps)
def test_any_predicates_match_to_some_share(when: Any, context: Any) -> None:
    assert 0 <= situation.match(when, context) <= 1


def test_score_has_four_parts() -> None:
    """On, half fitting, used 9 times in an hour, 3 of 4 confirmed, a directive of priority 0.6."""
    known = Situation(
        when={"language": "go", "task": "docs"},
        uses=9,
        age_hours=1.0,
        confirmed=3,
        overridden=1,
        priority=0.6,
        kinds=("Directive",),
    )
    parts = known.parts(synapse.squashed(0.6), {"language": "go", "task": "testing"})
    assert parts == {
        "context": pytest.approx(0.9526 * 0.5, abs=1e-4),
        "base_level": pytest.approx(1 / (1 + math.exp(-(math.log(18) + 1)))),
        "feedback": 0.75,
        "priority": pytest.approx(0.9),
    }


def test_what_is_not_known_is_neutral() -> None:
    assert NOTHING_KNOWN.parts(1.0, {"language": "go"}) == {
        "context": 1.0,
        "base_level": 0.5,
        "feedback": 0.5,
        "priority": 0.5,
    }


def test_counters_are_read_as_learning_leaves_them() -> None:
    row = ["a", ["Event", "Memory"], "procedure", 0.5, '{"a": 1}', 10.0, 7, [1.0, 2.0], 2, 1]
    known = situations_of([row], 100.0)["a"]
    assert known == Situation(
        when={"a": 1},
        uses=7,
        age_hours=10.0,
        confirmed=2,
        overridden=1,
        priority=0.5,
        kinds=("Event", "Memory", "procedure"),
    )


def test_times_of_use_stand_in_for_a_missing_count_and_date() -> None:
    row = ["a", [], None, None, None, None, None, [7_200.0, 3_600.0], None, None]
    known = situations_of([row], 10_800.0)["a"]
    assert (known.uses, known.age_hours) == (2, 2.0)


@for_each("wrong", ["x", -3, math.nan, math.inf, True, [], {}, None])
def test_what_another_writer_left_reads_as_missing(wrong: Any) -> None:
    row = ["a", [], wrong, wrong, wrong, None, wrong, [wrong], wrong, wrong]
    known = situations_of([row], 0.0)["a"]
    assert (known.uses <= 1, known.confirmed, known.overridden) == (True, 0, 0)
    assert all(0 <= part <= 1 for part in known.parts(1.0, {}).values())


@given(when=st.text() | anything.map(repr))
def test_predicates_that_are_no_map_are_none(when: str) -> None:
    row: list[Any] = ["a", [], None, None, when, None, None, None, None, None]
    assert isinstance(situations_of([row], 0.0)["a"].when, dict)


def test_facts_that_come_too_late_are_neutral() -> None:
    seeds = (Seed(id="s", score=1.0),)
    question = RunInput(seeds=seeds, scope="s", query_tags=())
    run = Synapse().start(question)
    edge = ["s", "a", "", "out", 1.0, 0.0, [], 1]
    record = {
        "found": ["s"],
        "connectors": [],
        "edges": [edge],
        "suppressions": [],
        "affinities": [],
    }
    assert run.absorb(record) == []
    (path,) = run.cut()
    assert (path.ids, path.end_reason) == (("s", "a"), "truncated")
    (first, second) = run.outcome("s").activations
    assert first.shares == {
        "context": pytest.approx(0.35 * synapse.squashed(1.0)),
        "base_level": 0.15,
        "feedback": 0.075,
        "priority": pytest.approx(0.1),
    }
    assert second.shares["context"] == pytest.approx(
        0.35 * synapse.squashed(0.4 * (1 - 0.15 * 0.6))
    )


@pytest.mark.parametrize(("above", "asked"), [(0.0, ["a", "s"]), (1e-9, ["s"])])
def test_what_gathers_exactly_the_least_activation_is_on(above: float, asked: list[str]) -> None:
    question = RunInput(seeds=(Seed(id="s", score=1.0),), scope="s", query_tags=())
    least = synapse.passed_on(1.0, 0.5, 1) + above
    run = Synapse(min_activation=least, inhibition_strength=0.0, max_steps=1).start(question)
    edge = ["s", "a", "", "out", 0.5, 0.0, [], 1]
    run.absorb({**AT_S, "edges": [edge], "suppressions": [], "affinities": []})
    step = run.ask()
    assert step is not None
    assert step.parameters["ids"] == asked
