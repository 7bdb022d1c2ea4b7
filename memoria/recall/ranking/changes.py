"""Of several statements about one thing, prefer the newest; or put them in order of time.

In: candidates, their sums, and how alike their vectors are. Out: new sums, and which statement may
replace which. Touches nothing.

People seldom say that an earlier statement is outdated: they move, and speak of the new flat. So
the ranking guesses. Of all the things that a person says, few are as near to "My boss is Ann" as
"Ben is my boss now", and the other way round; "Ann votes by post" is as near to all that is said of
Ann. Statements in other words are not that near to each other. But if the question asks for a fact
of a known subject, such as home or work, `about` says how near each statement is to this subject. A
newer statement that is much farther from it than the older one hardly replaces it.
`replacements` turns both into one probability.

For a question about the present, the older statement passes that share of its odds on to the newer
one: if the newer statement replaces it, the newer one is the answer. For a question about how
something changed, or about the past, all statements about the same thing as the best one come in
order of time. For a question about the past of a known subject, the answer is a statement that a
newer one has probably outdated; if there is none, the order of time stays. Nothing is removed, and
nothing happens to memories without a time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from memoria.recall.ranking.about import ENOUGH, Subject, about, spread
from memoria.recall.ranking.alike import Alike, statements
from memoria.recall.ranking.candidates import Candidate, Facts
from memoria.recall.ranking.talk import ASSISTANT, role_of, speaker_of
from memoria.types import MemoryNode
from memoria.types.renaming import prefix_of
from memoria.types.window import Tense

Array = NDArray[np.float64]

# Log odds that a newer statement replaces an older one: a constant and the weights of two terms
# (see `log_odds`), the constant of two statements that were not compared, and the weights of three
# terms of both (see `replacements`). Fitted to questions about the present in four sets of chats,
# and checked with a fifth; see docs/project/ranking-notes.md.
_CONSTANT, _STANDING_OUT, _NEARER = -4.0, 2.0, -1.6
_UNCOMPARED = -1.6
_MATCH, _NEAR, _FARTHER = 0.2, 1.2, 1.4
# Fewer than `ENOUGH` cosines between statements are filled up with this mean and deviation.
_USUAL = (0.5, 0.1)
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
# With lower log odds, of a probability of a tenth, a replacement is ignored.
_LEAST_ODDS = math.log(0.1 / 0.9)
# From this probability on, it decides the order of statements about the past and about a course.
CLEAR = 0.5
# From this one on, the context says that the older statement is outdated. A model believes that, so
# a missing mark is better than a wrong one.
_MARKED = 0.93
# The older statement keeps the rest, so that it comes soon after the newer one.
_MOST_PASSED = 0.8

#: Id of a statement -> id of a newer one -> probability that it replaces the older one.
Replacements = Mapping[str, Mapping[str, float]]
#: Id of a statement -> ids of those that surely replace it.
Sure = Mapping[str, Sequence[str]]


def replacements(
    candidates: Sequence[Candidate], sums: Array, facts: Facts, subject: Subject
) -> tuple[Replacements, Replacements, Sure]:
    """Return which statements newer ones may replace, answer instead, and surely replace.

    In the first, only statements take part whose cosine is known (`Facts.alike`). The second
    supposes that the older statement answers a question about the present: then how near the newer
    one is to the subject of the question counts, and two statements that are probably about it are
    compared in any case. In the third, two that are both surely about it replace each other, too.

    Parameters
    ----------
    sums
        Sum of each candidate by the query alone; (N,).
    """
    memories = {each.memory.id: each.memory for each in candidates}
    behind = dict(zip(memories, (sums - sums.max(initial=-np.inf)).tolist(), strict=True))
    alike = _between_statements(memories, facts)
    by_cosine = _Compared(alike)
    replaced: dict[str, dict[str, float]] = {}
    answers: dict[str, dict[str, float]] = {}
    sure: dict[str, list[str]] = {}
    for older, row in alike.items():
        for newer, cosine in row.items():
            if cosine >= _SAME or not _may_replace(memories[newer], memories[older]):
                continue
            odds = by_cosine.log_odds(older, newer) + _MATCH * behind[newer]
            odds += _FARTHER * subject.farther(older, newer)
            share = _note(replaced, older, newer, odds)
            _note(answers, older, newer, odds + _NEAR * subject.nearness(newer))
            if 1 - (1 - share) * (1 - subject.of_both(older, newer)) >= _MARKED:
                sure.setdefault(older, []).append(newer)
    for older, newer in permutations(subject.likely, 2):
        odds = _UNCOMPARED + _MATCH * behind[newer] + _NEAR * subject.nearness(newer)
        odds += _FARTHER * subject.farther(older, newer)
        both_sure = subject.of_both(older, newer) >= _MARKED
        if newer in alike.get(older, {}) or (odds < _LEAST_ODDS and not both_sure):
            continue  # most pairs are unlikely
        if _may_replace(memories[newer], memories[older]):
            _note(answers, older, newer, odds)
            if both_sure:
                sure.setdefault(older, []).append(newer)
    return replaced, answers, sure


def _note(found: dict[str, dict[str, float]], older: str, newer: str, odds: float) -> float:
    """Note the probability of a replacement by its log odds, and return it; 0 if it is too low."""
    if not odds >= _LEAST_ODDS:  # also of a cosine that is not a number
        return 0.0
    found.setdefault(older, {})[newer] = share = 1 / (1 + math.exp(-odds))
    return share


def _between_statements(memories: Mapping[str, MemoryNode], facts: Facts) -> Alike:
    """Return the cosines between the candidates that are statements, on the default scale."""
    stating = {one.id for one in statements([*memories.values()])}
    return {
        id_: {
            other: facts.on_default_scale(cosine)
            for other, cosine in row.items()
            if other in stating
        }
        for id_, row in facts.alike.items()
        if id_ in stating
    }


class _Compared:
    """How near pairs of statements are to each other, compared with all others."""

    def __init__(self, alike: Alike) -> None:
        self._alike = alike
        self._usual = {id_: usual_of([*row.values()]) for id_, row in alike.items()}
        self._backwards: dict[str, list[float]] = {}
        for row in alike.values():
            for other, cosine in row.items():
                self._backwards.setdefault(other, []).append(cosine)

    def log_odds(self, older: str, newer: str) -> float:
        """Return the part of the log odds that compares two statements."""
        cosine = self._alike[older][newer]
        mean, deviation = self._usual[older]
        nearer = sum(other > cosine for other in self._backwards[newer])
        return log_odds((cosine - mean) / deviation, nearer)


def usual_of(cosines: Sequence[float]) -> tuple[float, float]:
    """Return mean and standard deviation of the cosines of a statement with others."""
    return spread(cosines, (max(ENOUGH - len(cosines), 0), *_USUAL))


def log_odds(standing_out: float, nearer: int) -> float:
    """Return the log odds that a newer statement replaces an older one, by their vectors alone.

    Parameters
    ----------
    standing_out
        By how many standard deviations their cosine is above the mean.
    nearer
        How many of the other statements that are compared are nearer to the newer one.
    """
    return _CONSTANT + _STANDING_OUT * standing_out + _NEARER * math.log1p(nearer)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """How statements of the candidates may replace each other.

    Attributes
    ----------
    memories
        Id -> memory of each candidate, in their order.
    replaced, answers, sure
        As `replacements` returns them.
    adjacent
        As `memoria.recall.ranking.order.adjacent_of` returns it.
    likely
        As `Subject.likely`.
    """

    memories: Mapping[str, MemoryNode]
    replaced: Replacements
    adjacent: Mapping[str, Sequence[str]]
    answers: Replacements = field(default_factory=dict)
    sure: Sure = field(default_factory=dict)
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

    def with_former(self, sums: Array) -> Array:
        """Return sums where outdated statements come first; in order of time if there are none.

        The odds of each likely statement are its own probability, times that of any newer one about
        the subject, or that replaces it; a tenth of its own stays in any case. All other candidates
        keep the probability that no statement is about the subject.
        """
        holds = {id_: self._still_holds(id_) for id_ in self.likely}
        if all(share > 1 - CLEAR for share in holds.values()):
            return self.in_time(sums)
        best = float(sums.max())
        found = sums + math.log(max(math.prod(1 - p for p in self.likely.values()), _LEAST_KEPT))
        row_of = {id_: row for row, id_ in enumerate(self.memories)}
        for id_, probability in self.likely.items():
            kept = math.log(_LEAST_KEPT + (1 - _LEAST_KEPT) * (1 - holds[id_]))
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
            if share >= CLEAR:  # several weak guesses would add up to a strong one
                newer[other] = max(share, newer.get(other, 0.0))
        return math.prod(1 - share for share in newer.values())

    def with_newest(self, sums: Array) -> Array:
        """Return sums where older statements have passed odds on to newer ones.

        A statement passes on the probability that any newer one replaces it, at most four fifths,
        and so do the assistant's messages right after it. The oldest comes first, so that the
        newest of three statements gets the odds of both.
        """
        if not self.answers:
            return sums
        place = {id_: row for row, id_ in enumerate(self.memories)}
        best = sums.max()
        odds = np.exp(sums - best)
        for id_ in self._in_time(self.answers):
            likely = self.answers[id_]
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
        for id_ in reversed(self._in_time(self.sure)):
            last = self._in_time(self.sure[id_])[-1]
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
            and other not in self.answers
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
    subject = about(candidates, sums, facts, present=tense == "present")
    replaced, answers, sure = replacements(candidates, sums, facts, subject)
    return Changes(
        memories=memories,
        replaced=replaced,
        adjacent=adjacent,
        answers=answers,
        sure=sure,
        likely=subject.likely,
    )


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
