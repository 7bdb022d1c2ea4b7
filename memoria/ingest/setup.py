"""Make the schema that a first write finds missing.

In: an embedder, or memories that bring their vectors. Out: what was made. Writes the schema.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoria.embed import Embedder
from memoria.errors import AuthError, IndexNotReadyError, QueryError
from memoria.graph.schema import SchemaReport, apply_schema
from memoria.store import Store
from memoria.types import Memory


async def make_schema(
    store: Store, embedder: Embedder | None, memories: Sequence[Memory]
) -> SchemaReport:
    """Make the schema for the vectors of the embedder, or for those of the memories.

    Raises
    ------
    IndexNotReadyError
        This user may not set the database up; the message says who should.
    """
    sizes = (len(m.embedding) for m in memories if isinstance(m.embedding, tuple))
    size = None if embedder is not None else next(sizes, None)
    try:
        return await apply_schema(store, embedder=embedder, dimensions=size)
    except (AuthError, QueryError) as exc:
        if isinstance(exc, QueryError) and "AccessMode" not in str(exc):
            raise
        raise IndexNotReadyError(
            "this database is not set up, and this user may not set it up: run memoria init "
            f"(from Python: apply_schema) as a user who may ({exc})"
        ) from exc
