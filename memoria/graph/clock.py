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


async def advance_clock(store: Store, *, scope: str, now: datetime) -> float:
    """Note that the scope is in use now, and return the hour of its clock.

    The first use of a scope is hour 0. Between two uses the clock runs with the wall clock, but
    for one hour at most: a scope that rested for a week ages by one hour, like a scope that rested
    for an hour.

    Parameters
    ----------
    now
        Time of this use; aware. A time before the last use, such as from a computer whose clock is
        slow, changes nothing.

    Returns
    -------
    float
        Active hours, >= 0; never fewer than at the last call.
    """
    parameters = {
        "key": clock_key(scope),
        "max_pause": MAX_PAUSE_HOURS,
        "now": now.astimezone(UTC),
        "scope": scope,
    }
    rows = await store.run(load("graph.advance_clock"), parameters)
    hours: float = rows[0]["active_hours"]
    return hours
