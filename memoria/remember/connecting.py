"""Write the connectors that memories need: most of them stand already.

In: connectors. Out: the query that writes those that are new, with its parameters. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memoria.ingest.rows import utc
from memoria.store import Call, Rows
from memoria.store.queries import load
from memoria.types import Memory


def connecting(scope: str, connectors: Iterable[Memory], *, now: datetime) -> Call:
    """Return the call of ``remember.connectors``, to be made in the transaction of the memories."""
    rows = Rows(
        {"id": each.id, "kind": each.kind, "name": each.text, "created_at": utc(each.created_at)}
        for each in sorted(connectors, key=lambda each: each.id)
    )
    parameters = {"rows": rows, "scope": scope, "now": now}
    return load("remember.connectors"), parameters
