"""Tell how probably statements are about the subject of a question, such as the user's home.

In: candidates, their sums, and their cosines with the probe. Out: probabilities. Touches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memoria.recall.ranking.alike import of_user
from memoria.recall.ranking.candidates import Candidate, Facts
from memoria.recall.ranking.substance import only_asks
from memoria.types import MemoryNode

Array = NDArray[np.float64]

#: Fewer statements tell too little about the mean and the deviation of cosines.
ENOUGH = 8
# No deviation of cosines is lower.
_LEAST_DEVIATION = 0.02
# Log odds that a statement is about the subject of the question: a constant, and the weights of two
# terms; see `about`. Fitted to five lives, each checked with the fit to the others, with all of
# their small talk, with half of it, and without.
_SUBJECT, _NEAR_PROBE, _BY_QUERY = -3.9, 1.95, 0.14
# As many examples count with the statements, for the mean and the deviation of their cosines: in a
# life of many facts, or of few statements, the statements alone don't tell what is usual.
_EXAMPLES = 40
# If a memory that is probably about something else has a margin (`Likeness.margin`) of the second
# number or more, so is the question; up to the first, the subject counts fully.
_UNMATCHED, _MATCHED = 0.25, 0.35
_PROBABLY = 0.5
# The examples ask for the user's own facts in the present. If the question is much nearer to one of
# them than to any memory, the examples know better where the answer is: if the best margin of a
# memory is at most this share of that of the nearest example. If the memory matches about as well,
# from the second number on, the question is about something that the examples don't have, such as
# somebody else's home.
_KNOWN, _STORED = 0.5, 0.7
# In the present, the subject counts fully if the sum of the best memory is no more than the first
# number above the next one, and not at all from the second on: then that memory is the answer.
_CLOSE, _AHEAD = 1.5, 2.5
# With a lower probability, a statement is not raised for its subject.
_LEAST_ABOUT = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """How near the user's statements are to the subject of the question.

    Attributes
    ----------
    counts
        How far the subject counts, 0 to 1.
    near
        Id -> by how many standard deviations the cosine with the probe is above the mean; empty
        without a probe, or with too few statements.
    likely
        Id -> probability that the statement is about the subject, at least 0.03.
    """

    counts: float = 0.0
    near: Mapping[str, float] = field(default_factory=dict)
    likely: Mapping[str, float] = field(default_factory=dict)

    def nearness(self, id_: str) -> float:
        """Return `near` of a statement as far as it counts; 0 where it is not known."""
        return self.counts * self.near.get(id_, 0.0)

    def of_both(self, one: str, other: str) -> float:
        """Return the lower of the probabilities of two statements to be about the subject."""
        return min(self.likely.get(one, 0.0), self.likely.get(other, 0.0))

    def farther(self, older: str, newer: str) -> float:
        """Return by how much the newer statement is less near than the older one; <= 0.

        It tells two statements apart even where the subject does not count, as soon as the question
        has a probe.
        """
        if older not in self.near or newer not in self.near:
            return 0.0
        return min(self.near[newer] - self.near[older], 0.0)


NO_SUBJECT = Subject()


def about(candidates: Sequence[Candidate], sums: Array, facts: Facts, *, present: bool) -> Subject:
    """Return how probably each of the user's statements is about the subject of the question.

    The log odds grow with the cosine of the statement and the probe, in standard deviations above
    the mean of all statements and some examples, and with the statement's sum. The probability
    counts as far as the question asks for a fact of a subject (`Facts.asks`), and as far as no
    memory that is about something else matches it; in the present, also as far as the question is
    nearer to examples than to memories (`Facts.asked`), and as far as no memory is far ahead of
    the next one.

    Parameters
    ----------
    sums
        Sum of each candidate by the query alone; (N,).
    present
        Whether the question is about the present.
    """
    rows = {each.memory.id: row for row, each in enumerate(candidates)}
    cosines = {
        one.id: facts.probed[one.id]
        for one in of_user([each.memory for each in candidates])
        if one.id in facts.probed
    }
    if len(cosines) < ENOUGH:
        return NO_SUBJECT
    mean, deviation = spread([*cosines.values()], (_EXAMPLES, *facts.usual))
    near = {id_: (cosine - mean) / deviation for id_, cosine in cosines.items()}
    *_, second, best = np.sort(sums)
    likely = {}
    for id_, deviations in near.items():
        odds = _SUBJECT + _NEAR_PROBE * deviations + _BY_QUERY * (sums[rows[id_]] - best)
        likely[id_] = 1 / (1 + math.exp(-max(odds, -500.0)))
    memories = [each.memory for each in candidates]
    others = [one for one in memories if likely.get(one.id, 0.0) < _PROBABLY]
    counts = facts.asks * _falling(_best_margin(others, facts), _UNMATCHED, _MATCHED)
    if present:
        counts *= _falling(_best_margin(memories, facts) / facts.asked, _KNOWN, _STORED)
        counts *= _falling(float(best - second), _CLOSE, _AHEAD)
    likely = {id_: counts * share for id_, share in likely.items()}
    likely = {id_: share for id_, share in likely.items() if share >= _LEAST_ABOUT}
    return Subject(counts=counts, near=near, likely=likely)


def _falling(value: float, from_: float, to: float) -> float:
    """Return 1 up to one value, 0 from another one on, and values between them in proportion."""
    return min(max((to - value) / (to - from_), 0.0), 1.0)


def _best_margin(memories: Sequence[MemoryNode], facts: Facts) -> float:
    """Return the highest margin (`Likeness.margin`) of the memories, at least 0.

    An earlier question does not count: it matches, but answers nothing.
    """
    if facts.like is None:
        return 0.0
    found = [(facts.cosines[one.id], one.text) for one in memories if one.id in facts.cosines]
    found.sort(reverse=True)  # few texts are read, because the first that says something decides
    nearest = next((cosine for cosine, text in found if not only_asks(text)), None)
    return 0.0 if nearest is None else max(facts.like.margin(nearest), 0.0)


def spread(cosines: Sequence[float], more: tuple[int, float, float]) -> tuple[float, float]:
    """Return mean and standard deviation of cosines, and of more with known mean and deviation.

    >>> [round(value, 3) for value in spread([0.5, 0.7], (2, 0.4, 0.1))]
    [0.5, 0.141]
    """
    others, usual, deviation = more
    count = len(cosines) + others
    mean = (sum(cosines) + others * usual) / count
    squares = sum((cosine - mean) ** 2 for cosine in cosines)
    squares += others * (deviation**2 + (usual - mean) ** 2)
    return mean, max(math.sqrt(squares / count), _LEAST_DEVIATION)
