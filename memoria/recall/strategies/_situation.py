"""What a score of relevance uses of a memory in addition to its activation.

In: a row of ``strategies.situation``, with whatever values any writer gave the memory. Out: a
`Situation`, and the parts of its score. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memoria._support import foreign
from memoria.formulas import base_level, situation


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What is known of a memory at present; a value that is not known counts as neutral.

    Attributes
    ----------
    when
        Predicates under which the memory holds.
    age_hours
        Hours since it was made; None if not known.
    confirmed, overridden
        How often it was said to have helped, and how often to have been wrong.
    priority
        0 to 1; None if not known.
    """

    when: Mapping[str, Any] = field(default_factory=dict)
    uses: int = 0
    age_hours: float | None = None
    confirmed: int = 0
    overridden: int = 0
    priority: float | None = None
    kinds: tuple[str, ...] = ()

    def parts(self, activation: float, context: Mapping[str, Any]) -> dict[str, float]:
        """Return the four parts of the score, each in [0, 1], before they are weighted.

        Parameters
        ----------
        activation
            Activation of the memory after the sigmoid; 0 to 1.
        context
            The present situation, with which the predicates are compared.

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
    """Read the rows of ``strategies.situation``; a value of the wrong type counts as missing.

    Parameters
    ----------
    now_s
        The present; seconds since 1970.
    """
    return {row[0]: _situation(row[1:], now_s) for row in rows}


def _situation(row: Sequence[Any], now_s: float) -> Situation:
    labels, category, priority, when, age_hours, use_count, use_times, confirmed, overridden = row
    times = foreign.numbers(use_times)
    category, priority = foreign.string(category), foreign.number(priority)
    if age_hours is None and times:  # the memory is at least as old as its first use
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
