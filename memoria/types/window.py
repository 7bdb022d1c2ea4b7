"""The time that a question is about: a span, and whether it is the present.

Times are aware; an open side is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

#: Whether a question is about the present, the past, or the course of something.
Tense: TypeAlias = Literal["present", "past", "course"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWindow:
    """The span of time that a phrase in a question means.

    Attributes
    ----------
    phrase
        The words of the question, such as ``last week``.
    starts
        The first moment inside, in UTC; None: any time before ``ends``.
    ends
        The first moment after it, in UTC; None: any time from ``starts`` on.
    only
        Whether the question asks for nothing but memories of that time.
    """

    phrase: str
    starts: datetime | None
    ends: datetime | None
    only: bool = False

    def has(self, time: datetime | None) -> bool:
        """Tell whether an aware time is inside; False if there is no time."""
        return (
            time is not None
            and (self.starts is None or time >= self.starts)
            and (self.ends is None or time < self.ends)
        )

    def __str__(self) -> str:
        parts = [f"from {self.starts:%Y-%m-%d %H:%M}"] if self.starts else []
        parts += [f"before {self.ends:%Y-%m-%d %H:%M}"] if self.ends else []
        return f"'{self.phrase}' is {' and '.join(parts)} (UTC)"


@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """The time of a question.

    It has both for a course, for a question about the present that names today, and for one in the
    future tense that asks for more than a time.
    """

    window: TimeWindow | None = None
    tense: Tense | None = None

    @property
    def is_only(self) -> bool:
        """Whether the question asks for nothing but memories of its window."""
        return self.window is not None and self.window.only


#: A question that says nothing about time.
ANY_TIME = When()
