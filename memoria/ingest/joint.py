"""Write memories with their relations, all of them or nothing.

In: `Memory` and `Relation` values. Out: a `WriteReport`.
Writes within a transaction of the caller's. Queries: ``ingest.memories``, ``ingest.relations``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from memoria.errors import DimensionError
from memoria.graph.server_facts import replaced_error
from memoria.ingest.batch_writer import BatchWriter
from memoria.ingest.checks import missing_error
from memoria.ingest.forgetting import Forgetting
from memoria.store import Transaction, Work
from memoria.store.queries import Query, load
from memoria.types import Memory, Relation, WriteReport

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Joint:
    """Checked memories and relations, ready to be written together.

    Attributes
    ----------
    query
        ``ingest.memories``, for the vectors that are live.
    nodes, edges
        Parameters of that query, and of ``ingest.relations``.
    before
        What was done to prepare them.
    owed
        After the write: whether earlier writes of the scope have left vectors to be made.
    """

    memories: Sequence[Memory]
    query: Query
    nodes: Mapping[str, Any]
    edges: Mapping[str, Any]
    before: WriteReport
    owed: bool = False

    async def write(self, transaction: Transaction) -> WriteReport:
        """Write all of them; return this and what was done before.

        Raises
        ------
        InvalidInputError
            An end of a relation is missing.
        DimensionError
            The vectors of another embedder are live by now.
        """
        stored = (await transaction.run(self.query, self.nodes))[0]
        if stored["written"] < len(self.nodes["rows"]):
            raise replaced_error()
        self.owed = stored["owed"]
        joined = (await transaction.run(load("ingest.relations"), self.edges))[0]
        if joined["missing"] and not self.edges["skip_missing"]:
            raise missing_error(joined["missing"], self.edges["scope"])
        return self.before.plus(
            WriteReport(
                memories=stored["written"],
                memories_created=stored["created"],
                relations=joined["written"],
                relations_created=joined["created"],
            )
        )


class JointWriter(BatchWriter):
    """Writes what the writers of conversations and documents have planned."""

    async def prepare(
        self,
        memories: Sequence[Memory],
        relations: Sequence[Relation],
        *,
        skip_missing: bool = False,
        undated: Collection[str] = (),
        vectors: Mapping[str, Sequence[float] | None] | None = None,
    ) -> Joint:
        """Make what is missing to write checked memories and relations: schema and vectors.

        Parameters
        ----------
        skip_missing
            Leave out relations of which an end is missing, instead of raising.
        undated
            Ids of memories whose time nobody knows: new ones stay without a time.
        vectors
            Text -> its vector, as `make_vectors` returns them, so that none can belong to another
            text. Others are made.
        """
        made, _ = await self.set_up(memories)
        nodes, embedded = await self._memory_parameters(memories, undated, vectors)
        return Joint(
            memories=memories,
            query=load("ingest.memories").at(self.generation),
            nodes=nodes,
            edges=self._relation_parameters(relations, skip_missing=skip_missing),
            before=embedded.plus(WriteReport(schema_created=made)),
        )

    async def commit(self, work: Work[T], joint: Joint, *, name: str) -> tuple[T, WriteReport]:
        """Do work in one transaction that also writes ``joint``, then link its memories.

        Parameters
        ----------
        name
            Name of the transaction: as a rule its first query.

        Returns
        -------
        tuple
            What the work returned; and the links, and the vectors made for earlier writes.
        """
        try:
            with self._recorded(len(joint.memories)):
                done = await self._store.write(work, name=name)
        except DimensionError:
            await self.check_still_live()
            raise
        links = await self._linked(WriteReport(), joint.memories)
        owed = joint.owed and not joint.before.pending_vectors
        return done, links.plus(await self.settled(owed=owed))

    def forgetting(self) -> Forgetting:
        """Return what forgets parts that a text no longer has; more than a memory stays."""
        return Forgetting(
            store=self._store,
            scope=self.scope,
            kinds=self.kinds,
            batch_size=self.batch_size,
            delete_foreign=False,
        )

    async def make_vectors(
        self, memories: Sequence[Memory]
    ) -> tuple[dict[str, Sequence[float] | None], WriteReport]:
        """Return the vectors that `prepare` would make, by text; and what was done.

        For a caller whose write may have to be repeated: the texts are embedded once. A memory
        whose text is stored with a vector gets none; None stands for a vector that the embedder
        failed to make, which `prepare` counts as pending.
        """
        made, _ = await self.set_up(memories)
        vectors = await self._make_vectors(memories)
        tried = vectors.by_id.keys() | vectors.pending
        by_text = {each.text: vectors.by_id.get(each.id) for each in memories if each.id in tried}
        done = replace(vectors.report, pending_vectors=0)
        return by_text, done.plus(WriteReport(schema_created=made))
