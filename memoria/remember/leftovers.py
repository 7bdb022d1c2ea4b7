"""Forget the further parts of a text that has become shorter.

In: ids of memories. Out: a `ForgetReport`. Writes. Queries: ``ingest.forget*``.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoria.ingest import BatchWriter
from memoria.ingest.forgetting import Forgetting
from memoria.store import Store
from memoria.types import ForgetReport


async def forget_leftovers(batches: BatchWriter, store: Store, ids: Sequence[str]) -> ForgetReport:
    """Forget parts that a text no longer has, in the scope and with the kinds of a writer."""
    forgetting = Forgetting(
        store=store,
        scope=batches.scope,
        kinds=batches.kinds,
        batch_size=batches.batch_size,
        delete_foreign=False,
    )
    return await forgetting.memories(ids)
