"""What a score of relevance knows of a memory besides its activation.

In: a row of ``strategies.situation``, as any writer may have left the node. Out: a `Situation`, and
the parts of its score. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memoria._support import foreign
from memoria.formulas import base_level, situation


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A memory as it stands to the present; what is not known of it is neutral.

    Attributes
    ----------
    when
        Predicates under which it holds.
    uses
        Times it was used.
    age_hours
        Hours since it was made, or None.
    confirmed, overridden
        Times it was said to have helped, and to have been wrong.
    priority
        0 to 1, or None.
    kinds
        Its kind and its category.
    """

    when: Mapping[str, Any] = field(default_factory=dict)
    uses: int = 0
    age_hours: float | None = None
    confirmed: int = 0
    overridden: int = 0
    priority: float | None = None
    kinds: tuple[str, ...] = ()

    def parts(self, activation: float, context: Mapping[str, Any]) -> dict[str, float]:
        """Return the four parts of its score, each in [0, 1], before they are weighted.

        Parameters
        ----------
        activation
            Of the memory, squashed; 0 to 1.
        context
            What its predicates are compared with.

        Notes
        -----
        Source: 003, relevance scoring.
        """
        return {
            "context": activation * situation.match(self.when, context),
            "base_level": base_level.base_level_share(self.uses, self.age_hours),
            "feedback": situation.feedback_share(self.confirmed, self.overridden),
            "priority": situation.priority_share(self.priority, self.kinds),
        }


NOTHING_KNOWN = Situation()


def situations_of(rows: Sequence[Sequence[Any]], now_s: float) -> dict[str, Situation]:
    """Read the rows of ``strategies.situation``; a property of another type reads as missing.

    Parameters
    ----------
    now_s
        The present; seconds since 1970.
    """
    return {row[0]: _situation(row[1:], now_s) for row in rows}


def _situation(row: Sequence[Any], now_s: float) -> Situation:
    labels, category, priority, when, age_hours, use_count, use_times, confirmed, overridden = row
    listed = use_times if isinstance(use_times, list) else ()
    times = [time for time in map(foreign.number, listed) if time is not None]
    category, priority = foreign.string(category), foreign.number(priority)
    if age_hours is None and times:  # it is at least as old as its first use
        age_hours = (now_s - min(times)) / 3600
    return Situation(
        when=foreign.json_map(when),
        uses=max(foreign.count(use_count), len(times)),
        age_hours=age_hours,
        confirmed=foreign.count(confirmed),
        overridden=foreign.count(overridden),
        priority=None if priority is None else min(max(priority, 0.0), 1.0),
        kinds=(*map(str, labels), *([] if category is None else [category])),
    )
