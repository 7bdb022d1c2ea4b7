"""Turn the sums of a ranking into probabilities.

In: features and sums of all candidates of a query. Out: a probability for each. Touches nothing.

A sum only says how a candidate compares with the others of the same query. So a probability is a
product of three. Two are the same for all candidates: that the query asks a memory for anything,
told by how it compares with examples of messages; and that what was found answers it, told by how
far the best candidates stand out and how many of its words they contain. The third is that a
candidate is evidence if so, told by how far it stands behind the best one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from memoria._support.settings_check import SettingsCheck
from memoria.recall.ranking.candidates import Likeness

Array = NDArray[np.float64]

MAX_WEIGHT = 1_000_000
# A place far behind counts as the hundredth.
_LAST = 100.0
# How many of the first candidates are looked at for the words of the query.
_FIRST = 3
# With no more candidates, ``cosine_rise`` has no crowd to compare with.
_FEW = 20
# Larger log odds are as good as certain, and their exponential would overflow.
_MAX_ODDS = 500.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Weights of the terms from which the probability comes that a memory is evidence.

    The probability is a product of three. The log odds of each are a sum of terms, each times its
    weight. ``docs/quality.md`` says how true the probabilities of the default profile are.

    Attributes
    ----------
    asks
        Log odds that the query asks a memory for anything, where the next two terms are 0.
    asks_margin
        Weight of the margin: the highest cosine of the query with a candidate, minus the cosine
        with examples of small talk, over `Likeness.spread`, so that embedders agree.
    asks_leaning
        Weight of the cosine with examples of messages that need a memory, minus the cosine with
        examples of small talk, over the same.
    answer
        Log odds that anything which was found answers the query, if it asks for something, where
        the next two terms are 0.
    answer_coverage
        Weight of the highest ``coverage`` among the first three candidates, 0 to 1: the share of
        the query's words, by their rarity, that one of them holds.
    answer_rise
        Weight of the highest ``cosine_rise``, 0 to 1: how far the nearest candidate stands out from
        the crowd. Up to 20 candidates are not a crowd: there, the margin counts if it is larger,
        and so does the rise above the query's mean cosine with the nearer third of the examples of
        small talk.
    evidence
        Log odds that the first candidate is evidence, if there is an answer.
    evidence_distance
        Weight of the difference between the candidate's sum and the best one, a number up to 0;
        the weight is >= 0, so that the order stays.
    evidence_place
        Weight of the place: 0 for the first candidate, -1 for the hundredth and beyond, by its
        logarithm; the weight is >= 0.
    """

    asks: float = 0.0
    asks_margin: float = 0.0
    asks_leaning: float = 0.0
    answer: float = 0.0
    answer_coverage: float = 0.0
    answer_rise: float = 0.0
    evidence: float = 0.0
    evidence_distance: float = 0.0
    evidence_place: float = 0.0

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        for name in (each.name for each in fields(self)):  # `asdict` would follow any nesting
            check.within(name, 0.0 if name in KEEP_ORDER else -MAX_WEIGHT, MAX_WEIGHT)


#: Names among the features; see `Calibration.asks_margin`, `Calibration.asks_leaning` and
#: `Calibration.answer_rise`.
MARGIN, LEANING, ABOVE = "margin", "leaning", "above_small_talk"
OF_QUESTION = (MARGIN, LEANING, ABOVE)
#: Terms that differ between the candidates of a query: a weight below 0 would turn the order.
KEEP_ORDER = ("evidence_distance", "evidence_place")


def of_question(like: Likeness, best: float) -> dict[str, float]:
    """Return the features that all candidates of a question share; ``best``: highest cosine."""
    return {MARGIN: like.margin(best), LEANING: like.margin(like.leaning), ABOVE: like.rise(best)}


def asks_terms(values: Mapping[str, Array]) -> dict[str, Array]:
    """Compute the terms of the odds that a query asks, each as one value."""
    return {
        "asks": np.ones(1),
        "asks_margin": values[MARGIN][:1],
        "asks_leaning": values[LEANING][:1],
    }


def answer_terms(values: Mapping[str, Array], sums: Array) -> dict[str, Array]:
    """Compute the terms of the odds that anything answers a query, each as one value."""
    first = np.argsort(-sums, kind="stable")[:_FIRST]
    rise = values["cosine_rise"].max(keepdims=True)
    if len(sums) <= _FEW:
        rise = np.maximum.reduce([rise, values[MARGIN][:1], values[ABOVE][:1]])
    return {
        "answer": np.ones(1),
        "answer_coverage": values["coverage"][first].max(keepdims=True),
        "answer_rise": rise,
    }


def evidence_terms(sums: Array) -> dict[str, Array]:
    """Compute the terms of each candidate; there must be one."""
    ahead = np.searchsorted(np.sort(-sums), -sums)
    return {
        "evidence": np.ones(len(sums)),
        "evidence_distance": sums - sums.max(),
        "evidence_place": -np.log1p(np.minimum(ahead, _LAST)) / np.log1p(_LAST),
    }


def probabilities(values: Mapping[str, Array], sums: Array, calibration: Calibration) -> Array:
    """Return the probability of each candidate that it is evidence; (N,), 0 to 1.

    Parameters
    ----------
    values
        The features of `memoria.recall.ranking.features.features`, and those of the calibration;
        each (N,), N >= 1.
    sums
        The features' sum, each times its weight, with what needs bring; (N,).
    """
    weights = asdict(calibration)
    terms = (asks_terms(values), answer_terms(values, sums), evidence_terms(sums))
    asks, answer, evidence = (_probability(one, weights) for one in terms)
    return asks * answer * evidence


def _probability(terms: Mapping[str, Array], weights: Mapping[str, float]) -> Array:
    odds = sum((weights[name] * column for name, column in terms.items()), np.zeros(1))
    found: Array = 1.0 / (1.0 + np.exp(-np.clip(odds, -_MAX_ODDS, _MAX_ODDS)))
    return found
