"""The clock of a scope: it runs while the scope is in use.

In: a scope and the time. Out: hours of use. Writes one node per scope.
Query: ``graph.advance_clock``.
"""

from __future__ import annotations

from datetime import UTC, datetime

from memoria.formulas.recency import MAX_PAUSE_HOURS
from memoria.graph.vocabulary import clock_key
from memoria.store import Store
from memoria.store.queries import load


async def advance_clock(
    store: Store, *, scope: str, now: datetime, until: float | None = None
) -> float:
    """Say that the scope is in use now, and read its clock.

    The first use of a scope is hour 0. From one use to the next the clock runs with the wall
    clock, but for an hour at most: a scope that rested for a week is an hour older, as is one that
    rested for an hour.

    Parameters
    ----------
    now
        Aware; one before the last use, as of a computer whose clock is behind, changes nothing.

    Returns
    -------
    float
        Active hours, >= 0; never less than before.
    """
    parameters = {
        "key": clock_key(scope),
        "max_pause": MAX_PAUSE_HOURS,
        "now": now.astimezone(UTC),
        "scope": scope,
    }
    rows = await store.run(load("graph.advance_clock"), parameters, until=until)
    hours: float = rows[0]["active_hours"]
    return hours
