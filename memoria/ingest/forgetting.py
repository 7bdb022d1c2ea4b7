"""Delete memories, and leave in place what is more than a memory.

In: ids. Out: a `ForgetReport`. Writes. Queries: ``ingest.forget``, ``ingest.forget_edges``.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoria.graph.vocabulary import DIRECTIONAL
from memoria.ingest.rows import batches
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import MEMORY_PROPERTIES, ForgetReport

MAX_EDGES_AT_ONCE = 20_000


async def forget_memories(
    store: Store,
    ids: Sequence[str],
    *,
    scope: str,
    kinds: Sequence[str],
    batch_size: int,
    delete_foreign: bool,
) -> ForgetReport:
    """Delete memories with all their edges; see `GraphWriter.forget`.

    The edges of a memory with more than 20,000 of them are deleted in transactions of their own.
    """
    deleted = 0
    kept: list[str] = []
    for batch in batches(ids, batch_size):
        limits = {
            "delete_foreign": delete_foreign,
            "directional": list(DIRECTIONAL),
            "ids": batch,
            "max_edges": MAX_EDGES_AT_ONCE,
            "scope": scope,
        }
        parameters = {
            **limits,
            "cleared": {name: None for name in MEMORY_PROPERTIES if name != "id"},
            "kinds": list(kinds),
            "known": list(MEMORY_PROPERTIES),
        }
        while True:
            row = (await store.run(load("ingest.forget"), parameters))[0]
            if row["edges"] <= MAX_EDGES_AT_ONCE:
                break
            await store.run(load("ingest.forget_edges"), limits)
        deleted += row["deleted"]
        kept += row["kept"]
    return ForgetReport(deleted=deleted, kept=tuple(sorted(kept)))
