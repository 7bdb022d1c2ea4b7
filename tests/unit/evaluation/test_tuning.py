"""Cross-validated weights: who sees which question, figures by hand, what the user is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import typer

from memoria.cli.datasets import retriever_config
from memoria.cli.tune import _verdict
from memoria.errors import ConfigError, InvalidInputError
from memoria.evaluation import (
    Answer,
    Answers,
    EvaluationConfig,
    Interval,
    Question,
    TunedSet,
    TuneRow,
    check_folds,
    tune_weights,
    tuning,
)
from memoria.evaluation.foreign import SMALL_TALK
from memoria.recall.ranking.calibration import ABOVE, LEANING, MARGIN
from memoria.recall.ranking.config import FEATURES, RelevanceConfig
from tests.unit.evaluation.test_evaluation import dataset

IDS = ("a", "b", "c")
ALL = np.ones(len(FEATURES))


def answer(number: int, gold: str, *values: Sequence[float], before: str = "abc") -> Answer:
    """A question that found a, b and c; of each the value of the first feature, the second, ..."""
    features = np.zeros((len(IDS), len(FEATURES)))
    for column, of_each in enumerate(values):
        features[:, column] = of_each
    asked = Question(id=f"q{number}", text="?", gold=tuple(gold), category=None, scope="s")
    return Answer(question=asked, before=tuple(before), ids=IDS, features=features)


def answers(*given: Answer, name: str = "d") -> Answers:
    return Answers(dataset=name, split="dev", embedder=None, answers=given, notes={})


# The first feature points at the gold, which the order before has last.
TELLING = [answer(n, "c", (0.0, 0.0, 1.0)) for n in range(4)]
# Here it points away from it.
MISLEADING = [answer(n, "a", (0.0, 0.0, 1.0)) for n in range(4)]


def rows_of(each: TunedSet) -> dict[str, TuneRow]:
    return {row.name: row for row in each.rows}


def test_before_and_after_are_of_the_same_questions() -> None:
    found = tune_weights([answers(*TELLING)], ks=(1, 2), folds=2)
    [each] = found.sets
    assert (each.questions, each.fitted, each.found) == (4, 4, 1.0)
    rows = rows_of(each)
    assert list(rows) == ["before", "after"]
    assert {name: figure.mean for name, figure in rows["before"].figures.items()} == {
        "recall@1": 0.0,
        "recall@2": 0.0,
        "mean": 0.0,
    }
    assert {figure.mean for figure in rows["after"].gain.values()} == {1.0}
    assert each.gain == Interval(mean=1.0, low=1.0, high=1.0)
    weights = [*found.weights.weights.values()]
    assert weights[0] > 1
    assert weights[0] == round(weights[0], 3)
    assert set(weights[1:]) == {0.0}


def test_no_question_is_ranked_by_weights_that_saw_it() -> None:
    rng = np.random.default_rng(0)
    given = [answer(n, IDS[n % 3], *rng.random((4, 3))) for n in range(9)]
    held_out = tuning._held_out([given], 3, ALL)[0]
    for place, each in enumerate(given):
        for gold in IDS:  # whatever its own gold, its ranking stays
            changed = replace(each, question=replace(each.question, gold=(gold,)))
            again = tuning._held_out([[*given[:place], changed, *given[place + 1 :]]], 3, ALL)[0]
            assert again[place] == held_out[place]


def test_weights_of_other_sets_and_of_the_set_alone() -> None:
    found = tune_weights([answers(*TELLING), answers(*MISLEADING, name="e")], ks=(1,), folds=2)
    recall = [
        {name: row.figures["recall@1"].mean for name, row in rows_of(each).items()}
        for each in found.sets
    ]
    # The other set teaches the contrary; together they teach that the feature points at a or c.
    assert recall[0] | {"after": 0} == {"before": 0, "after": 0, "other sets": 0, "own set": 1}
    assert recall[1] | {"after": 0} == {"before": 1, "after": 0, "other sets": 0, "own set": 1}


def test_what_was_not_found_counts_against_the_recall_and_not_in_the_fit() -> None:
    missed = answer(4, "xy", (0.0, 0.0, 1.0))
    half = answer(5, "cy", (0.0, 0.0, 1.0))
    [each] = tune_weights([answers(*TELLING, missed, half)], ks=(1,), folds=2).sets
    assert (each.questions, each.fitted) == (6, 5)
    assert each.found == pytest.approx(4.5 / 6)
    assert rows_of(each)["after"].figures["recall@1"].mean == pytest.approx(4.5 / 6)


def test_ties_are_ranked_by_id() -> None:
    assert answer(0, "a").ranked(ALL) == IDS
    nothing = replace(answer(0, "a"), ids=(), features=np.empty((0, len(FEATURES))))
    assert nothing.ranked(ALL) == ()
    assert nothing.example(ALL).gold.tolist() == []


def test_what_evidence_needs_is_brought_by_it_and_teaches_no_weights() -> None:
    needing = replace(answer(0, "ac", (0.5, 0.25, 0.0)), needs={"a": {"c": 1.0}})
    assert needing.ranked(ALL) == ("c", "a", "b"), "to its own odds c gets half of those of a"
    example = needing.example(ALL)
    assert (example.features[:, 0].tolist(), example.gold.tolist()) == ([0.5, 0.25], [True, False])
    over_another = replace(needing, needs={"a": {"b": 1.0}, "b": {"c": 1.0}})
    assert over_another.example(ALL).gold.tolist() == [True]
    needless = replace(needing, needs={"b": {"c": 1.0}})
    assert needless.example(ALL).gold.tolist() == [True, False, True]


def test_a_feature_left_out_gets_no_weight_and_the_fit_goes_without_it() -> None:
    both = [answer(n, "c", (0.0, 0.0, 1.0), (0.0, 0.0, 1.0)) for n in range(4)]
    found = tune_weights([answers(*both)], ks=(1,), folds=2, without=[FEATURES[0]])
    assert found.weights.weights[FEATURES[0]] == 0.0
    assert found.weights.weights[FEATURES[1]] > 0.0
    assert found.sets[0].gain.mean == 1.0
    with pytest.raises(InvalidInputError, match="no feature distinguishes"):
        tune_weights([answers(*TELLING)], ks=(1,), folds=2, without=[FEATURES[0]])
    with pytest.raises(ConfigError, match=f"no feature 'charm'; there are: {FEATURES[0]}"):
        tune_weights([answers(*TELLING)], ks=(1,), folds=2, without=["charm"])


def test_an_ablation_shows_what_a_feature_is_worth() -> None:
    kept = FEATURES[:2]
    found = tune_weights([answers(*TELLING)], ks=(1,), folds=2, without=FEATURES[2:], ablation=True)
    recall = {name: row.figures["recall@1"].mean for name, row in rows_of(found.sets[0]).items()}
    assert recall == {"before": 0, "after": 1, f"without {kept[0]}": 0, f"without {kept[1]}": 1}


def test_a_match_never_speaks_against_a_memory_but_an_echo_may() -> None:
    # Both features point away from the gold.
    away = [answer(n, "a", (0.0, 0.5, 1.0)) for n in range(4)]
    for each in away:
        each.features[:, FEATURES.index("echo")] = (0.0, 1.0, 1.0)
    weights = tune_weights([answers(*away)], ks=(1,), folds=2).weights.weights
    assert weights[FEATURES[0]] == 0.0
    assert weights["echo"] < 0.0


def near(number: int, gold: str, margin: float, *, rise: float = 0.5) -> Answer:
    """A message of which c is the best match, more or less nearer than small talk."""
    found = replace(
        answer(number, gold, (0.0, 0.0, 1.0)), likeness={MARGIN: margin, LEANING: 0.0, ABOVE: 0.0}
    )
    found.features[:, FEATURES.index("cosine_rise")] = (0.0, 0.0, rise)
    return found


def small_talk(number: int, margin: float) -> Answer:
    """A message that asks for nothing."""
    found = near(number, "", margin)
    return replace(found, question=replace(found.question, category=SMALL_TALK))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("talks", [True, False])
def test_probabilities_learn_from_small_talk_and_foreign_questions(count: int, talks: bool) -> None:
    own = tuple(near(n, "c", 0.4) for n in range(8))
    foreign = tuple(small_talk(n, 0.1) if talks else near(n, "", 0.4, rise=0.1) for n in range(4))
    sets = [replace(answers(*own, name=f"d{n}"), foreign=foreign) for n in range(count)]
    found = tune_weights(sets, ks=(1,), folds=2)
    assert found.weights.calibration is not None
    learned = found.weights.calibration
    assert (learned.asks_margin if talks else learned.answer_rise) > 0
    for each in found.sets:
        assert each.calibration is not None
        assert (each.calibration.foreign, each.calibration.separation) == (4, 1.0)
        assert each.calibration.error < 0.1
        first = pytest.approx(each.calibration.error_first)
        assert each.calibration.error == first, "three candidates each"


def test_without_vectors_there_is_no_calibration() -> None:
    found = tune_weights([answers(*TELLING)], ks=(1,), folds=2)
    assert found.weights.calibration is None
    assert found.sets[0].calibration is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([answer(n, "x", (0.0, 0.0, 1.0)) for n in range(4)], "none of 2 questions"),
        ([answer(n, "a") for n in range(4)], "no feature distinguishes the evidence"),
    ],
)
def test_questions_that_teach_nothing_are_an_error(given: list[Answer], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        tune_weights([answers(*given)], ks=(1,), folds=2)


def test_each_dataset_has_a_question_for_each_fold() -> None:
    many, few = dataset(*["x"] * 6), dataset("x", "y", "y")
    check_folds([many, few], EvaluationConfig(), 3)
    for config, folds, message in (
        (EvaluationConfig(), 4, "d: 3 questions are too few for 4 folds"),
        (EvaluationConfig(excluded=("y",)), 2, "1 questions are too few"),
        (EvaluationConfig(limit=2), 3, "2 questions are too few"),
        (EvaluationConfig(excluded=("x",)), 2, "every question is of an excluded category"),
        (EvaluationConfig(excluded=("z",)), 2, "there are: x, y"),
        (EvaluationConfig(), 1, "folds must be at least 2"),
    ):
        with pytest.raises(ConfigError, match=message):
            check_folds([many, few], config, folds)


@pytest.mark.parametrize(
    ("low", "mean", "high", "said"),
    [
        (0.01, 0.02, 0.03, "better: +2.0 (1.0..3.0) points"),
        (-0.01, 0.01, 0.03, "perhaps better: +1.0 (-1.0..3.0) points"),
        (0.0, 0.0, 0.0, "no better: +0.0 (0.0..0.0) points"),
        (-0.03, -0.01, 0.01, "no better: -1.0 (-3.0..1.0) points"),
        (-0.03, -0.02, -0.01, "worse: -2.0 (-3.0..-1.0) points"),
    ],
)
def test_user_is_told_whether_the_weights_are_worth_having(
    low: float, mean: float, high: float, said: str
) -> None:
    [each] = tune_weights([answers(*TELLING)], ks=(1,), folds=2).sets
    gain = {"mean": Interval(mean=mean, low=low, high=high)}
    rows = tuple(row if row.name == "before" else replace(row, gain=gain) for row in each.rows)
    text = _verdict(replace(each, rows=rows))
    assert text.startswith(said)
    assert ("keep the weights that you have" in text) == (mean <= 0)


def test_relevance_is_a_profile_or_none_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chosen = RelevanceConfig(weights={FEATURES[0]: 7.0})
    chosen.save("mine.json")
    chosen.save("default")  # a profile goes before a file of its name
    assert retriever_config("none").relevance is None
    assert retriever_config("default").relevance == RelevanceConfig.default()
    assert retriever_config("mine.json").relevance == chosen
    with pytest.raises(
        typer.BadParameter, match=r"'nowhere' is neither a file nor one of .*default"
    ):
        retriever_config("nowhere")
