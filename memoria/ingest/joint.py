"""Write memories with their relations, all of them or nothing.

In: `Memory` and `Relation` values, queries of the caller. Out: a `WriteReport`.
Writes, in one transaction a call. Queries: ``ingest.memories``, ``ingest.relations``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from memoria.errors import DimensionError
from memoria.graph.server_facts import replaced_error
from memoria.ingest.batch_writer import BatchWriter
from memoria.ingest.checks import missing_error
from memoria.store import Call
from memoria.store.queries import load
from memoria.types import Memory, Relation, WriteReport

#: Queries with their parameters, and what looks at the records of all; see
#: `JointWriter.write_together`.
Guard = tuple[Sequence[Call], Callable[[Sequence[Sequence[Mapping[str, Any]]]], None]]


class JointWriter(BatchWriter):
    """Writes what the writers of conversations and documents have planned."""

    async def write_together(
        self,
        memories: Sequence[Memory],
        relations: Sequence[Relation],
        *,
        guard: Guard | None = None,
        skip_missing: bool = False,
        undated: Collection[str] = (),
        vectors: Mapping[str, Sequence[float]] | None = None,
    ) -> WriteReport:
        """Write checked memories and relations in one transaction, then link the memories.

        Parameters
        ----------
        guard
            Queries that run first in the transaction, and a function that gets their records. If
            that function raises, nothing was written.
        skip_missing
            Leave out relations of which an end is missing, instead of raising.
        undated
            Ids of memories whose time nobody knows: new ones stay without a time.
        vectors
            Text -> its vector, as `make_vectors` returns them, so that none can belong to another
            text. Others are made.

        Raises
        ------
        InvalidInputError
            An end of a relation is missing. Nothing was written.
        """
        made, _ = await self.set_up(memories)
        nodes, embedded = await self._memory_parameters(memories, undated, vectors)
        edges = self._relation_parameters(relations, skip_missing=skip_missing)

        def check(results: Sequence[Sequence[Mapping[str, Any]]]) -> None:
            if guard is not None:
                guard[1](results[:-2])
            if results[-2][0]["written"] < len(nodes["rows"]):
                raise replaced_error()
            if (missing := results[-1][0]["missing"]) and not skip_missing:
                raise missing_error(frozenset(missing), self.scope)

        query = load("ingest.memories").at(self.generation)
        calls = [(query, nodes), (load("ingest.relations"), edges)]
        first = [] if guard is None else guard[0]
        try:
            with self._recorded(len(memories)):
                results = await self._store.run_together([*first, *calls], check=check)
        except DimensionError:
            await self.check_still_live()
            raise
        stored, joined = results[-2][0], results[-1][0]
        done = WriteReport(
            memories=stored["written"],
            memories_created=stored["created"],
            relations=joined["written"],
            relations_created=joined["created"],
            embedded=embedded,
            schema_created=made,
        )
        return await self._linked(done, memories)

    async def make_vectors(
        self, memories: Sequence[Memory]
    ) -> tuple[dict[str, list[float]], WriteReport]:
        """Return the vectors that `write_together` would make, by text; and what was done.

        For a caller whose write may have to be repeated: the texts are embedded once. A memory
        whose text is stored with a vector gets none.
        """
        made, _ = await self.set_up(memories)
        vectors = await self._make_vectors(memories)
        by_text = {memory.text: vectors[memory.id] for memory in memories if memory.id in vectors}
        return by_text, WriteReport(embedded=len(vectors), schema_created=made)
