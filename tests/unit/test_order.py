"""What stands beside likely memories rises with them: by hand, then for any row of turns."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.ranking import NOTHING_KNOWN, rank_by_relevance, with_beside
from memoria.ranking.config import RelevanceConfig
from memoria.ranking.order import beside_of
from tests.unit.test_relevance import candidate

TURNS = {id_: f"pier {id_} three words" for id_ in "abcdef"}
ROW = {one: other for one, other in zip("abcdef", ["b", "ac", "bd", "ce", "df", "e"], strict=True)}


def test_a_turn_gets_a_tenth_from_the_next_ones_and_a_twentieth_from_those_after_them() -> None:
    assert beside_of(TURNS, ROW)["a"] == {"b": 0.1, "c": 0.05}
    assert beside_of(TURNS, ROW)["c"] == {"b": 0.1, "d": 0.1, "a": 0.05, "e": 0.05}


def test_in_a_ring_of_three_everyone_stands_right_beside_everyone() -> None:
    ring = beside_of(TURNS, {"a": "bc", "b": "ac", "c": "ab"})
    assert ring["a"] == {"b": 0.1, "c": 0.1}


def test_what_was_not_found_stands_beside_nothing_and_leads_nowhere() -> None:
    found = beside_of({id_: TURNS[id_] for id_ in "acf"}, ROW)
    assert found == {}


def test_courtesies_get_nothing_and_lead_on() -> None:
    texts = {**TURNS, "b": "Thanks, that helps!", "c": "Great plan!"}
    found = beside_of(texts, ROW)
    assert "b" not in found
    assert found["a"] == {"b": 0.1, "c": 0.05}
    assert found["c"]["d"] == 0.05, "half of its words say something"


def test_the_most_that_one_hands_on_is_added_to_the_odds() -> None:
    sums = np.log([8.0, 1.0, 20.0])
    shares = {"b": {"a": 0.1, "c": 0.05}, "a": {"c": 0.1}}
    assert np.exp(with_beside(sums, "abc", shares)).tolist() == pytest.approx([10.0, 2.0, 20.0])


def test_where_nothing_has_an_order_the_sums_stay_to_the_last_bit() -> None:
    sums = np.array([0.1, 0.7])
    assert with_beside(sums, "ab", {}) is sums


@given(st.lists(st.floats(-50, 50), min_size=6, max_size=6))
def test_nothing_falls_and_nothing_passes_the_best_of_those_beside_it(
    given_sums: list[float],
) -> None:
    ids, shares = [*TURNS], beside_of(TURNS, ROW)
    found = dict(zip(ids, with_beside(np.array(given_sums), ids, shares).tolist(), strict=True))
    own = dict(zip(ids, given_sums, strict=True))
    for id_ in ids:
        handed = max(own[other] + math.log(share) for other, share in shares[id_].items())
        assert found[id_] >= own[id_]
        assert found[id_] <= max(own[id_], handed) + math.log(2) + 1e-9


def test_a_ranking_says_what_a_turn_got_and_from_whom() -> None:
    texts = {"a": "the ferry pier", "b": "he left on the Tuesday tide", "c": "other words here"}
    all_ = [candidate(id_, text) for id_, text in texts.items()]
    facts = replace(NOTHING_KNOWN, beside={"a": ["b"], "b": ["a"]})
    first, second, third = rank_by_relevance("ferry", all_, facts, RelevanceConfig(bm25=4.0))
    assert [first.id, second.id, third.id] == ["a", "b", "c"]
    assert (second.beside, third.beside) == ({"a": 0.1}, {})
    assert second.features["beside"] == pytest.approx(0.1 / (0.1 + math.exp(-4)), rel=0.01)
    for entry in (first, second, third):
        assert sum(entry.shares.values()) == pytest.approx(
            math.log(entry.score) + math.log(math.exp(4) + 0.1)
        )
