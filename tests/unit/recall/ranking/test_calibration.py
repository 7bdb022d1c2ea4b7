"""From sums to probabilities: the terms by hand, the order, the file."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path as File
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.errors import ConfigError
from memoria.recall.context.config import ContextConfig
from memoria.recall.ranking import (
    DEFAULT_SPREAD,
    NOTHING_KNOWN,
    Facts,
    Likeness,
    rank_by_relevance,
)
from memoria.recall.ranking.calibration import (
    KEEP_ORDER,
    Calibration,
    answer_terms,
    asks_terms,
    evidence_terms,
    probabilities,
)
from memoria.recall.ranking.config import RelevanceConfig
from tests.unit.recall.ranking.test_relevance import candidate

VALUES = {
    "coverage": np.array([0.5, 0.2, 0.3]),
    "cosine_rise": np.array([0.1, 0.6, 0.0]),
    "margin": np.full(3, 0.4),
    "leaning": np.full(3, -0.2),
    "above_small_talk": np.full(3, 0.3),
}
SUMS = np.array([2.0, 5.0, 5.0])


def test_terms_by_hand() -> None:
    asked, answered = asks_terms(VALUES), answer_terms(VALUES, SUMS)
    found = evidence_terms(SUMS)
    assert [*asked, *answered, *found] == list(asdict(Calibration()))
    assert {name: column.tolist() for name, column in {**asked, **answered}.items()} == {
        "asks": [1.0],
        "asks_margin": [0.4],
        "asks_leaning": [-0.2],
        "answer": [1.0],
        "answer_coverage": [0.5],
        "answer_rise": [0.6],
    }
    assert found["evidence"].tolist() == [1, 1, 1]
    assert found["evidence_distance"].tolist() == [-3, 0, 0]
    # Two stand before the first one; equal sums share the first place.
    place = -math.log(3) / math.log(101)
    assert found["evidence_place"].tolist() == [pytest.approx(place), 0, 0]


def test_coverage_is_that_of_the_first_three() -> None:
    values = {
        "cosine_rise": np.zeros(4),
        "coverage": np.array([0.1, 0.2, 0.3, 0.9]),
        "margin": np.zeros(4),
        "above_small_talk": np.zeros(4),
    }
    terms = answer_terms(values, np.array([4.0, 3.0, 2.0, 1.0]))
    assert terms["answer_coverage"].tolist() == [0.3]


@pytest.mark.parametrize(("count", "rise"), [(1, 0.4), (20, 0.4), (21, 0.1)])
@pytest.mark.parametrize(("margin", "above"), [(0.4, 0.2), (0.2, 0.4)])
def test_few_candidates_rise_above_small_talk_because_there_is_no_crowd(
    count: int, rise: float, margin: float, above: float
) -> None:
    values = {
        "cosine_rise": np.full(count, 0.1),
        "coverage": np.zeros(count),
        "margin": np.full(count, margin),
        "above_small_talk": np.full(count, above),
    }
    assert answer_terms(values, np.zeros(count))["answer_rise"].tolist() == [rise]


def test_the_only_memory_of_a_scope_answers_in_other_words() -> None:
    like = Likeness(aside=0.58, leaning=0.58, spread=0.49, unrelated=0.58)
    facts = Facts(cosines={"a": 0.7}, degrees={}, neighbours={}, like=like)
    only = [candidate("a", "My sister moved to Oslo.")]
    [ranked] = rank_by_relevance(
        "Which city is home to my sibling?", only, facts, RelevanceConfig.default()
    )
    assert ranked.relevance is not None
    assert ranked.relevance > ContextConfig().min_best_relevance
    [foreign] = rank_by_relevance(
        "Who wrote Hamlet?", only, replace(facts, cosines={"a": 0.5}), RelevanceConfig.default()
    )
    assert foreign.relevance is not None
    assert foreign.relevance < ContextConfig().min_best_relevance


def test_probability_is_a_product_of_three() -> None:
    calibration = Calibration(
        asks=1.0,
        asks_margin=2.5,
        asks_leaning=5.0,
        answer=-1.0,
        answer_coverage=1.0,
        answer_rise=2.0,
        evidence=0.5,
        evidence_distance=0.5,
    )
    asked = 1 / (1 + math.exp(-(1 + 1 - 1)))
    answered = 1 / (1 + math.exp(-(-1 + 0.5 + 1.2)))
    evident = [1 / (1 + math.exp(-odds)) for odds in (0.5 - 1.5, 0.5, 0.5)]
    found = probabilities(VALUES, SUMS, calibration)
    assert found == pytest.approx([asked * answered * each for each in evident])


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=30), st.floats(0, 5), st.floats(0, 5))
def test_the_order_is_that_of_the_sums(sums: list[float], distance: float, place: float) -> None:
    values = {name: np.linspace(0, 1, len(sums)) for name in VALUES}
    calibration = Calibration(
        asks=-3.0, asks_margin=9.0, evidence_distance=distance, evidence_place=place
    )
    found = probabilities(values, np.array(sums), calibration)
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found[np.argsort(sums)]) >= 0).all()


@pytest.mark.parametrize("name", KEEP_ORDER)
def test_a_weight_that_would_turn_the_order_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} must be"):
        Calibration(**{name: -0.1})


def test_a_recall_has_relevance_only_with_a_calibration_and_vectors() -> None:
    all_ = [candidate("a", "rain"), candidate("b", "rain snow"), candidate("c", "")]
    like = Likeness(aside=0.6, leaning=0.5, spread=0.5, unrelated=0.4)
    facts = Facts(cosines={"a": 0.9, "b": 0.8, "c": 0.7}, degrees={}, neighbours={}, like=like)
    plain = RelevanceConfig(weights={"bm25": 2.0})
    known = replace(plain, calibration=Calibration(answer_coverage=2.0, evidence_distance=1.0))
    ranked = rank_by_relevance("rain snow", all_, facts, plain)
    judged = rank_by_relevance("rain snow", all_, facts, known)
    assert {entry.relevance for entry in ranked} == {None}
    assert [replace(entry, relevance=None) for entry in judged] == list(ranked)
    relevance = [entry.relevance or 0.0 for entry in judged]
    assert relevance == sorted(relevance, reverse=True)
    assert relevance[0] == pytest.approx(1 / (1 + math.exp(-2)) / 4)  # it holds all words
    assert judged[0].features["margin"] == pytest.approx((0.9 - 0.6) / 0.5)
    assert judged[0].features["above_small_talk"] == pytest.approx((0.9 - 0.4) / 0.6)
    assert judged[0].features["leaning"] == pytest.approx((0.5 - 0.6) / 0.5)
    for unknown in (NOTHING_KNOWN, replace(facts, like=None), replace(facts, cosines={})):
        blind = rank_by_relevance("rain snow", all_, unknown, known)
        assert {entry.relevance for entry in blind} == {None}


def relevance_with(*likes: Likeness) -> list[float]:
    """Relevance of the one of two memories that a message is near to, by the default weights."""
    all_ = [candidate("a", "Thanks for the map of Oslo."), candidate("b", "It rains.")]
    facts = Facts(cosines={"a": 0.8, "b": 0.5}, degrees={}, neighbours={})
    config = RelevanceConfig.default()
    found = [rank_by_relevance("thanks!", all_, replace(facts, like=one), config) for one in likes]
    return [ranked[0].relevance or 0.0 for ranked in found]


def test_small_talk_is_less_relevant_the_nearer_it_is_to_examples() -> None:
    likes = (
        Likeness(aside=aside, leaning=0.5, spread=0.5, unrelated=aside) for aside in (0.5, 0.6, 0.9)
    )
    far, near, same = relevance_with(*likes)
    limit = ContextConfig().min_best_relevance
    assert far > near > limit > same


def test_a_command_is_more_relevant_the_nearer_it_is_to_requests_that_need_a_memory() -> None:
    likes = (
        Likeness(aside=0.8, leaning=leaning, spread=0.5, unrelated=0.8)
        for leaning in (0.6, 0.75, 0.9)
    )
    far, near, same = relevance_with(*likes)
    limit = ContextConfig().min_best_relevance
    assert far < limit < near < same


@pytest.mark.parametrize("share", [0.3, 1.8])
def test_an_embedder_with_vectors_closer_together_or_farther_apart_ranks_the_same(
    share: float,
) -> None:
    cosines = {"a": 0.8, "b": 0.75, "c": 0.5, "d": 0.45}
    all_ = [candidate(id_, f"{id_} rain") for id_ in cosines]
    neighbours = {"a": [("c", 0.9, True)], "b": [("d", 0.7, False)]}
    like = Likeness(aside=0.55, leaning=0.6, spread=DEFAULT_SPREAD, unrelated=0.55)
    usual = Facts(cosines=cosines, degrees={}, neighbours=neighbours, like=like)
    other = replace(
        usual,
        cosines={id_: 1 - share * (1 - cosine) for id_, cosine in cosines.items()},
        like=Likeness(
            aside=1 - share * (1 - like.aside),
            leaning=1 - share * (1 - like.leaning),
            spread=share * like.spread,
            unrelated=1 - share * (1 - like.unrelated),
        ),
    )
    expected, found = (
        rank_by_relevance("snow or rain", all_, facts, RelevanceConfig.default())
        for facts in (usual, other)
    )
    assert [one.id for one in found] == [one.id for one in expected]
    for one, same in zip(found, expected, strict=True):
        assert one.features == pytest.approx(same.features)
        assert one.relevance == pytest.approx(same.relevance)


def test_a_calibration_survives_a_file_and_is_checked(tmp_path: File) -> None:
    file = tmp_path / "w.json"
    weights = RelevanceConfig(
        weights={"bm25": 1.0}, calibration=Calibration(answer=-2.0, evidence_place=1.5)
    )
    weights.save(file)
    assert RelevanceConfig.load(file) == weights
    wrongs: tuple[Any, ...] = (
        [],
        {"charm": 1},
        {"evidence_place": -1},
        {"evidence_place": "1"},
    )
    for wrong in wrongs:
        file.write_text(json.dumps({"bm25": 1, "calibration": wrong}))
        with pytest.raises(ConfigError, match=r"calibration|place"):
            RelevanceConfig.load(file)
    with pytest.raises(ConfigError, match="must be a Calibration"):
        RelevanceConfig(weights={"bm25": 1.0}, calibration={"answer": 1.0})  # type: ignore[arg-type]
