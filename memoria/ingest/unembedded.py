"""Find the memories that have no vector.

In: a scope and kinds. Out: their number, and their texts page by page. Reads only.
Queries: ``ingest.count_without_embedding``, ``ingest.without_embedding``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from memoria._support.checks import check_kind
from memoria.store import Store
from memoria.store.queries import load


def check_kinds_given(kinds: Sequence[str]) -> list[str]:
    """Return kinds that need not be declared, since nothing of these kinds is made."""
    return [check_kind(kind) for kind in kinds]


async def count_unembedded(store: Store, scope: str, kinds: list[str]) -> int:
    """Count the memories without a vector; no kinds: of all kinds."""
    parameters = {"scope": scope, "kinds": kinds}
    rows = await store.run(load("ingest.count_without_embedding"), parameters)
    count: int = rows[0]["count"]
    return count


async def pages_unembedded(
    store: Store, scope: str, kinds: list[str], size: int
) -> AsyncIterator[list[tuple[str, Any]]]:
    """Yield (id, text) of the memories without a vector, ``size`` at a time, by id."""
    parameters: dict[str, Any] = {"scope": scope, "kinds": kinds, "limit": size, "after": ""}
    while True:
        rows = (await store.run(load("ingest.without_embedding"), parameters))[0]["rows"]
        if not rows:
            return
        yield rows
        parameters["after"] = rows[-1][0]
