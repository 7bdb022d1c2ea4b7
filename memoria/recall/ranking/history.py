"""Let what is known of a memory's past move it in the ranking, by a bounded amount.

In: candidates, what the database knows of their past, the question. Out: arrays by name.
Touches nothing.

A memory that proved right says little about other questions: moved up for all of them, it pushes
their evidence down. So what was taught counts by how many words the present question shares with
the questions that taught it. ``docs/learning.md`` has the measurements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from memoria._support.settings_check import SettingsCheck
from memoria._support.stems import query_terms
from memoria.formulas.base_level import base_level_share
from memoria.recall.ranking.candidates import Candidate, Past

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryConfig:
    """How far a memory's past moves it in the ranking.

    Each value is the most that its feature adds to a memory's sum, or takes from it; the sums are
    those of `RelevanceConfig`. With all five at 0 the past does not count.

    Attributes
    ----------
    question_feedback
        For a question like those that the memory proved right for, 0 to 20: the share of words that
        the two have in common, above ``least_shared``. Questions that it proved wrong for count
        against it.
    feedback
        For what the memory proved in general, 0 to 20: ``confirmed`` less ``overridden``, over
        their sum and 2.
    uses
        For how present the memory is, 0 to 20: its base level (ACT-R), by the number of its uses
        and its age; a memory that was never used has none.
    priority
        For its ``priority``, 0 to 20: in full for 1, against it for 0.
    asked
        Against an earlier question that is loose (see `Seeds`), 0 to 20: the share of words that
        it has in common with this one. The more it resembles this question, the less it says.
    least_shared
        Share of common words, among all words of two questions, up to which the questions have
        nothing to do with each other; 0 to 1, below 1.
    """

    question_feedback: float = 5.0
    feedback: float = 0.05
    uses: float = 0.05
    priority: float = 0.1
    asked: float = 8.0
    least_shared: float = 0.2

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        for name in FEATURES:
            check.within(name, 0.0, 20.0)
        check.within("least_shared", 0.0, 0.999)


FEATURES = ("question_feedback", "feedback", "uses", "priority", "asked")


def history_features(
    query: str,
    candidates: Sequence[Candidate],
    past: Mapping[str, Past],
    least_shared: float,
) -> dict[str, Array]:
    """Compute the features of the past, each in -1 to 1, and 0 where nothing is known.

    Parameters
    ----------
    past
        Id -> what is known; memories without a past are missing.
    least_shared
        See `HistoryConfig`.

    Returns
    -------
    dict
        Feature -> N values, in the order of ``candidates``; only features that are not 0 for all.
    """
    columns = {name: np.zeros(len(candidates)) for name in FEATURES}
    alike = _likeness(query, past, least_shared)
    for row, candidate in enumerate(candidates):
        if candidate.memory.priority is not None:
            columns["priority"][row] = 2 * min(max(candidate.memory.priority, 0.0), 1.0) - 1
        if candidate.loose:
            columns["asked"][row] = -shared_words(
                *(frozenset(query_terms(text)) for text in (query, candidate.memory.text))
            )
        known = past.get(candidate.memory.id)
        if known is None:
            continue
        right, wrong = (
            max((alike[question] for question in questions), default=0.0)
            for questions in (known.right_for, known.wrong_for)
        )
        columns["question_feedback"][row] = right - wrong
        signals = known.confirmed + known.overridden
        columns["feedback"][row] = (known.confirmed - known.overridden) / (signals + 2)
        if known.uses:
            columns["uses"][row] = base_level_share(known.uses, known.age_hours)
    return {name: column for name, column in columns.items() if column.any()}


def shared_words(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of common words among all words of two questions (Jaccard).

    >>> shared_words(frozenset({"pump", "cellar"}), frozenset({"pump", "cellar", "cold"}))
    0.6666666666666666
    """
    every = one | other
    return len(one & other) / len(every) if every else 0.0


def _likeness(query: str, past: Mapping[str, Past], least: float) -> dict[str, float]:
    """Return each question that taught something -> how alike the query is to it; 0 to 1."""
    terms = frozenset(query_terms(query))
    questions = {each for known in past.values() for each in (*known.right_for, *known.wrong_for)}
    shared = {each: shared_words(terms, frozenset(query_terms(each))) for each in questions}
    return {each: max(0.0, (part - least) / (1 - least)) for each, part in shared.items()}


def history_weights(config: HistoryConfig) -> dict[str, float]:
    """Return feature -> weight."""
    return {name: value for name, value in asdict(config).items() if name in FEATURES}
