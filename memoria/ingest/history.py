"""Write the history of a scope from an export: suppressions, active pairs, clocks.

In: suppressions, pairs, clocks. Out: the number written.
Writes each batch in one transaction, which may be repeated. Queries: ``ingest.history``,
``ingest.clock``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from memoria.graph.vocabulary import DIRECTIONAL, clock_key
from memoria.ingest.rows import pair_row, suppression_row
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import CoActivation, HistoryItem, ScopeClock, Suppression, WriteReport

T = TypeVar("T", Suppression, CoActivation)


async def write_history(
    store: Store, scope: str, items: Sequence[HistoryItem], *, now: datetime, skip_missing: bool
) -> tuple[WriteReport, frozenset[str]]:
    """Write items; return counts, and the ends of suppressions and pairs that don't exist.

    If an end is missing, no suppression or pair is written. With ``skip_missing``, the items whose
    ends exist are written.
    """
    suppressions = {
        (item.source, item.target, item.suppresses): item
        for item in items
        if isinstance(item, Suppression)
    }
    pairs = {(item.source, item.target): item for item in items if isinstance(item, CoActivation)}
    joined: list[Suppression | CoActivation] = [*suppressions.values(), *pairs.values()]
    ids = sorted({end for item in joined for end in (item.source, item.target)})
    place = {id_: number for number, id_ in enumerate(ids)}

    def rows(values: Sequence[T], row: Callable[[T], dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {**row(item), "source": place[item.source], "target": place[item.target]}
            for item in values
        ]

    written = 0
    missing: list[str] = []
    if joined:
        parameters = {
            "directional": list(DIRECTIONAL),
            "ids": ids,
            "now": now,
            "pairs": rows(list(pairs.values()), pair_row),
            "scope": scope,
            "skip_missing": skip_missing,
            "suppressions": rows(list(suppressions.values()), suppression_row),
        }
        done = (await store.run(load("ingest.history"), parameters))[0]
        written, missing = done["written"], done["missing"]
    for clock in items:
        if isinstance(clock, ScopeClock):
            parameters = {**clock.stored(), "key": clock_key(scope), "scope": scope}
            written += (await store.run(load("ingest.clock"), parameters))[0]["written"]
    return WriteReport(restored=written), frozenset(missing)
