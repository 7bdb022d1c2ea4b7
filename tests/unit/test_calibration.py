"""From sums to probabilities: the terms by hand, the order, the file."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path as File

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.errors import ConfigError
from memoria.recall.context.config import ContextConfig
from memoria.recall.ranking import NOTHING_KNOWN, Facts, rank_by_relevance
from memoria.recall.ranking.calibration import (
    KEEP_ORDER,
    Calibration,
    answer_terms,
    evidence_terms,
    probabilities,
)
from memoria.recall.ranking.config import RelevanceConfig
from tests.unit.test_relevance import candidate

VALUES = {
    "coverage": np.array([0.5, 0.2, 0.3]),
    "margin": np.full(3, 0.4),
}
SUMS = np.array([2.0, 5.0, 5.0])


def test_terms_by_hand() -> None:
    asked, found = answer_terms(VALUES, SUMS), evidence_terms(SUMS)
    assert [*asked, *found] == list(asdict(Calibration()))
    assert {name: column.tolist() for name, column in asked.items()} == {
        "answer": [1.0],
        "answer_coverage": [0.5],
        "answer_margin": [0.4],
    }
    assert found["evidence"].tolist() == [1, 1, 1]
    assert found["evidence_distance"].tolist() == [-3, 0, 0]
    # Two stand before the first one; equal sums share the first place.
    place = -math.log(3) / math.log(101)
    assert found["evidence_place"].tolist() == [pytest.approx(place), 0, 0]


def test_coverage_is_that_of_the_first_three() -> None:
    values = {"margin": np.zeros(4), "coverage": np.array([0.1, 0.2, 0.3, 0.9])}
    terms = answer_terms(values, np.array([4.0, 3.0, 2.0, 1.0]))
    assert terms["answer_coverage"].tolist() == [0.3]


def test_probability_is_a_product_of_two() -> None:
    calibration = Calibration(
        answer=-1.0, answer_margin=2.5, answer_coverage=1.0, evidence=0.5, evidence_distance=0.5
    )
    answered = 1 / (1 + math.exp(-(-1 + 1 + 0.5)))
    evident = [1 / (1 + math.exp(-odds)) for odds in (0.5 - 1.5, 0.5, 0.5)]
    found = probabilities(VALUES, SUMS, calibration)
    assert found == pytest.approx([answered * each for each in evident])


@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=30), st.floats(0, 5), st.floats(0, 5))
def test_the_order_is_that_of_the_sums(sums: list[float], distance: float, place: float) -> None:
    values = {name: np.linspace(0, 1, len(sums)) for name in VALUES}
    calibration = Calibration(
        answer=-3.0, answer_margin=9.0, evidence_distance=distance, evidence_place=place
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
    facts = Facts(cosines={"a": 0.9, "b": 0.8, "c": 0.7}, degrees={}, neighbours={}, aside=0.6)
    plain = RelevanceConfig(weights={"bm25": 2.0})
    known = replace(plain, calibration=Calibration(answer_coverage=2.0, evidence_distance=1.0))
    ranked = rank_by_relevance("rain snow", all_, facts, plain)
    judged = rank_by_relevance("rain snow", all_, facts, known)
    assert {entry.relevance for entry in ranked} == {None}
    assert [replace(entry, relevance=None) for entry in judged] == list(ranked)
    relevance = [entry.relevance or 0.0 for entry in judged]
    assert relevance == sorted(relevance, reverse=True)
    assert relevance[0] == pytest.approx(1 / (1 + math.exp(-2)) / 2)  # it holds all words
    assert judged[0].features["margin"] == pytest.approx(0.9 - 0.6)
    for unknown in (NOTHING_KNOWN, replace(facts, aside=None), replace(facts, cosines={})):
        blind = rank_by_relevance("rain snow", all_, unknown, known)
        assert {entry.relevance for entry in blind} == {None}


def test_small_talk_is_less_relevant_the_nearer_it_is_to_examples() -> None:
    all_ = [candidate("a", "Thanks for the map of Oslo.")]
    facts = Facts(cosines={"a": 0.6}, degrees={}, neighbours={})
    found = [
        rank_by_relevance("thanks!", all_, replace(facts, aside=aside), RelevanceConfig.default())
        for aside in (0.3, 0.5, 0.9)
    ]
    far, near, same = (ranked[0].relevance or 0.0 for ranked in found)
    limit = ContextConfig().min_best_relevance
    assert far > near > limit > same


def test_a_calibration_survives_a_file_and_is_checked(tmp_path: File) -> None:
    file = tmp_path / "w.json"
    weights = RelevanceConfig(
        weights={"bm25": 1.0}, calibration=Calibration(answer=-2.0, evidence_place=1.5)
    )
    weights.save(file)
    assert RelevanceConfig.load(file) == weights
    for wrong in ([], {"charm": 1}, {"evidence_place": -1}, {"evidence_place": "1"}):
        file.write_text(json.dumps({"bm25": 1, "calibration": wrong}))
        with pytest.raises(ConfigError, match=r"calibration|place"):
            RelevanceConfig.load(file)
    with pytest.raises(ConfigError, match="must be a Calibration"):
        RelevanceConfig(weights={"bm25": 1.0}, calibration={"answer": 1.0})  # type: ignore[arg-type]
