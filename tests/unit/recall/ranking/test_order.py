"""Memories adjacent to likely memories rise with them: by hand, then for any row of turns."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.recall.ranking import NOTHING_KNOWN, rank_by_relevance, with_adjacent
from memoria.recall.ranking.config import RelevanceConfig
from memoria.recall.ranking.order import adjacent_of
from tests.unit.recall.ranking.test_relevance import candidate

TURNS = {id_: f"pier {id_} three words" for id_ in "abcdef"}
ROW = dict(zip("abcdef", ["b", "ac", "bd", "ce", "df", "e"], strict=True))


def test_a_turn_stands_beside_those_at_most_two_places_away() -> None:
    assert adjacent_of(TURNS, ROW)["a"] == ("b", "c")
    assert adjacent_of(TURNS, ROW)["c"] == ("a", "b", "d", "e")


def test_in_a_ring_of_three_nobody_stands_beside_itself() -> None:
    assert adjacent_of(TURNS, {"a": "bc", "b": "ac", "c": "ab"})["a"] == ("b", "c")


def test_those_who_answer_one_message_do_not_stand_beside_each_other() -> None:
    thread = {"a": "bcd", "d": "e"}
    found = adjacent_of(TURNS, thread)
    assert found == {"b": ("a",), "c": ("a",), "d": ("a", "e"), "e": ("a", "d")}


def test_a_pair_may_be_named_from_one_end() -> None:
    assert adjacent_of(TURNS, {"b": "ac"}) == {"a": ("b", "c"), "b": ("a", "c"), "c": ("a", "b")}


def test_what_was_not_found_stands_beside_nothing_and_leads_nowhere() -> None:
    assert adjacent_of({id_: TURNS[id_] for id_ in "acf"}, ROW) == {}


def test_courtesies_get_nothing_and_lead_on() -> None:
    found = adjacent_of({**TURNS, "b": "Thanks, that helps!"}, ROW)
    assert "b" not in found
    assert found["a"] == ("b", "c")


def test_a_share_of_the_odds_of_the_second_best_is_added() -> None:
    sums = np.log([8.0, 1.0, 20.0, 2.0])
    beside = {"a": ("b", "c"), "b": ("a", "c", "d"), "c": ("a",)}
    found = np.exp(with_adjacent(sums, sums, "abcd", beside)).tolist()
    assert found == pytest.approx([8.0 + 0.35, 1.0 + 2.8, 20.0, 2.0]), "one alone is no run"


def test_what_was_taught_stays_with_its_memory() -> None:
    sums, by_query = np.log([80.0, 1.0, 20.0]), np.log([8.0, 1.0, 20.0])
    found = np.exp(with_adjacent(sums, by_query, "abc", {"b": ("a", "c")})).tolist()
    assert found == pytest.approx([80.0, 1.0 + 2.8, 20.0])


def test_where_nothing_has_an_order_the_sums_stay_to_the_last_bit() -> None:
    sums = np.array([0.1, 0.7])
    assert with_adjacent(sums, sums, "ab", {}) is sums
    assert with_adjacent(sums, sums, "ab", {"a": ("b",)}).tolist() == sums.tolist()


@given(st.lists(st.floats(-50, 50), min_size=6, max_size=6))
def test_nothing_falls_and_who_has_less_gets_more_beside_the_same(given_sums: list[float]) -> None:
    ids, beside = [*TURNS], adjacent_of(TURNS, ROW)
    sums = np.array(given_sums)
    found = with_adjacent(sums, sums, ids, beside)
    assert (found >= sums).all()
    own = dict(zip(ids, given_sums, strict=True))
    for id_, sum_ in zip(ids, found.tolist(), strict=True):
        _, second, *_ = sorted((own[other] for other in beside[id_]), reverse=True)
        assert math.exp(sum_) == pytest.approx(math.exp(own[id_]) + 0.35 * math.exp(second))


def test_a_ranking_says_what_a_turn_got_and_from_whom() -> None:
    texts = {"a": "the ferry pier", "b": "he left on the Tuesday tide", "c": "ferry rope, oil"}
    all_ = [candidate(id_, text) for id_, text in {**texts, "d": "other words here"}.items()]
    facts = replace(NOTHING_KNOWN, adjacent={"a": ["b"], "b": ["a", "c"], "c": ["b"]})
    ranked = rank_by_relevance("ferry", all_, facts, RelevanceConfig(weights={"bm25": 4.0}))
    assert [entry.id for entry in ranked] == ["a", "c", "b", "d"]
    turn = ranked[2]
    assert turn.adjacent == ("a", "c")
    second = math.exp(ranked[1].shares["bm25"])
    assert turn.shares["adjacent"] == pytest.approx(math.log(1 + 0.35 * second))
    assert 0 < turn.features["adjacent"] < 1
    assert ranked[3].adjacent == ()
    distances = [sum(entry.shares.values()) - math.log(entry.score) for entry in ranked]
    assert distances == pytest.approx([distances[0]] * 4)
