"""Compute spans of local time, such as weeks, seasons and holidays, and pick the one meant.

In: a local time without a zone, and the kind of span. Out: spans: first moment and end. Touches
nothing. A week begins on Monday; seasons are northern, in whole months.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

#: First moment, and the first moment after it; local times.
Span: TypeAlias = tuple[datetime, datetime]
#: ``begun``: the latest span that has begun; ``ended``: the latest that is over; ``next``: the
#: first that has not begun; ``this``: the current one, or else that of this week or year.
Which: TypeAlias = Literal["begun", "ended", "this", "next"]
_DAY = timedelta(days=1)
# The longest distance to a leap day, in years.
_YEARS = 8
_MONTHS_OF = {"month": 1, "quarter": 3, "year": 12}
# Month and day of the first day, and number of days.
_FIXED = {
    "christmas_eve": (12, 24, 1),
    "christmas": (12, 24, 3),
    "new_years_eve": (12, 31, 1),
    "new_year": (12, 31, 2),
    "valentine": (2, 14, 1),
    "halloween": (10, 31, 1),
}


def midnight(time: datetime) -> datetime:
    """Return the first moment of a day."""
    return time.replace(hour=0, minute=0, second=0, microsecond=0)


def unit_span(unit: str, now: datetime, offset: int = 0) -> Span:
    """Return the day, week, month or other unit that is ``offset`` units from now.

    An hour or a minute does not start on the full hour or minute: its moment is in the middle.

    >>> unit_span("week", datetime(2026, 5, 20, 14), -1)[0].isoformat()
    '2026-05-11T00:00:00'
    """
    if unit in ("minute", "hour"):
        one = timedelta(**{f"{unit}s": 1})
        return now + (offset - 0.5) * one, now + (offset + 0.5) * one
    day = midnight(now)
    if unit == "day":
        return day + offset * _DAY, day + (offset + 1) * _DAY
    if unit == "week":
        monday = day - day.weekday() * _DAY + 7 * offset * _DAY
        return monday, monday + 7 * _DAY
    length = _MONTHS_OF[unit]
    index = (day.year * 12 + day.month - 1) // length + offset
    return _month(index * length), _month((index + 1) * length)


def rolling(unit: str, now: datetime, number: int) -> Span:
    """Return the last ``number`` days, weeks and so on, up to the end of today."""
    if unit in ("minute", "hour"):
        return now - timedelta(**{f"{unit}s": number}), now + timedelta(minutes=1)
    day = midnight(now)
    if unit in ("day", "week"):
        return day - number * (7 if unit == "week" else 1) * _DAY, day + _DAY
    first = _month(day.year * 12 + day.month - 1 - number * _MONTHS_OF[unit])
    last_day = (_month(first.year * 12 + first.month) - _DAY).day
    return first.replace(day=min(day.day, last_day)), day + _DAY


def _month(index: int) -> datetime:
    """Return the first moment of a month, counted from the year 0."""
    return datetime(index // 12, index % 12 + 1, 1)


def months(year: int, first: int, number: int = 1) -> Span:
    """Return some months from a month on; they may extend into the next year."""
    index = year * 12 + first - 1
    return _month(index), _month(index + number)


def days(year: int, month: int, day: int, number: int = 1) -> Span:
    """Return some days from a date on."""
    first = datetime(year, month, day)
    return first, first + number * _DAY


def last_days(year: int, month: int, number: int) -> Span:
    """Return the last days of a month."""
    end = months(year, month)[1]
    return end - number * _DAY, end


def season(year: int, number: int) -> Span:
    """Return spring, summer, autumn or winter (0 to 3) of a year; winter begins in December."""
    return months(year, 3 + 3 * number, 3)


def third_of_month(year: int, month: int, number: int) -> Span:
    """Return the beginning, the middle or the end (0 to 2) of a month."""
    first, end = months(year, month)
    cuts = [first, first + 10 * _DAY, first + 20 * _DAY, end]
    return cuts[number], cuts[number + 1]


def holiday(year: int, name: str) -> Span:
    """Return the days of a holiday, by the date of the western churches."""
    if name != "easter":
        return days(year, *_FIXED[name])
    sunday = _easter(year)
    return sunday - 2 * _DAY, sunday + 2 * _DAY


def _easter(year: int) -> datetime:
    """Return Easter Sunday, by the rule of Gauss in the form of Meeus and Butcher."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    f = (b - (b + 8) // 25 + 1) // 3
    g = (19 * a + b - d - f + 15) % 30
    h, i = divmod(c, 4)
    j = (32 + 2 * e + 2 * h - g - i) % 7
    k = (a + 11 * g + 22 * j) // 451
    month, day = divmod(g + j - 7 * k + 114, 31)
    return datetime(year, month, day + 1)


def of_years(make: Callable[[int], Span], now: datetime) -> tuple[list[Span], int]:
    """Return a yearly span in the years around now, and the index of this year's span."""
    found: list[Span] = []
    middle = 0
    for year in range(now.year - _YEARS, now.year + _YEARS + 1):
        if year == now.year:
            middle = len(found)
        try:
            found.append(make(year))
        except ValueError:  # that year does not have the day, or the year is out of range
            continue
    return found, min(middle, len(found) - 1)


def of_weeks(first: int, number: int, now: datetime) -> tuple[list[Span], int]:
    """Return a weekly span from a weekday on, and the index of this week's span."""
    monday = unit_span("week", now)[0]
    begins = [monday + (7 * week + first) * _DAY for week in range(-2, 3)]
    return [(begin, begin + number * _DAY) for begin in begins], 2


def pick(spans: Sequence[Span], middle: int, now: datetime, which: Which) -> Span | None:
    """Return the span that ``which`` means, of spans in order; None if there is none."""
    if which == "this":
        inside = [span for span in spans if span[0] <= now < span[1]]
        return inside[-1] if inside else (spans[middle] if spans else None)
    if which == "next":
        return next((span for span in spans if span[0] > now), None)
    past = [span for span in spans if (span[0] if which == "begun" else span[1]) <= now]
    return past[-1] if past else None
