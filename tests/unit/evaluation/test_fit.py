"""Fitting weights: the loss and its slopes, known weights, what can't be fitted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoria.errors import InvalidInputError
from memoria.evaluation import Example, Loss, Regret, fit_weights
from memoria.evaluation.fit import Convex

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
    examples = [example([[0.0], [1.0]], 1), example([[0.0], [1.0]], 0, 1)]
    weight = np.log(3)
    shares = 0.5 * np.log(4 / 3) + 0.5 * 0.5 * (np.log(4) + np.log(4 / 3))
    assert Loss(examples, l2=0.0).value(np.array([weight])) == pytest.approx(shares)
    penalised = Loss(examples, l2=0.2).value(np.array([weight]))
    assert penalised == pytest.approx(shares + 0.1 * weight**2)


def test_regret_by_hand() -> None:
    # Alone, each set is fitted best by ln 3 and 0: three of four are told, and one of two.
    told, missed = example([[1.0], [0.0]], 0), example([[1.0], [0.0]], 1)
    losses = [Loss([told] * 3 + [missed], l2=0.0), Loss([told, missed], l2=0.0)]
    regret = Regret(losses, np.zeros(1))
    least = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert regret.value(np.zeros(1)) == pytest.approx((np.log(2) - least) ** 2)
    other = -0.5 * (np.log(0.75) + np.log(0.25)) - np.log(2)
    assert regret.value(np.array([np.log(3)])) == pytest.approx(other**2)


def losses(seed: int) -> list[Loss]:
    one = made_up(5, [1.0, 0.0, -2.0], seed, golds=2)
    return [Loss(one), Loss(made_up(3, [0.0, 1.0, 0.0], seed))]


@pytest.mark.parametrize(
    "made",
    [lambda seed: losses(seed)[0], lambda seed: Regret(losses(seed), np.zeros(3))],
    ids=["loss", "regret"],
)
@given(seed=st.integers(0, 1_000), at=st.lists(st.floats(-5, 5), min_size=3, max_size=3))
def test_slopes_are_those_of_the_value(
    made: Callable[[int], Convex], seed: int, at: list[float]
) -> None:
    function = made(seed)
    gradient, curvature = function.slopes(np.array(at))
    size = 1 + np.abs(curvature).max()
    for place in range(3):
        step = np.zeros(3)
        step[place] = STEP
        up, down = np.array(at) + step, np.array(at) - step
        difference = (function.value(up) - function.value(down)) / (2 * STEP)
        assert gradient[place] == pytest.approx(difference, abs=1e-7 * size)
        turn = (function.slopes(up)[0] - function.slopes(down)[0]) / (2 * STEP)
        assert curvature[place] == pytest.approx(turn, abs=1e-7 * size)


def test_a_weight_stays_on_its_side_and_the_others_are_the_best_beside_it() -> None:
    sets = [made_up(500, [3.0, -2.0, 1.0])]
    signs = np.array([1.0, 1.0, 0.0])
    bounded = fit_weights(sets, signs=signs)
    assert bounded[1] == 0.0
    gradient, _ = Loss(sets[0]).slopes(bounded)
    assert gradient[[0, 2]] == pytest.approx(0.0, abs=1e-6)
    assert gradient[1] > 0, "only a weight below 0 would lower the loss"


def test_planted_weights_are_recovered() -> None:
    planted = [3.0, -2.0, 0.0]
    assert fit_weights([made_up(5_000, planted)]) == pytest.approx(planted, abs=0.15)


def test_the_fit_is_the_minimum() -> None:
    sets = [made_up(50, [4.0, -1.0], golds=3)]
    gradient, _ = Loss(sets[0]).slopes(fit_weights(sets))
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


def test_the_set_that_is_alone_of_its_kind_is_not_outvoted() -> None:
    alone = made_up(200, [4.0, 0.0])
    others = [made_up(200, [0.0, 4.0], seed) for seed in (1, 2, 3)]
    loss = Loss(alone)
    least = loss.value(fit_weights([alone]))
    outvoted = loss.value(fit_weights([sum(others, alone)])) - least  # by the mean of the losses
    assert 0 < loss.value(fit_weights([alone, *others])) - least < 0.7 * outvoted


def test_sets_that_agree_are_fitted_like_one() -> None:
    examples = made_up(40, [2.0, -1.0, 0.5])
    assert fit_weights([examples] * 3) == pytest.approx(fit_weights([examples]), abs=0.01)


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
    one_set = [example(rows, 0)]
    for sets in ([one_set], [one_set, one_set]):
        assert fit_weights(sets) == pytest.approx([0.0, 0.0], abs=1e-12)


def test_without_a_pull_towards_0_each_feature_must_tell_something_in_each_set() -> None:
    both, one = made_up(40, [2.0, -1.0]), made_up(40, [2.0])
    blind = [
        example([[*row, 0.0] for row in e.features.tolist()], *e.gold.nonzero()[0]) for e in one
    ]
    with pytest.raises(InvalidInputError, match="l2 must be > 0"):
        fit_weights([both, blind], l2=0.0)


def test_a_feature_that_always_tells_stays_finite() -> None:
    [weight] = fit_weights([[example([[1.0], [0.0]], 0)]])
    assert 3 < weight < 10


@pytest.mark.parametrize("sets", [[], [[]], [[example([[1.0], [0.0]])], [example([[1.0]])]]])
def test_without_any_gold_there_is_nothing_to_fit(sets: list[list[Example]]) -> None:
    with pytest.raises(InvalidInputError, match="evidence found, so there is nothing to fit"):
        fit_weights(sets)
    for examples in sets:
        with pytest.raises(InvalidInputError, match=f"none of {len(examples)} questions"):
            Loss(examples)
