"""Another embedder for a database that is in use: `reembed`, and its end or its undoing.

In: a store, an embedder. Out: a `ReembedReport`. Writes vectors, their index, and the record of the
set-up. `memoria.ingest.reembed.record` has the states and what leads from one to the next.
"""

from memoria.ingest.reembed.calls import reembed
from memoria.ingest.reembed.ending import ReembedReport, finish_reembedding, roll_back_reembedding

__all__ = ["ReembedReport", "finish_reembedding", "reembed", "roll_back_reembedding"]
