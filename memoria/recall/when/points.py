"""Turn the words of a time phrase into a span of time.

In: a match of a pattern, and the meanings of its words. Out: a `Point`. Touches nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

from memoria.recall.when import calendar
from memoria.recall.when.calendar import Span, Which
from memoria.recall.when.grammar import DAYS, HOLIDAYS, UNITS

#: Local time to look from -> span, or None if there is none.
Resolve: TypeAlias = Callable[[datetime], Span | None]

_DIGITS = re.compile(
    r"(?P<y>(?:19|20)\d\d) - (?P<m>\d\d)(?: - (?P<d>\d\d))?(?= )(?! -)"
    r"|(?P<first>\d\d?) (?P<sign>[./]) (?P<second>\d\d?) (?P=sign) (?P<year>(?:19|20)\d\d)(?= )"
)
_MONTHS, _DAYS_OF_WEEK = 12, 7
# At most as long as from one span that recurs to the next: two Easters may be 350 days apart.
_WEEK, _YEAR = timedelta(days=7), timedelta(days=350)
# "A few weeks ago" means 6 to 2 weeks ago; "the last few weeks" means the last 6.
_FEW = (6, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A named span of time.

    Attributes
    ----------
    resolve
        Returns the span.
    end
        Position where the words that name it end.
    floats
        Whether it recurs, so that the other point of a range decides which one is meant.
    every
        How often it recurs if its words leave open which one is meant; otherwise None.
    """

    resolve: Resolve
    end: int
    floats: bool = False
    every: timedelta | None = None

    def meant(self, now: datetime, *, ahead: bool) -> Span | None:
        """Return the span; if the words leave open which one, with ``ahead`` the first not over."""
        span, seen_from = self.resolve(now), now
        while ahead and self.every is not None and span is not None and span[1] <= now:
            seen_from += self.every
            span = self.resolve(seen_from)
        return span


def dated(text: str, start: int, *, month_first: bool) -> Point | None:
    """Return the date in digits at a position; None if there is none or its order is ambiguous.

    Parameters
    ----------
    month_first
        Whether 3/14/2026 can be a date; then 3/4/2026 is ambiguous.
    """
    found = _DIGITS.match(text, start)
    if found is None:
        return None
    if found["y"]:
        year, month = int(found["y"]), int(found["m"])
        if not found["d"]:
            return Point(resolve=lambda _: calendar.months(year, month), end=found.end())
        day = int(found["d"])
    else:
        year, day, month = (int(found[name]) for name in ("year", "first", "second"))
        if found["sign"] == "/" and month_first:
            if day <= _MONTHS and month <= _MONTHS and day != month:
                return None
            day, month = (month, day) if month > _MONTHS else (day, month)
    return Point(resolve=lambda _: calendar.days(year, month, day), end=found.end())


def named(
    kind: str, found: re.Match[str], meaning: Mapping[str, Mapping[str, int]]
) -> Point | None:
    """Return the point that a phrase names; None if it is not a time, such as "the last day"."""
    groups = {name: word for name, word in found.groupdict().items() if word is not None}
    values = {name: meaning[name].get(groups[name], 0) for name in groups if name in meaning}
    resolve: Resolve | None
    floats, every = False, None
    if kind == "day":
        resolve = partial(_unit, "day", DAYS[values["day"]])
    elif kind == "night":
        resolve = _last_night
    elif kind in ("past", "ago", "ahead"):
        word = groups.get("n", "")
        resolve = _counted(
            kind, UNITS[values["u"]], int(word) if word.isdecimal() else values.get("n", 1)
        )
    elif kind in ("prev", "this", "next") and "u" in values:
        resolve = _neighbour(kind, UNITS[values["u"]])
    elif kind == "week after":
        resolve = partial(_of_last_week, values["w"])
    else:
        resolve, floats = _recurring(kind, groups, values)
        if floats and kind not in ("prev", "this", "next"):
            every = _WEEK if "w" in values or "e" in groups else _YEAR
    if resolve is None:
        return None
    return Point(resolve=resolve, end=found.end(), floats=floats, every=every)


def _unit(unit: str, offset: int, now: datetime) -> Span:
    return calendar.unit_span(unit, now, offset)


def _last_night(now: datetime) -> Span:
    today = calendar.midnight(now)
    return today - timedelta(hours=6), today + timedelta(hours=6)


def _of_last_week(weekday: int, now: datetime) -> Span:
    monday = calendar.unit_span("week", now, -1)[0]
    return monday + timedelta(days=weekday), monday + timedelta(days=weekday + 1)


def _counted(kind: str, unit: str, number: int) -> Resolve:
    """Return the span a number of units away; 0 stands for "a few"."""
    if kind == "past":
        return lambda now: calendar.rolling(unit, now, number or _FEW[0])
    if kind == "ahead":
        return partial(_unit, unit, number or _FEW[0])
    if number:
        return partial(_unit, unit, -number)
    far, near = _FEW
    return lambda now: (
        calendar.unit_span(unit, now, -far)[0],
        calendar.unit_span(unit, now, -near)[1],
    )


def _neighbour(kind: str, unit: str) -> Resolve | None:
    """Return the last, this or the next unit; None for "the last day" and "this minute"."""
    if unit in ("minute", "day"):
        return None
    if unit == "hour":
        return (lambda now: calendar.rolling("hour", now, 1)) if kind == "prev" else None
    return partial(_unit, unit, {"prev": -1, "this": 0, "next": 1}[kind])


def _recurring(
    kind: str, groups: Mapping[str, str], values: Mapping[str, int]
) -> tuple[Resolve | None, bool]:
    """Return a weekly or yearly span, and whether it floats."""
    which: Which = "begun"
    if kind in ("prev", "this", "next"):
        which = {"prev": "ended", "this": "this", "next": "next"}[kind]  # type: ignore[assignment]
    if "w" in values or "e" in groups:
        first, number = (values["w"], 1) if "w" in values else (5, 2)
        meant: Which = "ended" if "w" in values and which == "begun" else which

        def of_weeks(now: datetime) -> Span | None:
            return calendar.pick(*calendar.of_weeks(first, number, now), now, meant)

        return of_weeks, True
    make = _of_year(kind, groups, values)
    if make is None:
        return None, False
    if "y" in groups:
        return (lambda _: make(int(groups["y"]))), False
    if "ly" in groups or "ty" in groups:
        return (lambda now: make(now.year - ("ly" in groups))), False
    return (lambda now: calendar.pick(*calendar.of_years(make, now), now, which)), which == "begun"


def _of_year(
    kind: str, groups: Mapping[str, str], values: Mapping[str, int]
) -> Callable[[int], Span] | None:
    """Return a function from a year to the span that a phrase names in it."""
    month, day = values.get("m", 0) + 1, int(groups.get("d", 0))
    if kind.startswith("part"):
        return lambda year: calendar.third_of_month(year, month, int(kind[-1]))
    if kind in ("first", "final"):
        days = {"day": 1, "week": _DAYS_OF_WEEK}.get(UNITS[values["u"]])
        if days is None:
            return None
        if kind == "first":
            return lambda year: calendar.days(year, month, 1, days)
        return lambda year: calendar.last_days(year, month, days)
    if kind == "spans":
        number = int(groups["d2"]) - day + 1
        return (lambda year: calendar.days(year, month, day, number)) if number > 0 else None
    if kind == "dates":
        return lambda year: calendar.days(year, month, day)
    if "qn" in groups or "q" in values:
        quarter = int(groups["qn"]) - 1 if "qn" in groups else values["q"]
        return lambda year: calendar.months(year, 3 * quarter + 1, 3)
    if "m" in values:
        return lambda year: calendar.months(year, month)
    if "s" in values:
        return lambda year: calendar.season(year, values["s"])
    if "h" in values:
        return lambda year: calendar.holiday(year, HOLIDAYS[values["h"]])
    return lambda year: calendar.months(year, 1, 12)
