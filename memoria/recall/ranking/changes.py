"""Of several statements about one thing, prefer the newest; or put them in order of time.

In: candidates, their sums, and how alike their vectors are. Out: new sums, and which statement may
replace which. Touches nothing.

People seldom say that an earlier statement is outdated: they move, and speak of the new flat. So
the ranking guesses. Of all the things that a person says, few are as near to "My boss is Ann" as
"Ben is my boss now". `replacements` turns this into a probability. For a question about the
present, the older statement passes that share of its odds on to the newer one: if the newer
statement replaces it, the newer one is the answer. For a question about the past, or about how
something changed, all statements about the same thing as the best one come in order of time.
Nothing is removed, and nothing happens to memories without a time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoria.recall.ranking.alike import statements
from memoria.recall.ranking.candidates import Candidate, Facts
from memoria.recall.ranking.talk import ASSISTANT, role_of, speaker_of
from memoria.types import MemoryNode
from memoria.types.window import Tense

Array = NDArray[np.float64]

# Log odds that a newer statement replaces an older one that answers the question: a constant, and
# the weights of three terms; see `_log_odds`. Fitted to three chats, each checked with the
# fit to the other two; see docs/project/ranking-notes.md.
_CONSTANT, _STANDING_OUT, _PLACE, _MATCH = -5.2, 2.6, -0.35, 0.37
# Fewer than `_ENOUGH` statements tell too little about mean and deviation of the cosines: the
# missing ones count with these values. The deviation is never lower than the last number.
_ENOUGH, _MEAN, _DEVIATION, _LEAST_DEVIATION = 8, 0.5, 0.1, 0.02
# Two texts this close say the same: nothing has changed.
_SAME = 0.985
# Below this probability, a replacement is ignored; from `CLEAR` on, the older statement is marked.
_LEAST = 1 / 3
CLEAR = 0.5
# The older statement keeps the rest, so that it comes soon after the newer one.
_MOST_PASSED = 0.8

#: Id of a statement -> id of a newer one -> probability that it replaces the older one.
Replacements = Mapping[str, Mapping[str, float]]


def replacements(candidates: Sequence[Candidate], sums: Array, facts: Facts) -> Replacements:
    """Return which statements newer ones may replace; empty if no cosines between them are known.

    Parameters
    ----------
    sums
        Sum of each candidate by the query alone; (N,).
    """
    memories = {each.memory.id: each.memory for each in candidates}
    stating = {one.id for one in statements([*memories.values()])}
    behind = dict(zip(memories, (sums - sums.max(initial=-np.inf)).tolist(), strict=True))
    found: dict[str, dict[str, float]] = {}
    for id_, row in facts.alike.items():
        if id_ not in stating:
            continue
        older = memories[id_]
        others = {other: cosine for other, cosine in row.items() if other in stating}
        newer = sorted(
            (other for other, cosine in others.items() if cosine < _SAME),
            key=lambda other: (-others[other], other),
        )
        newer = [other for other in newer if _may_replace(memories[other], older)]
        mean, deviation = _spread([*others.values()])
        odds = {
            other: _log_odds((others[other] - mean) / deviation, place, behind[other])
            for place, other in enumerate(newer)
        }
        likely = {other: 1 / (1 + math.exp(-value)) for other, value in odds.items()}
        likely = {other: share for other, share in likely.items() if share >= _LEAST}
        if likely:
            found[id_] = likely
    return found


def _may_replace(newer: MemoryNode, older: MemoryNode) -> bool:
    """Tell whether a statement is newer, and the same person's, or the assistant spoke for them."""
    if newer.created_at is None or older.created_at is None or role_of(newer) == ASSISTANT:
        return False
    same = role_of(older) == ASSISTANT or speaker_of(newer) == speaker_of(older)
    return same and newer.created_at > older.created_at


def _spread(cosines: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation of cosines, and of those that are missing."""
    missing = max(_ENOUGH - len(cosines), 0)
    count = len(cosines) + missing
    mean = (sum(cosines) + missing * _MEAN) / count
    squares = sum((cosine - mean) ** 2 for cosine in cosines)
    squares += missing * (_DEVIATION**2 + (_MEAN - mean) ** 2)
    return mean, max(math.sqrt(squares / count), _LEAST_DEVIATION)


def _log_odds(standing_out: float, place: int, behind: float) -> float:
    """Return the log odds that a newer statement replaces an older one.

    Parameters
    ----------
    standing_out
        By how many standard deviations their cosine is above the mean.
    place
        How many newer statements are nearer to the older one.
    behind
        Sum of the newer statement, less that of the best candidate; <= 0.
    """
    place_term = _PLACE * math.log1p(place)
    return max(_CONSTANT + _STANDING_OUT * standing_out + place_term + _MATCH * behind, -500.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """How statements of the candidates may replace each other.

    Attributes
    ----------
    memories
        Id -> memory of each candidate, in their order.
    replaced
        As `replacements` returns it.
    adjacent
        As `memoria.recall.ranking.order.adjacent_of` returns it.
    """

    memories: Mapping[str, MemoryNode]
    replaced: Replacements
    adjacent: Mapping[str, Sequence[str]]

    def with_newest(self, sums: Array) -> Array:
        """Return sums where older statements have passed odds on to newer ones.

        A statement passes on the probability that any newer one replaces it, at most four fifths,
        and so do the assistant's messages right after it. The oldest comes first, so that the
        newest of three statements gets the odds of both.
        """
        if not self.replaced:
            return sums
        place = {id_: row for row, id_ in enumerate(self.memories)}
        best = sums.max()
        odds = np.exp(sums - best)
        for id_ in self._in_time(self.replaced):
            likely = self.replaced[id_]
            share, total = min(max(likely.values()), _MOST_PASSED), sum(likely.values())
            rows = [place[id_], *(place[other] for other in self._answers_to(id_))]
            passed = float(odds[rows].sum()) * share
            odds[rows] *= 1 - share
            for other, probability in likely.items():
                odds[place[other]] += passed * probability / total
        found: Array = np.log(np.maximum(odds, np.exp(-500.0))) + best
        return found

    def in_time(self, sums: Array) -> Array:
        """Return sums where statements about the same thing as the best one are in order of time.

        Each of them first gets a share of the odds of the best one.
        """
        row_of = {id_: row for row, id_ in enumerate(self.memories)}
        stating = [one.id for one in statements([*self.memories.values()])]
        if not stating:
            return sums
        best = min(stating, key=lambda id_: (-sums[row_of[id_]], id_))
        together = self._about_the_same(best)
        if len(together) == 1:
            return sums
        found = sums.copy()
        for id_, probability in together.items():
            lifted = sums[row_of[best]] + math.log(probability)
            found[row_of[id_]] = max(found[row_of[id_]], lifted)
        ordered = [row_of[id_] for id_ in self._in_time(together)]
        found[ordered] = np.sort(found[ordered])[::-1]
        return found

    def newer(self) -> dict[str, str]:
        """Return, for each statement that is probably replaced, the newest one that does so."""
        found: dict[str, str] = {}
        for id_ in reversed(self._in_time(self.replaced)):
            clear = [other for other, share in self.replaced[id_].items() if share >= CLEAR]
            if clear:
                last = self._in_time(clear)[-1]
                found[id_] = found.get(last, last)
        return found

    def _in_time(self, ids: Mapping[str, object] | Sequence[str]) -> list[str]:
        """Return ids of statements, the oldest first."""
        made = {id_: when for id_ in ids if (when := self.memories[id_].created_at) is not None}
        return sorted(made, key=lambda id_: (made[id_], id_))

    def _answers_to(self, id_: str) -> list[str]:
        """Return the messages of the assistant right after a statement."""
        memories = self.memories
        said = memories[id_].created_at
        return [
            other
            for other in self.adjacent.get(id_, ())
            if role_of(memories[other]) == ASSISTANT
            and other not in self.replaced
            and (when := memories[other].created_at) is not None
            and said is not None
            and when >= said
        ]

    def _about_the_same(self, best: str) -> dict[str, float]:
        """Return the statements linked to one by clear replacements, with a probability each."""
        near: dict[str, dict[str, float]] = {}
        for id_, likely in self.replaced.items():
            for other, share in likely.items():
                if share >= CLEAR:
                    near.setdefault(id_, {})[other] = share
                    near.setdefault(other, {})[id_] = share
        found, waiting = {best: 1.0}, [best]
        while waiting:
            id_ = waiting.pop()
            for other, share in near.get(id_, {}).items():
                if other not in found:
                    found[other] = found[id_] * share
                    waiting.append(other)
        return found


def with_changes(changes: Changes, sums: Array, tense: Tense | None) -> Array:
    """Return sums where the newest statements come first, if the question is about the present."""
    return changes.with_newest(sums) if tense == "present" else sums


def with_order(changes: Changes, sums: Array, tense: Tense | None) -> Array:
    """Return sums in order of time, if the question is about the past, or about a course."""
    return changes.in_time(sums) if tense in ("past", "course") else sums
