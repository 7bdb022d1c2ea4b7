"""What forgets the parts that a text no longer has.

In: a writer. Out: a `Forgetting` of its scope. Touches nothing by itself.
"""

from __future__ import annotations

from memoria.ingest import BatchWriter
from memoria.ingest.forgetting import Forgetting
from memoria.store import Store


def forgetting_of(batches: BatchWriter, store: Store) -> Forgetting:
    """Forget in the scope and with the kinds of a writer, and leave what is more than a memory."""
    return Forgetting(
        store=store,
        scope=batches.scope,
        kinds=batches.kinds,
        batch_size=batches.batch_size,
        delete_foreign=False,
    )
