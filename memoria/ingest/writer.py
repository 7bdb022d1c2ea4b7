"""Write memories and relations into one scope of the graph.

In: `Memory` and `Relation` values. Out: a `WriteReport`.
Writes in batches. Each batch is one transaction, which may be repeated without harm. Queries:
``ingest.*``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TypedDict

from memoria._support.checks import check_ids, check_scope, check_whole
from memoria._support.progress import ProgressCallback, silent
from memoria.embed import Embedder, check_vectors, checked_embedder
from memoria.errors import ConfigError
from memoria.graph.schema import record_embedder
from memoria.graph.server import (
    check_embedder,
    require_online,
    require_ready,
    server_facts,
    was_set_up,
)
from memoria.graph.vocabulary import (
    DEFAULT_KINDS,
    ORIGIN_INGEST,
    UNIQUE_INDEX,
    VECTOR_INDEX,
    scope_key,
)
from memoria.ingest.checks import (
    check_kinds,
    check_list,
    check_memory,
    check_relation,
    has_ends,
    missing_error,
    passes,
)
from memoria.ingest.forgetting import forget_memories
from memoria.ingest.history import write_history
from memoria.ingest.rows import batches, memory_row, relation_row
from memoria.ingest.setup import make_schema
from memoria.ingest.unembedded import (
    check_kinds_given,
    count_unembedded,
    embed_stored,
    texts_to_embed,
)
from memoria.store import Rows, ServerFacts, StoreOrDriver, store_of
from memoria.store.queries import load
from memoria.types import (
    ForgetReport,
    HistoryItem,
    Memory,
    MemoryLinker,
    Relation,
    WriteReport,
)

EMBED_BATCH = 128


class WriterOptions(TypedDict, total=False):
    """The options of a `GraphWriter` in addition to store, scope and embedder."""

    kinds: Sequence[str]
    batch_size: int
    linker: MemoryLinker | None
    clock: Callable[[], datetime]


class GraphWriter:
    """Writes memories and relations of one scope.

    If the database has none of memoria's indexes, the first batch creates them (`apply_schema`),
    and its report names them.

    Parameters
    ----------
    store
        A `Store`, such as the store of a retriever, or an open driver of your own.
    embedder
        Makes the vectors of memories that come without one; None makes no vectors.
    kinds
        The kind labels that memories may have. The writer may also remove these labels from a
        node.
    batch_size
        Largest number of memories or relations in one transaction; 1 to 10,000.
    linker
        A `Linker` of the same scope, which links each batch once it is written: the memories that
        are new or whose text changed. None links nothing.
    clock
        Gives ``created_at`` for memories and relations without one; aware.
    database
        Name of the database, on a driver of your own; None for ``neo4j``.
    """

    def __init__(
        self,
        store: StoreOrDriver,
        *,
        scope: str,
        embedder: Embedder | None = None,
        kinds: Sequence[str] = DEFAULT_KINDS,
        batch_size: int = 1_000,
        linker: MemoryLinker | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        database: str | None = None,
    ) -> None:
        check_whole(batch_size, "batch_size", low=1, high=10_000, error=ConfigError)
        self.scope = check_scope(scope)
        self.kinds = check_kinds(kinds)
        if linker is not None and linker.scope != self.scope:
            raise ConfigError(f"the linker is for scope {linker.scope!r}, not {self.scope!r}")
        self.linker = linker
        self.embedder = None if embedder is None else checked_embedder(embedder)
        self.batch_size = batch_size
        # Embedding takes milliseconds for each memory. Small batches keep the work small that is
        # lost in an interruption.
        self.memory_batch_size = batch_size if embedder is None else min(batch_size, EMBED_BATCH)
        self._store = store_of(store, database)
        self._clock = clock
        self._facts: ServerFacts | None = None

    async def write(
        self,
        memories: Iterable[Memory],
        relations: Iterable[Relation] = (),
        *,
        skip_invalid: bool = False,
    ) -> WriteReport:
        """Write memories, then relations; those that exist are updated.

        After an error, the batches before it stay written; writing the same values again completes
        the rest. A memory that has a vector for the same text is not embedded again. A memory
        whose text changed loses its old vector.

        Parameters
        ----------
        skip_invalid
            Leave out and count memories and relations that are not valid, instead of raising.

        Raises
        ------
        InvalidInputError
            A kind that was not declared, an edge from a memory to itself, or an edge whose
            ends are not both in this scope. The message names the missing ids; nothing of the
            batch of that edge is written.
        DimensionError
            A vector, or the embedder, does not fit the index.
        IndexNotReadyError
            An index is not online, or the database is not set up and this user may not set it up.
        """
        check_list(memories, Memory)
        check_list(relations, Relation)
        await self.ready()
        report = WriteReport()
        seen: set[str] = set()
        for batch in batches(memories, self.memory_batch_size):
            valid = [m for m in batch if passes(self.check_memory, m, skip_invalid=skip_invalid)]
            before = len(seen)
            seen.update(memory.id for memory in valid)
            report = report.plus(await self.write_memory_batch(valid)).plus(
                WriteReport(
                    skipped=len(batch) - len(valid),
                    duplicates=len(valid) - (len(seen) - before),
                )
            )
        for edges in batches(relations, self.batch_size):
            good = [e for e in edges if passes(check_relation, e, skip_invalid=skip_invalid)]
            done, missing = await self.write_relation_batch(good, skip_missing=skip_invalid)
            if missing and not skip_invalid:
                raise missing_error(missing, self.scope)
            skipped = len(edges) - sum(has_ends(edge, missing) for edge in good)
            report = report.plus(done).plus(WriteReport(skipped=skipped))
        return report

    async def forget(self, ids: Iterable[str], *, delete_foreign: bool = False) -> ForgetReport:
        """Delete memories of this scope with all their edges; unknown ids are passed over.

        A node of a graph that existed before memoria may be more than a memory: it has a label
        in addition to ``Memory`` and its kind, a property that memoria does not store, or a
        relationship of a type that is not memoria's. Such a node stays, with its ``id``. It loses
        its edges and every property that memoria stores, even a text that was there before. It
        also loses the label ``Memory`` and, if another label remains, this writer's ``kinds``.

        Parameters
        ----------
        delete_foreign
            Delete such nodes, too, with all their properties and relationships.
        """
        return await forget_memories(
            self._store,
            check_ids(ids),
            scope=self.scope,
            kinds=self.kinds,
            batch_size=self.batch_size,
            delete_foreign=delete_foreign,
        )

    async def backfill_embeddings(
        self, *, kinds: Sequence[str] = (), progress: ProgressCallback = silent
    ) -> int:
        """Embed the memories of this scope that have no vector; those without text are passed over.

        Call it again after an interruption: it goes on where it stopped.

        Parameters
        ----------
        kinds
            Embed memories of these kinds only; empty for all kinds, declared or not.
        progress
            Called as ``progress("memories", done, total)`` after each batch.

        Returns
        -------
        int
            Vectors stored.

        Raises
        ------
        ConfigError
            The writer has no embedder.
        IndexNotReadyError
            Another program wrote the memories, and the database was never set up.
        """
        embedder = self._need_embedder()
        await self.ready()
        if self._facts is None and await self.count_unembedded(kinds):
            await require_ready(self._store, UNIQUE_INDEX, VECTOR_INDEX)
            await self.ready()  # somebody has just set the database up
        return await embed_stored(
            self._store,
            self.scope,
            check_kinds_given(kinds),
            size=self.memory_batch_size,
            embed=partial(self._embed, embedder),
            progress=progress,
        )

    async def count_unembedded(self, kinds: Sequence[str] = ()) -> int:
        """Count the memories of this scope that have no vector; see `backfill_embeddings`."""
        return await count_unembedded(self._store, self.scope, check_kinds_given(kinds))

    async def ready(self) -> None:
        """Check once that the schema fits the embedder, if the database is set up."""
        if self._facts is not None:
            return
        facts = await server_facts(self._store)
        if not was_set_up(facts):
            return  # the first batch tells the size of the vectors, and creates the schema
        require_online(UNIQUE_INDEX, facts)
        check_embedder(facts, self.embedder)
        if self.embedder is not None:
            require_online(VECTOR_INDEX, facts)
        self._facts = facts

    async def _set_up(self, memories: Sequence[Memory] = ()) -> tuple[str, ...]:
        """Create a missing schema for the vectors of these memories; return the names created."""
        await self.ready()
        if self._facts is not None:
            return ()
        made = await make_schema(self._store, self.embedder, memories)
        self._facts = made.facts
        for memory in memories:
            self.check_memory(memory)  # again, since the size of the vectors is now known
        return made.created

    def check_memory(self, memory: Memory) -> None:
        """Raise unless the memory can be written by this writer; call `ready` first."""
        check_memory(memory, self.kinds, self._facts)

    async def write_memory_batch(self, memories: Sequence[Memory]) -> WriteReport:
        """Write checked memories in one transaction, then link them; an id's last memory counts."""
        unique = {memory.id: memory for memory in memories}
        if not unique:
            return WriteReport()
        made = await self._set_up(memories)
        vectors = await self._make_vectors(list(unique.values()))
        rows = Rows(
            memory_row(unique[id_], vectors.get(id_, unique[id_].embedding))
            for id_ in sorted(unique)
        )
        parameters = {
            "rows": rows,
            "scope": self.scope,
            "scope_key": scope_key(self.scope),
            "kinds": list(self.kinds),
            "now": self._clock(),
        }
        row = (await self._store.run(load("ingest.memories"), parameters))[0]
        done = WriteReport(
            memories=row["written"],
            memories_created=row["created"],
            embedded=len(vectors),
            schema_created=made,
        )
        if self.linker is None:
            return done
        links = await self.linker.link(sorted(unique), only_new=True)
        return done.plus(
            WriteReport(
                linked=links.memories,
                unlinked=links.without_embedding,
                links=links.edges,
                links_created=links.edges_created,
            )
        )

    async def write_relation_batch(
        self, relations: Sequence[Relation], *, skip_missing: bool
    ) -> tuple[WriteReport, frozenset[str]]:
        """Write checked relations in one transaction; return counts, and the ends that don't exist.

        If an end is missing, nothing is written. With ``skip_missing``, the relations whose ends
        exist are written.
        """
        unique = {(edge.source, edge.target, edge.relation): edge for edge in relations}
        if not unique:
            return WriteReport(), frozenset()
        made = await self._set_up()
        ids = sorted({end for source, target, _ in unique for end in (source, target)})
        place = {id_: number for number, id_ in enumerate(ids)}
        parameters = {
            "rows": Rows(
                {**relation_row(unique[key]), "source": place[key[0]], "target": place[key[1]]}
                for key in sorted(unique)
            ),
            "ids": Rows(ids),
            "scope": self.scope,
            "now": self._clock(),
            "origin": ORIGIN_INGEST,
            "skip_missing": skip_missing,
        }
        row = (await self._store.run(load("ingest.relations"), parameters))[0]
        done = WriteReport(
            relations=row["written"], relations_created=row["created"], schema_created=made
        )
        return done, frozenset(row["missing"])

    async def write_history_batch(
        self, items: Sequence[HistoryItem], *, skip_missing: bool
    ) -> tuple[WriteReport, frozenset[str]]:
        """Write the history of a scope from an export: suppressions, active pairs, clocks.

        Missing ends of suppressions and pairs are treated as in `write_relation_batch`. A clock
        is never set back.
        """
        return await write_history(
            self._store, self.scope, items, now=self._clock(), skip_missing=skip_missing
        )

    async def _make_vectors(self, memories: Sequence[Memory]) -> dict[str, list[float]]:
        """Embed the memories that come without a vector, unless one is stored for the same text."""
        if self.embedder is None:
            return {}
        texts = await texts_to_embed(self._store, self.scope, memories)
        vectors = await self._embed(self.embedder, list(texts.values()))
        return dict(zip(texts, vectors, strict=True))

    def _need_embedder(self) -> Embedder:
        if self.embedder is None:
            raise ConfigError("no embedder: give the GraphWriter an embedder to make vectors")
        return self.embedder

    async def _embed(self, embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
        """Make vectors to be stored; the first vectors of a database record their embedder."""
        if not texts:
            return []
        vectors = check_vectors(
            await embedder.embed_documents(texts),
            name=embedder.name,
            count=len(texts),
            dimensions=embedder.dimensions,
        )
        if self._facts is not None:
            self._facts = await record_embedder(self._store, self._facts, embedder)
        return vectors
