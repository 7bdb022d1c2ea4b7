"""Which memories take part in a recall: those that hold.

In: a time, and what a situation rules out. Out: the parameter ``held`` of queries. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """When memories must hold, and under which conditions.

    A memory does not hold once another memory has superseded it (``superseded_at``), or once it is
    outdated (``valid_until``). Without any field, every memory holds.

    Attributes
    ----------
    at
        The time at which memories must hold; aware. None: superseded and outdated memories count
        as the others do.
    made_by
        Memories with a later ``created_at`` are left out, those without one are not; aware. None:
        none is left out.
    outside
        Memories whose ``when``, as it is stored, is one of these texts are left out.
    """

    at: datetime | None = None
    made_by: datetime | None = None
    outside: Sequence[str] = ()

    @classmethod
    def now(cls) -> Self:
        """Return what holds at present."""
        return cls(at=datetime.now(UTC))

    @property
    def leaves_out(self) -> bool:
        """Whether any memory may be left out."""
        return self != Validity()

    @property
    def held(self) -> dict[str, Any]:
        """Return the parameter of queries.

        ``plain`` saves a query the reading of what only ``made_by`` and ``outside`` need.
        """
        return {
            "at": self.at and self.at.astimezone(UTC),
            "made_by": self.made_by,
            "outside": list(self.outside),
            "plain": self.made_by is None and not self.outside,
        }
