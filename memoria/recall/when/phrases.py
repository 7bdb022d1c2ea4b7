"""Read the time that a question is about: "last week", "in May", "seit März", "hace dos semanas".

In: a question, the present, the caller's zone. Out: a `TimeWindow`, or None. Touches nothing.

This uses rules, not a model: each language has tables, and one grammar reads them all. An ambiguous
word, such as "may" or "spring", counts only after a word such as "in" or "since". A phrase without
a year, such as "in May", means the latest May that has begun; in a question in the future tense,
the first that is not over.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache

from memoria._support.function_words import FUNCTION_WORDS
from memoria._support.stems import content_words, spelled
from memoria.recall.when.grammar import LANGUAGES, Grammar, folded, grammar, triggers
from memoria.recall.when.points import Point, dated, named
from memoria.recall.when.tense import is_future
from memoria.types.window import TimeWindow

#: A longer text is not a question.
MAX_CHARS = 1_000
_TOKEN = re.compile(r"\d+|[^\W\d_]+|[^\w\s'’]")
_SIGNS = frozenset("-.,/:")
# Characters before a phrase that are checked for words such as "every" or "all the".
_BEFORE = 20


def window_of(query: str, *, now: datetime, zone: tzinfo | None = None) -> TimeWindow | None:
    """Return the time that a question is about; None if it does not name a time.

    Parameters
    ----------
    now
        The present, aware.
    zone
        The caller's time zone, which decides when a day begins; None for that of ``now``.

    Examples
    --------
    >>> now = datetime(2026, 5, 20, 14, tzinfo=UTC)
    >>> str(window_of("What did I do last week?", now=now))
    "'last week' is from 2026-05-11 00:00 and before 2026-05-18 00:00 (UTC)"
    >>> window_of("May I come in?", now=now) is None
    True
    """
    if len(query) > MAX_CHARS:
        return None
    zone = zone or now.tzinfo or UTC
    text = Question(query)
    clause = text.longest_clause()
    if clause is None:
        return None
    try:
        local = now.astimezone(zone).replace(tzinfo=None)
        starts, ends = clause.bounds(local, ahead=is_future(query))
        begin, end = _utc(starts, zone), _utc(ends, zone)
    except (OverflowError, ValueError):  # outside the years 1 to 9999
        return None
    if begin is None and end is None:
        return None
    if begin is not None and end is not None and begin >= end:
        return None
    first, last = text.place_of(clause)
    rest = f"{text.query[:first]} {text.query[last:]}"
    phrase = text.query[first:last]
    return TimeWindow(phrase=phrase, starts=begin, ends=end, only=_asks_nothing_else(rest))


def _utc(time: datetime | None, zone: tzinfo) -> datetime | None:
    return None if time is None else time.replace(tzinfo=zone).astimezone(UTC)


def _asks_nothing_else(rest: str) -> bool:
    """Tell whether the rest of a question, without the time phrase, has no subject of its own."""
    return all(word in _asking_words() for word in content_words(rest))


@cache
def _asking_words() -> frozenset[str]:
    tables = [table["asking"] for table in LANGUAGES.values()]
    words = {word for text in tables for word in spelled(text).lower().split()}
    for one in FUNCTION_WORDS.values():
        words.update(spelled(word).lower() for word in one)
    return frozenset(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A time phrase: a point, or the time before, after or between points.

    Attributes
    ----------
    kind
        ``in``, ``since``, ``until``, ``before``, ``after``, or ``range``.
    start, end
        Its position in the words of the question.
    point, other
        The named points; ``other`` is the second one of a range.
    """

    kind: str
    start: int
    end: int
    point: Point
    other: Point | None = None

    def bounds(self, now: datetime, *, ahead: bool) -> tuple[datetime | None, datetime | None]:
        """Return the first moment and the end in local time; None for an open side.

        The first point of a range is the latest before the second: "from November to January".

        Parameters
        ----------
        ahead
            Whether a point that recurs, such as "in May", is the first that is not over.
        """
        ahead = ahead and self.kind != "since"
        last = None if self.other is None else self.other.meant(now, ahead=ahead)
        if last and self.point.floats:
            span = self.point.resolve(last[1] - timedelta(seconds=1))
        else:
            span = self.point.meant(now, ahead=ahead)
        if span is None or (self.other is not None and last is None):
            return None, None
        begin, end = span
        if last is not None:
            return begin, last[1]
        bounds: dict[str, tuple[datetime | None, datetime | None]] = {
            "in": (begin, end),
            "since": (begin, None),
            "until": (None, end),
            "before": (None, begin),
            "after": (end, None),
        }
        return bounds[self.kind]


class Question:
    """A question as words and signs without accents, with one space between and around them."""

    def __init__(self, query: str) -> None:
        self.query = unicodedata.normalize("NFC", query)
        self._starts: list[int] = []
        self._places: list[tuple[int, int]] = []
        words: list[str] = []
        length = 1
        for token in _TOKEN.finditer(self.query):
            word = folded(token[0])
            word = word if word[:1].isalnum() or word in _SIGNS else "|"
            self._starts.append(length)
            self._places.append(token.span())
            words.append(word)
            length += len(word) + 1
        self.text = f" {' '.join(words)} | "
        self._words = frozenset(words)

    def longest_clause(self) -> Clause | None:
        """Return the longest time phrase in any language; of equally long ones, the first."""
        languages = [name for name, words in triggers().items() if self._words & words]
        if not languages and any(word.isdecimal() for word in self._words):
            languages = ["english"]
        found = [
            clause
            for name in languages
            for start in self._starts
            if (clause := self._clause_at(grammar(name), start)) is not None
        ]
        return max(found, key=lambda one: one.end - one.start, default=None)

    def place_of(self, clause: Clause) -> tuple[int, int]:
        """Return the position of a phrase in the question."""
        places = zip(self._starts, self._places, strict=True)
        inside = [place for start, place in places if clause.start <= start < clause.end]
        return inside[0][0], inside[-1][1]

    def _clause_at(self, rules: Grammar, start: int) -> Clause | None:
        """Return the time phrase that begins at a word; None if there is none."""
        if rules.never.search(self.text, max(0, start - _BEFORE), start):
            return None
        for first, second in rules.ranges:
            one = self._behind(first, rules, start)
            other = self._behind(second, rules, one.end + 1) if one else None
            if one and other:
                return Clause(kind="range", start=start, end=other.end, point=one, other=other)
        for kind in ("since", "until", "before", "after"):
            if point := self._behind(getattr(rules, kind), rules, start):
                return self._unless(rules, kind, start, point)
        points = (self._point_at(rules, start, alone=True), self._behind(rules.intro, rules, start))
        point = max(filter(None, points), key=lambda one: one.end, default=None)
        return self._unless(rules, "in", start, point) if point else None

    def _unless(self, rules: Grammar, kind: str, start: int, point: Point) -> Clause | None:
        if rules.unless.fullmatch(self.text, start, point.end + 2):
            return None
        return Clause(kind=kind, start=start, end=point.end, point=point)

    def _behind(self, words: re.Pattern[str], rules: Grammar, start: int) -> Point | None:
        """Return the point that follows these words, if they match at ``start``."""
        found = words.match(self.text, start)
        return self._point_at(rules, found.end(), alone=False) if found else None

    def _point_at(self, rules: Grammar, start: int, *, alone: bool) -> Point | None:
        """Return the longest point that begins at a word."""
        best = dated(self.text, start, month_first=rules.names)
        for kind, pattern in rules.strong if alone else (*rules.strong, *rules.weak):
            found = pattern.match(self.text, start)
            if found is None or (best is not None and found.end() <= best.end):
                continue
            possessive = self.text.startswith(" s ", found.end())
            if not possessive and not (rules.names and self._is_name(found)):
                best = named(kind, found, rules.meaning) or best
        return best

    def _is_name(self, found: re.Match[str]) -> bool:
        """Tell whether a month or season and the next word are capitalised: "Summer Smith"."""
        groups = found.groupdict()
        if not (groups.get("m") or groups.get("s")) or groups.get("y") or groups.get("d"):
            return False
        last = max(n for n, start in enumerate(self._starts) if start < found.end())
        if last + 1 == len(self._starts):
            return False
        one, other = (self.query[slice(*self._places[n])] for n in (last, last + 1))
        return one[0].isupper() and other[0].isupper() and other != "I"
