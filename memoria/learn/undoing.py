"""Take back what was learned, event by event, the newest first.

In: a scope and a time. Out: an `UndoReport`. Writes the values that the log has from before.
Queries: ``learn.log``, ``learn.undo``.
"""

from __future__ import annotations

from datetime import datetime
from uuid import uuid4

from memoria.graph.vocabulary import DIRECTIONAL, clock_key
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import UndoReport


async def undo_since(store: Store, scope: str, since: datetime, now: datetime) -> UndoReport:
    """Undo the events of a scope from ``since`` on; both times are aware.

    Each event takes one transaction. The newest event comes first, so that each event finds the
    weights that it wrote, unless something else has written them since.
    """
    key = clock_key(scope)
    log = await store.run(load("learn.log"), {"key": key, "since": since})
    keys: list[str] = log[0]["events"]
    gone = log[0]["log_since"]
    log_since = None if gone is None else gone.to_native()
    undo = uuid4().hex
    events = restored = kept = 0
    for event in keys:
        parameters = {
            "directional": list(DIRECTIONAL),
            "event": event,
            "key": key,
            "now": now,
            "scope": scope,
            "undo": undo,
        }
        row = (await store.run(load("learn.undo"), parameters))[0]
        if row["undone"]:
            events += 1
            restored += row["restored"]
            kept += row["changes"] - row["restored"]
    return UndoReport(since=since, events=events, restored=restored, kept=kept, log_since=log_since)
