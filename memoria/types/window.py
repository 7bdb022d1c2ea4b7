"""The time that a question is about.

Times are aware; what is open has no end there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWindow:
    """What a phrase of time in a question means.

    Attributes
    ----------
    phrase
        The words of the question, such as ``last week``.
    starts
        The first moment inside, in UTC; None: whatever is earlier than ``ends``.
    ends
        The first moment after it, in UTC; None: whatever is not earlier than ``starts``.
    only
        Whether the question asks for nothing but what was at that time.
    """

    phrase: str
    starts: datetime | None
    ends: datetime | None
    only: bool = False

    def has(self, time: datetime | None) -> bool:
        """Tell whether an aware time is inside; no time is not."""
        return (
            time is not None
            and (self.starts is None or time >= self.starts)
            and (self.ends is None or time < self.ends)
        )

    def __str__(self) -> str:
        parts = [f"from {self.starts:%Y-%m-%d %H:%M}"] if self.starts else []
        parts += [f"before {self.ends:%Y-%m-%d %H:%M}"] if self.ends else []
        return f"'{self.phrase}' is {' and '.join(parts)} (UTC)"
