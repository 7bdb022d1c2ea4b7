"""Write the connectors that memories need, of which most exist already.

In: connectors. Out: how many were new. Writes, in a transaction of the caller's. Query:
``remember.connectors``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memoria.ingest.rows import utc
from memoria.store import Rows, Transaction
from memoria.store.queries import load
from memoria.types import Memory


async def write_connectors(
    transaction: Transaction, scope: str, connectors: Iterable[Memory], *, now: datetime
) -> int:
    """Write connectors; return how many did not exist before."""
    rows = Rows(
        {"id": each.id, "kind": each.kind, "name": each.text, "created_at": utc(each.created_at)}
        for each in sorted(connectors, key=lambda each: each.id)
    )
    parameters = {"rows": rows, "scope": scope, "now": now}
    created: int = (await transaction.run(load("remember.connectors"), parameters))[0]["created"]
    return created
