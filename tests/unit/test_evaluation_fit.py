"""Fitting weights: the loss and its slopes, known weights, what can't be fitted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.errors import InvalidInputError
from memoria.evaluation import Example, Loss, fit_weights

STEP = 1e-6
NONE = np.zeros(0, dtype=bool)


def example(rows: list[list[float]], *gold: int) -> Example:
    chosen = [place in gold for place in range(len(rows))]
    return Example(features=np.array(rows, dtype=float), gold=np.array(chosen))


def made_up(count: int, weights: list[float], seed: int = 0, golds: int = 1) -> list[Example]:
    """Questions of 8 candidates each, the gold drawn by the odds that the weights give."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        features = rng.random((8, len(weights)))
        odds = np.exp(features @ np.array(weights))
        gold = rng.choice(8, size=golds, replace=False, p=odds / odds.sum())
        found.append(example(features.tolist(), *gold))
    return found


def test_loss_by_hand() -> None:
    # Scores 0 and ln 3: shares 1/4 and 3/4. Of the second question both are gold: half each.
    sets = [[example([[0.0], [1.0]], 1)], [example([[0.0], [1.0]], 0, 1)]]
    weight = np.log(3)
    shares = 0.5 * np.log(4 / 3) + 0.5 * 0.5 * (np.log(4) + np.log(4 / 3))
    assert Loss(sets, l2=0.0).value(np.array([weight])) == pytest.approx(shares)
    assert Loss(sets, l2=0.2).value(np.array([weight])) == pytest.approx(shares + 0.1 * weight**2)


@given(st.integers(0, 1_000), st.lists(st.floats(-5, 5), min_size=3, max_size=3))
def test_slopes_are_those_of_the_loss(seed: int, at: list[float]) -> None:
    loss = Loss([made_up(5, [1.0, 0.0, -2.0], seed, golds=2), made_up(3, [0.0, 1.0, 0.0], seed)])
    gradient, curvature = loss.slopes(np.array(at))
    for place in range(3):
        step = np.zeros(3)
        step[place] = STEP
        up, down = np.array(at) + step, np.array(at) - step
        assert gradient[place] == pytest.approx(
            (loss.value(up) - loss.value(down)) / (2 * STEP), abs=1e-7
        )
        difference = (loss.slopes(up)[0] - loss.slopes(down)[0]) / (2 * STEP)
        assert curvature[place] == pytest.approx(difference, abs=1e-7)


def test_a_weight_stays_on_its_side_and_the_others_are_the_best_beside_it() -> None:
    sets = [made_up(500, [3.0, -2.0, 1.0])]
    signs = np.array([1.0, 1.0, 0.0])
    bounded = fit_weights(sets, signs=signs)
    assert bounded[1] == 0.0
    gradient, _ = Loss(sets).slopes(bounded)
    assert gradient[[0, 2]] == pytest.approx(0.0, abs=1e-6)
    assert gradient[1] > 0, "only a weight below 0 would lower the loss"


def test_planted_weights_are_recovered() -> None:
    planted = [3.0, -2.0, 0.0]
    assert fit_weights([made_up(5_000, planted)]) == pytest.approx(planted, abs=0.15)


def test_the_fit_is_the_minimum() -> None:
    sets = [made_up(50, [4.0, -1.0], golds=3)]
    gradient, _ = Loss(sets).slopes(fit_weights(sets))
    assert np.abs(gradient).max() < 1e-6


def test_what_all_candidates_of_a_question_share_changes_nothing() -> None:
    sets = [made_up(40, [2.0, -1.0])]
    shifted = [
        [
            Example(features=each.features + np.array([place, -1.0]), gold=each.gold)
            for place, each in enumerate(sets[0])
        ]
    ]
    assert fit_weights(shifted) == pytest.approx(fit_weights(sets), abs=1e-6)


def test_the_order_of_questions_and_candidates_changes_nothing() -> None:
    examples = made_up(40, [2.0, -1.0], golds=2)
    turned = [Example(features=e.features[::-1], gold=e.gold[::-1]) for e in examples[::-1]]
    assert fit_weights([turned]) == pytest.approx(fit_weights([examples]), abs=1e-9)


def test_each_set_counts_the_same_however_many_questions_it_has() -> None:
    one, other = made_up(40, [2.0, -1.0]), made_up(20, [-1.0, 3.0], seed=1)
    expected = fit_weights([one, other])
    assert fit_weights([one * 3, other]) == pytest.approx(expected, abs=1e-6)
    assert fit_weights([one + other]) != pytest.approx(expected, abs=0.1)


def test_a_question_without_gold_is_left_out() -> None:
    examples = made_up(40, [2.0, -1.0])
    missed = [example([[1.0, 0.0], [0.0, 1.0]]), Example(features=np.empty((0, 2)), gold=NONE)]
    fitted = fit_weights([[*missed, *examples]], l2=0.0)
    assert fitted == pytest.approx(fit_weights([examples], l2=0.0), abs=1e-6)


@pytest.mark.parametrize(
    "rows",
    [
        [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]],  # constant
        [[0.3, 0.9]],  # one candidate
    ],
)
def test_features_that_tell_nothing_weigh_nothing(rows: list[list[float]]) -> None:
    assert fit_weights([[example(rows, 0)]]) == pytest.approx([0.0, 0.0], abs=1e-12)


def test_a_feature_that_always_tells_stays_finite() -> None:
    [weight] = fit_weights([[example([[1.0], [0.0]], 0)]])
    assert 3 < weight < 10


@pytest.mark.parametrize("sets", [[], [[]], [[example([[1.0], [0.0]])], [example([[1.0]])]]])
def test_without_any_gold_there_is_nothing_to_fit(sets: list[list[Example]]) -> None:
    with pytest.raises(InvalidInputError, match="evidence found, so there is nothing to fit"):
        fit_weights(sets)
