"""What likely memories need rises with them: by hand, then for any graph."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.recall.ranking import NOTHING_KNOWN, rank_by_relevance, with_needs
from memoria.recall.ranking.config import RelevanceConfig
from memoria.recall.ranking.needs import HOPS, followed
from memoria.types import Hop, Path
from tests.unit.recall.ranking.test_relevance import candidate

IDS = [f"m{n}" for n in range(HOPS + 2)]
# Sums lie this far below the best one, at most: e to the power of them is still a number.
SUMS = st.lists(st.floats(-50, 50), min_size=len(IDS), max_size=len(IDS))
EDGES = st.lists(
    st.tuples(st.sampled_from(IDS), st.sampled_from(IDS), st.floats(0.01, 2.0)), max_size=20
)


def odds(sums: np.ndarray) -> list[float]:
    return [float(each) for each in np.exp(sums)]


def test_the_odds_grow_by_half_of_those_of_the_likeliest_that_needs_it() -> None:
    sums = np.log([8.0, 4.0, 1.0])
    needs = {"a": {"c": 0.5}, "b": {"c": 0.75}}
    assert odds(with_needs(sums, "abc", needs)) == pytest.approx([8.0, 4.0, 1.0 + 8.0 * 0.5 / 2])


def test_a_need_of_a_need_counts_as_well_and_a_larger_weight_as_one() -> None:
    sums = np.log([8.0, 1.0, 0.25])
    found = with_needs(sums, "abc", {"a": {"b": 7.0}, "b": {"c": 1.0}})
    assert odds(found) == pytest.approx([8.0, 5.0, 0.25 + 2.0])


def test_of_several_that_need_it_the_best_counts_however_far_it_is() -> None:
    sums = np.log([16.0, 1.0, 1.0])
    found = with_needs(sums, "abc", {"a": {"b": 1.0}, "b": {"c": 1.0}})
    assert odds(found) == pytest.approx([16.0, 9.0, 1.0 + 4.0])


def test_needs_lead_over_memories_that_are_no_candidates() -> None:
    sums = np.log([8.0, 1.0])
    found = with_needs(sums, "ac", {"a": {"b": 1.0}, "b": {"c": 1.0}})
    assert odds(found) == pytest.approx([8.0, 1.0 + 2.0])


def test_memories_that_need_each_other_do_not_lift_themselves() -> None:
    sums = np.log([8.0, 1e-9, 9.0])
    found = with_needs(sums, "abc", {"a": {"b": 1.0}, "b": {"a": 1.0}})
    assert odds(found) == pytest.approx([8.0, 4.0, 9.0])
    six = with_needs(
        np.log([8.0] * 6), "abcdef", {a: dict.fromkeys("abcdef", 1.0) for a in "abcdef"}
    )
    assert odds(six) == pytest.approx([12.0] * 6)


def test_the_least_weight_hands_on_next_to_nothing() -> None:
    sums = np.log([8.0, 1.0])
    assert odds(with_needs(sums, "ab", {"a": {"b": 5e-324}})) == pytest.approx([8.0, 1.0])


def test_needs_are_followed_over_four_edges() -> None:
    chain = {IDS[n]: {IDS[n + 1]: 1.0} for n in range(len(IDS) - 1)}
    sums = np.array([0.0] + [-1e3] * (len(IDS) - 1))
    found = with_needs(sums, IDS, chain)
    assert found[:-1].tolist() == pytest.approx([n * math.log(0.5) for n in range(HOPS + 1)])
    assert found[-1] < -900


@pytest.mark.parametrize("needs", [{}, {"a": {"z": 1.0}}, {"z": {"a": 1.0}}])
def test_what_no_candidate_needs_stays_to_the_last_bit(needs: dict[str, dict[str, float]]) -> None:
    sums = np.array([0.1, 0.7])
    assert with_needs(sums, "ab", needs).tolist() == sums.tolist()


@given(SUMS, EDGES)
def test_nothing_falls_and_what_is_needed_has_half_of_the_odds(
    given_sums: list[float], edges: list[tuple[str, str, float]]
) -> None:
    sums = np.array(given_sums)
    needs: dict[str, dict[str, float]] = {}
    for source, target, weight in edges:
        if source != target:
            needs.setdefault(source, {})[target] = weight
    found = dict(zip(IDS, with_needs(sums, IDS, needs), strict=True))
    assert all(found[id_] >= own for id_, own in zip(IDS, given_sums, strict=True))
    for source, targets in needs.items():
        for target, weight in targets.items():
            least = given_sums[IDS.index(source)] + math.log(0.5 * min(weight, 1.0))
            assert found[target] >= least - 1e-9


def test_a_ranking_says_what_a_memory_got_and_from_whom() -> None:
    all_ = [candidate("a", "ferry pier"), candidate("b", "other"), candidate("c", "words")]
    plain = rank_by_relevance("ferry", all_, NOTHING_KNOWN, RelevanceConfig(weights={"bm25": 4.0}))
    assert [entry.id for entry in plain] == ["a", "b", "c"]
    assert all("needed" not in entry.features and not entry.needed_by for entry in plain)
    facts = NOTHING_KNOWN.__class__(
        cosines={}, degrees={}, neighbours={}, needs={"a": {"c": 1.0}, "gone": {"c": 1.0}}
    )
    first, second, third = rank_by_relevance(
        "ferry", all_, facts, RelevanceConfig(weights={"bm25": 4.0})
    )
    assert [first.id, second.id, third.id] == ["a", "c", "b"]
    assert (first.needed_by, second.needed_by) == ({}, {"a": 1.0})
    assert first.score == 1.0
    assert second.score == pytest.approx(0.5 + math.exp(-4))
    assert second.features["needed"] == pytest.approx(0.5 / (0.5 + math.exp(-4)))
    for entry in (first, second, third):
        assert sum(entry.shares.values()) == pytest.approx(math.log(entry.score) + 4.0)


def test_edges_that_a_question_asks_for_are_wanted_as_they_were_followed() -> None:
    def hop(source: str, target: str, *tags: str) -> Hop:
        return Hop(
            source=source, target=target, relation="r", direction="in", weight=0.5, tags=tags,
            tag_similarity=1.0, degree=2, energy_in=1.0, energy_out=0.5,
        )  # fmt: skip

    path = Path(
        seed_id="film",
        hops=(hop("film", "director", "DIRECTED"), hop("director", "other", "ACTED_IN")),
        memories=(),
        end_reason="dead_end",
        energy=0.5,
    )
    assert followed([path], ["DIRECTED"]) == {"film": {"director": 1.0}}
    assert followed([path], []) == {}
