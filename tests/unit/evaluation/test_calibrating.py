"""Fitting a calibration: the loss and its slopes, shares that come out right, foreign questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.evaluation import Dataset, EvaluationConfig, Question, foreign_questions
from memoria.evaluation.calibrating import (
    Judged,
    LogLoss,
    area_under_curve,
    calibration_error,
    fit_terms,
)
from memoria.recall.asides import examples
from tests.unit.evaluation.test_evaluation import dataset

STEP = 1e-6
FREE = np.zeros(2)
NAMES = ("constant", "slope")


def made_up(count: int, weights: list[float], seed: int = 0) -> list[Judged]:
    """Questions of 8 candidates each, evidence with the odds that the weights give."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        terms = np.column_stack([np.ones(8), rng.random(8)])
        share = 1 / (1 + np.exp(-(terms @ np.array(weights))))
        found.append(Judged(names=NAMES, terms=terms, gold=rng.random(8) < share))
    return found


def test_loss_by_hand() -> None:
    # Odds of 3 to 1 for both candidates, of which one is evidence: 3/4 and 1/4 are what happened.
    one = Judged(names=NAMES[:1], terms=np.ones((2, 1)), gold=np.array([True, False]))
    loss = LogLoss([[one]], l2=0.2)
    weight = np.log(3)
    expected = (np.log(4 / 3) + np.log(4)) / 2 + 0.1 * weight**2
    assert loss.value(np.array([weight])) == pytest.approx(expected)


@given(st.integers(0, 1_000), st.lists(st.floats(-5, 5), min_size=2, max_size=2))
def test_slopes_are_those_of_the_loss(seed: int, at: list[float]) -> None:
    loss = LogLoss([made_up(5, [1.0, -2.0], seed), made_up(3, [0.0, 1.0], seed)])
    gradient, curvature = loss.slopes(np.array(at))
    for place in range(2):
        step = np.zeros(2)
        step[place] = STEP
        up, down = np.array(at) + step, np.array(at) - step
        difference = (loss.value(up) - loss.value(down)) / (2 * STEP)
        assert gradient[place] == pytest.approx(difference, abs=1e-7)
        bends = (loss.slopes(up)[0] - loss.slopes(down)[0]) / (2 * STEP)
        assert curvature[place] == pytest.approx(bends, abs=1e-7)


def test_planted_odds_are_recovered_and_true() -> None:
    planted = [-2.0, 3.0]
    questions = made_up(4_000, planted)
    weights = fit_terms([questions], FREE)
    assert weights == pytest.approx(planted, abs=0.2)
    probabilities = np.concatenate([1 / (1 + np.exp(-(q.terms @ weights))) for q in questions])
    assert calibration_error(probabilities, np.concatenate([q.gold for q in questions])) < 0.02


def test_a_weight_stays_on_its_side() -> None:
    assert fit_terms([made_up(500, [0.0, -2.0])], np.array([0.0, 1.0]))[1] == 0.0


def test_each_set_and_each_question_counts_the_same() -> None:
    one, other = made_up(40, [2.0, -1.0]), made_up(20, [-1.0, 3.0], seed=1)
    expected = fit_terms([one, other], FREE)
    assert fit_terms([one * 3, other], FREE) == pytest.approx(expected, abs=1e-6)
    twice = [
        Judged(names=NAMES, terms=np.repeat(q.terms, 2, axis=0), gold=np.repeat(q.gold, 2))
        for q in one[:20]
    ]
    assert fit_terms([[*twice, *one[20:]], other], FREE) == pytest.approx(expected, abs=1e-6)


def test_a_question_that_found_nothing_is_left_out() -> None:
    nothing = Judged(names=NAMES, terms=np.empty((0, 2)), gold=np.zeros(0, dtype=bool))
    examples = made_up(40, [2.0, -1.0])
    fitted = fit_terms([[nothing, *examples]], FREE, l2=0.0)
    assert fitted == pytest.approx(fit_terms([examples], FREE, l2=0.0), abs=1e-6)


def test_error_is_the_distance_of_probability_and_share_in_each_bin() -> None:
    # 0.1 for four of which two are evidence: off by 0.4; 1.0 for one that is: off by 0.
    found = np.array([0.1, 0.1, 0.1, 0.1, 1.0])
    gold = np.array([True, True, False, False, True])
    assert calibration_error(found, gold) == pytest.approx(0.8 * 0.4)
    # What is too high in one bin does not mend what is too low in another.
    assert calibration_error(np.array([0.25, 0.75]), np.array([True, False])) == 0.75
    assert calibration_error(np.zeros(0), np.zeros(0, dtype=bool)) == 0.0


def test_values_that_all_are_above_the_others_separate() -> None:
    assert area_under_curve(np.array([0.9, 0.8]), np.array([0.1, 0.2, 0.3])) == 1.0
    assert area_under_curve(np.array([0.5]), np.array([0.5])) == 0.5


def in_scope(scope: str, categories: str) -> Dataset:
    found = dataset(*categories)
    questions = tuple(replace(question, scope=scope) for question in found.questions)
    return replace(found, memories={scope: ()}, questions=questions)


def small_talk(questions: Sequence[Question]) -> list[Question]:
    return [one for one in questions if one.text in examples()]


def test_foreign_questions_are_those_of_the_other_sets_and_small_talk() -> None:
    one, other, third = in_scope("a", "xxxx"), in_scope("b", "yyyyyy"), in_scope("c", "zz")
    found = foreign_questions([one, other, third], EvaluationConfig())
    assert [len(questions) for questions in found] == [4, 6, 2]
    assert [len(small_talk(questions)) for questions in found] == [2, 3, 1]
    for given_, questions in zip((one, other, third), found, strict=True):
        own = {question.category for question in given_.questions}
        for question in questions:
            assert question.category not in own
            assert question.gold == ()
            assert question.scope in given_.memories
    assert [question.category for question in found[1]] == ["x", "z", "x", *["small talk"] * 3]


def test_a_single_set_asks_the_questions_of_its_other_scopes() -> None:
    found = replace(in_scope("a", "xxxx"), memories={"a": (), "b": ()})
    [questions] = foreign_questions([found], EvaluationConfig())
    assert [question.scope for question in questions] == ["b", "b", "a", "b"]


def test_a_single_set_of_one_scope_has_only_small_talk() -> None:
    [questions] = foreign_questions([dataset(*"x" * 2_000)], EvaluationConfig())
    assert [question.text for question in questions] == list(examples()), "each once"
