"""Of several statements about one thing, prefer the newest; or put them in order of time.

In: candidates, their sums, and how alike their vectors are. Out: new sums, and which statement may
replace which. Touches nothing.

People seldom say that an earlier statement is outdated: they move, and speak of the new flat. So
the ranking guesses. Of all the things that a person says, few are as near to "My boss is Ann" as
"Ben is my boss now", and the other way round; "Ann votes by post" is as near to all that is said of
Ann. `replacements` turns this into a probability. For a question about the
present, the older statement passes that share of its odds on to the newer one: if the newer
statement replaces it, the newer one is the answer. For a question about how something changed, or
about the past, all statements about the same thing as the best one come in order of time. Nothing
is removed, and nothing happens to memories without a time.

Statements in other words are not that near to each other. But if the question asks for a fact of a
known subject, such as home or work, `about` says how probably each statement is about this subject,
and the newest such statement counts as the newest answer. For a question about the past of a known
subject, the answer is a statement that a newer one has probably outdated; if there is none, the
order of time stays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memoria.recall.ranking.about import ENOUGH, about, spread
from memoria.recall.ranking.alike import statements
from memoria.recall.ranking.candidates import Candidate, Facts
from memoria.recall.ranking.talk import ASSISTANT, role_of, speaker_of
from memoria.types import MemoryNode
from memoria.types.renaming import prefix_of
from memoria.types.window import Tense

Array = NDArray[np.float64]

# Log odds that a newer statement replaces an older one that answers the question: a constant, and
# the weights of four terms; see `_log_odds`. Fitted to three chats, and checked with a fourth; see
# docs/project/ranking-notes.md.
_CONSTANT, _STANDING_OUT, _PLACE, _PLACE_BACK, _MATCH = -5.1, 2.6, -0.5, -0.85, 0.4
# Fewer than `ENOUGH` cosines between statements are filled up with this mean and deviation.
_MEAN, _DEVIATION = 0.5, 0.1
# Log of the factor by which a statement about the subject exceeds its share of the best odds, so
# that a likely one comes before all that only matches the words of the question. Anything above 0
# does.
_RAISED = 1.0
# In a question about a course, statements with this probability belong together.
_TOGETHER = 0.2
# Older statements and the other candidates keep this share of their odds even if a newer statement
# is surely about it.
_LEAST_KEPT = 0.1
# Two texts this close say the same: nothing has changed.
_SAME = 0.985
# Below this probability, a replacement is ignored.
_LEAST = 1 / 3
# From this one on, it decides the order of statements about the past and about a course.
CLEAR = 0.5
# From this one on, the context says that the older statement is outdated. A model believes that, so
# a missing mark is better than a wrong one.
_MARKED = 0.97
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
    alike = {
        id_: {
            other: facts.on_default_scale(cosine)
            for other, cosine in row.items()
            if other in stating
        }
        for id_, row in facts.alike.items()
        if id_ in stating
    }
    backwards: dict[str, list[float]] = {}
    for row in alike.values():
        for other, cosine in row.items():
            backwards.setdefault(other, []).append(cosine)
    found: dict[str, dict[str, float]] = {}
    for id_, others in alike.items():
        older = memories[id_]
        newer = sorted(
            (other for other, cosine in others.items() if cosine < _SAME),
            key=lambda other: (-others[other], other),
        )
        newer = [other for other in newer if _may_replace(memories[other], older)]
        missing = max(ENOUGH - len(others), 0)
        mean, deviation = spread([*others.values()], (missing, _MEAN, _DEVIATION))
        odds = {
            other: _log_odds(
                standing_out=(others[other] - mean) / deviation,
                place=place,
                place_back=sum(cosine > others[other] for cosine in backwards[other]),
                behind=behind[other],
            )
            for place, other in enumerate(newer)
        }
        likely = {other: 1 / (1 + math.exp(-value)) for other, value in odds.items()}
        likely = {other: share for other, share in likely.items() if share >= _LEAST}
        if likely:
            found[id_] = likely
    return found


def with_subject(
    replaced: Replacements, likely: Mapping[str, float], memories: Mapping[str, MemoryNode]
) -> Replacements:
    """Let newer statements about the subject of the question replace older ones, too.

    The lower probability of the two counts, because both must be about it; with that by cosine.
    """
    found = {id_: {**row} for id_, row in replaced.items()}
    for id_, share in likely.items():
        for other, its_share in likely.items():
            if _may_replace(memories[other], memories[id_]):
                by_cosine = found.get(id_, {}).get(other, 0.0)
                both = 1 - (1 - by_cosine) * (1 - min(share, its_share))
                if both >= _LEAST:
                    found.setdefault(id_, {})[other] = both
    return found


def _may_replace(newer: MemoryNode, older: MemoryNode) -> bool:
    """Tell whether a statement is newer, and may be about the same person.

    That is so if both are the same person's, if the assistant spoke for them, and if nobody is
    named as the speaker of one that was remembered. A statement replaces none of another scope.
    """
    if prefix_of(newer.id) != prefix_of(older.id):
        return False
    if newer.created_at is None or older.created_at is None or role_of(newer) == ASSISTANT:
        return False
    unsaid = any(not (role_of(one) or speaker_of(one)) for one in (newer, older))
    same = unsaid or role_of(older) == ASSISTANT or speaker_of(newer) == speaker_of(older)
    return same and newer.created_at > older.created_at


def _log_odds(*, standing_out: float, place: int, place_back: int, behind: float) -> float:
    """Return the log odds that a newer statement replaces an older one.

    Parameters
    ----------
    standing_out
        By how many standard deviations their cosine is above the mean.
    place
        How many newer statements are nearer to the older one.
    place_back
        How many of the other statements that are compared are nearer to the newer one.
    behind
        Sum of the newer statement, less that of the best candidate; <= 0.
    """
    places = _PLACE * math.log1p(place) + _PLACE_BACK * math.log1p(place_back)
    return max(_CONSTANT + _STANDING_OUT * standing_out + places + _MATCH * behind, -500.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """How statements of the candidates may replace each other.

    Attributes
    ----------
    memories
        Id -> memory of each candidate, in their order.
    replaced
        As `replacements` and `with_subject` return it.
    adjacent
        As `memoria.recall.ranking.order.adjacent_of` returns it.
    likely
        As `about` returns it.
    """

    memories: Mapping[str, MemoryNode]
    replaced: Replacements
    adjacent: Mapping[str, Sequence[str]]
    likely: Mapping[str, float] = field(default_factory=dict)

    def with_subject(self, sums: Array) -> Array:
        """Return sums where each statement about the question's subject has its share of the best.

        The odds of a statement are at least those of the best candidate times its probability.
        """
        if not self.likely:
            return sums
        row_of = {id_: row for row, id_ in enumerate(self.memories)}
        found, best = sums.copy(), float(sums.max())
        for id_, probability in self.likely.items():
            row = row_of[id_]
            found[row] = max(found[row], best + math.log(probability) + _RAISED)
        return found

    def relevance(self) -> Array:
        """Return a relevance of each statement by its subject, 0 to 1; (N,).

        The calibration goes by how well the memories match the question itself, which an implied
        answer does not. This is its probability to be about the subject.
        """
        return np.array([self.likely.get(id_, 0.0) for id_ in self.memories])

    def with_newest(self, sums: Array) -> Array:
        """Return sums where the newest statements have the odds of the older ones."""
        found = self._with_passed(sums)
        return self._with_state(found, float(sums.max()), newest=True) if self.likely else found

    def with_former(self, sums: Array) -> Array:
        """Return sums where outdated statements come first; in order of time if there are none."""
        if all(self._still_holds(id_) > 1 - CLEAR for id_ in self.likely):
            return self.in_time(sums)
        return self._with_state(sums, float(sums.max()), newest=False)

    def _with_state(self, sums: Array, best: float, *, newest: bool) -> Array:
        """Return sums where each likely statement has the odds that it is the state asked for.

        That is its own probability, times those that no newer statement is about it or replaces
        it, or, without ``newest``, that any does; a tenth of its own stays in any case. They take
        the place of its odds. All other candidates keep the probability that no statement is about
        it.
        """
        found = sums + math.log(max(math.prod(1 - p for p in self.likely.values()), _LEAST_KEPT))
        row_of = {id_: row for row, id_ in enumerate(self.memories)}
        for id_, probability in self.likely.items():
            left = self._still_holds(id_)
            share = left if newest else 1 - left
            kept = math.log(_LEAST_KEPT + (1 - _LEAST_KEPT) * share)
            found[row_of[id_]] = best + _RAISED + math.log(probability) + kept
        return found

    def _still_holds(self, id_: str) -> float:
        """Return how probably no newer statement is about the subject, or replaces this one."""
        newer = {
            other: share
            for other, share in self.likely.items()
            if _may_replace(self.memories[other], self.memories[id_])
        }
        for other, share in self.replaced.get(id_, {}).items():
            newer[other] = max(share, newer.get(other, 0.0))
        return math.prod(1 - share for share in newer.values())

    def _with_passed(self, sums: Array) -> Array:
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
        """Return, for each statement that is surely replaced, the newest one that does so."""
        found: dict[str, str] = {}
        for id_ in reversed(self._in_time(self.replaced)):
            sure = [other for other, share in self.replaced[id_].items() if share >= _MARKED]
            if sure:
                last = self._in_time(sure)[-1]
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
        """Return the statements about the same as one, with a probability each.

        They are linked to it by clear replacements, or are likely to be about the same subject.
        """
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
        likely = {id_: share for id_, share in self.likely.items() if share >= _TOGETHER}
        return likely | found if best in likely else found


def changes_of(
    candidates: Sequence[Candidate],
    sums: Array,
    facts: Facts,
    *,
    adjacent: Mapping[str, Sequence[str]],
    tense: Tense | None,
) -> Changes:
    """Return how statements of the candidates may replace each other; nothing without a tense.

    Parameters
    ----------
    sums
        As for `replacements`.
    adjacent
        As `memoria.recall.ranking.order.adjacent_of` returns it.
    """
    memories = {each.memory.id: each.memory for each in candidates}
    if tense is None:
        return Changes(memories=memories, replaced={}, adjacent=adjacent)
    likely = about(candidates, sums, facts, present=tense == "present")
    replaced = with_subject(replacements(candidates, sums, facts), likely, memories)
    return Changes(memories=memories, replaced=replaced, adjacent=adjacent, likely=likely)


def with_changes(changes: Changes, sums: Array, tense: Tense | None) -> Array:
    """Return sums where the newest statements come first, if the question is about the present."""
    return changes.with_newest(sums) if tense == "present" else sums


def with_order(changes: Changes, sums: Array, tense: Tense | None) -> Array:
    """Return sums that suit a question about the past, or about a course.

    The statements of a course come in order of time; in the past, the outdated ones come first.
    """
    if tense == "past":
        return changes.with_former(sums)
    return changes.in_time(sums) if tense == "course" else sums
