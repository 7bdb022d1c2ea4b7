"""Write memories and relations into one scope of the graph, in batches.

In: `Memory` and `Relation` values. Out: a `WriteReport`.
Writes in batches. Each batch is one transaction, which may be repeated without harm. Queries:
``ingest.*``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any, TypeVar

from memoria._support import telemetry
from memoria._support.checks import check_scope, check_whole
from memoria._support.throttling import throttled_warning
from memoria.embed import Embedder, checked_embedder
from memoria.errors import AuthError, ConfigError, IndexNotReadyError, MemoriaError, QueryError
from memoria.graph.connectors import is_connector
from memoria.graph.schema import SchemaReport, apply_schema, record_embedder
from memoria.graph.server_facts import (
    check_embedder,
    has_moved,
    replaced_error,
    require_online,
    server_facts,
    was_set_up,
)
from memoria.graph.vocabulary import (
    DEFAULT_KINDS,
    ORIGIN_INGEST,
    UNIQUE_INDEX,
    pending_key,
    scope_key,
)
from memoria.ingest.checks import (
    LeftOut,
    check_kinds,
    check_list,
    check_memory,
    check_relation,
    has_ends,
    missing_end,
    missing_error,
)
from memoria.ingest.history import write_history
from memoria.ingest.rows import batches, memory_row, relation_row
from memoria.ingest.unembedded import Vectors, embed_in_time, notes_of, settle, vectors_for
from memoria.store import ServerFacts, Store, StoreOrDriver, with_certainty, writable_store_of
from memoria.store.queries import load
from memoria.types import HistoryItem, Memory, MemoryLinker, Relation, WriteReport

log = logging.getLogger(__name__)

EMBED_BATCH = 128

AnyLinker = TypeVar("AnyLinker")


class BatchWriter:
    """Writes memories and relations of one scope, in batches, behind all that writes them.

    `memoria.GraphWriter` explains the arguments.
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
    ) -> None:
        check_whole(batch_size, "batch_size", low=1, high=10_000, error=ConfigError)
        self.scope = check_scope(scope)
        self.kinds = check_kinds(kinds)
        if linker is not None and linker.scope != self.scope:
            raise ConfigError(
                f"the linker is for scope {linker.scope!r}, not {self.scope!r}", field="linker"
            )
        self.linker = linker
        self.embedder = None if embedder is None else checked_embedder(embedder)
        self.batch_size = batch_size
        # Embedding takes milliseconds for each memory. Small batches keep the work small that is
        # lost in an interruption.
        self.memory_batch_size = batch_size if embedder is None else min(batch_size, EMBED_BATCH)
        self._store = writable_store_of(store).patient()
        self._clock = clock
        self.facts: ServerFacts | None = None

    @with_certainty
    async def write(
        self,
        memories: Iterable[Memory],
        relations: Iterable[Relation] = (),
        *,
        skip_invalid: bool = False,
        undated: bool = False,
    ) -> WriteReport:
        """Write memories, then relations; see `memoria.GraphWriter.write`.

        With ``undated``, new memories without ``created_at`` get no time, instead of the present.
        """
        check_list(memories, Memory)
        check_list(relations, Relation)
        await self.ready()
        report, left_out = WriteReport(), LeftOut(skip_invalid=skip_invalid)
        seen: set[str] = set()
        first = 0
        for batch in batches(memories, self.memory_batch_size):
            valid = left_out.valid(batch, self.check_memory, first=first)
            first += len(batch)
            before = len(seen)
            seen.update(memory.id for memory in valid)
            timeless = [m.id for m in valid if undated and m.created_at is None]
            done = await self.write_memory_batch(valid, left_out, undated=timeless)
            report = report.plus(done).plus(
                WriteReport(duplicates=len(valid) - (len(seen) - before))
            )
        first = 0
        for edges in batches(relations, self.batch_size):
            good = left_out.valid(edges, check_relation, first=first)
            first += len(edges)
            done, missing = await self.write_relation_batch(good, skip_missing=skip_invalid)
            if missing and not skip_invalid:
                raise missing_error(missing, self.scope)
            for edge in good:
                if not has_ends(edge, missing):
                    left_out.add(missing_end(edge, missing, self.scope))
            report = report.plus(done)
        return report.plus(WriteReport(skipped=left_out.count, problems=left_out.problems))

    async def ready(self) -> None:
        """Check once that the schema fits the embedder, if the database is set up."""
        if self.facts is not None:
            return
        facts = await server_facts(self._store)
        if not was_set_up(facts):
            return  # the first batch tells the size of the vectors, and creates the schema
        require_online(UNIQUE_INDEX, facts)
        check_embedder(facts, self.embedder)
        if self.embedder is not None:
            require_online(facts.vector_index, facts)
        self.facts = facts

    async def check_still_live(self) -> None:
        """Raise if the vectors of this writer's embedder are no longer the live ones."""
        if await has_moved(self._store, self.generation):
            self.facts = None
            await self.ready()  # raises the error that names both embedders
            raise replaced_error()

    @property
    def generation(self) -> int:
        """Number of the vectors that are live; 1 before the database is set up."""
        return 1 if self.facts is None else self.facts.generation

    async def set_up(
        self, memories: Sequence[Memory] = (), left_out: LeftOut | None = None
    ) -> tuple[tuple[str, ...], Sequence[Memory]]:
        """Create a missing schema; return the names created, and the memories that fit it.

        Memories whose vectors have another size go to ``left_out``; None raises.
        """
        await self.ready()
        if self.facts is not None:
            return (), memories
        made = await make_schema(self._store, self.embedder, memories)
        self.facts = made.facts
        # Again, since the size of the vectors is now known.
        return made.created, (left_out or LeftOut()).without(memories, self.check_memory)

    def check_memory(self, memory: Memory) -> None:
        """Raise unless the memory can be written by this writer; call `ready` first."""
        check_memory(memory, self.kinds, self.facts)

    async def write_memory_batch(
        self,
        memories: Sequence[Memory],
        left_out: LeftOut | None = None,
        *,
        undated: Collection[str] = (),
    ) -> WriteReport:
        """Write checked memories in one transaction, then link them; an id's last memory counts.

        Memories whose vectors have another size than the index go to ``left_out``; None raises.
        ``undated`` are the ids of new memories that get no time.
        """
        if not memories:
            return WriteReport()
        made, memories = await self.set_up(memories, left_out)
        with self._recorded(len(memories)):
            parameters, embedded = await self._memory_parameters(memories, undated)
            query = load("ingest.memories").at(self.generation)
            row = (await self._store.run(query, parameters))[0]
            if row["written"] < len(parameters["rows"]):
                await self.check_still_live()
                raise replaced_error()  # they were, and have come back
        done = embedded.plus(
            WriteReport(
                memories=row["written"], memories_created=row["created"], schema_created=made
            )
        )
        done = await self._linked(done, memories)
        return done.plus(await self.settled(owed=row["owed"] and not done.pending_vectors))

    def _recorded(self, memories: int) -> AbstractContextManager[telemetry.Span]:
        return telemetry.memory_span("upsert_memory", store=scope_key(self.scope), count=memories)

    async def _memory_parameters(
        self,
        memories: Sequence[Memory],
        undated: Collection[str] = (),
        ready: Mapping[str, Sequence[float] | None] | None = None,
    ) -> tuple[dict[str, Any], WriteReport]:
        """Return the parameters of ``ingest.memories``, and which vectors were made for them.

        Parameters
        ----------
        ready
            Text -> its vector, or None if the embedder has just failed to make it.
        """
        unique = {memory.id: memory for memory in memories}
        by_text = ready or {}
        made = await self._make_vectors([m for m in unique.values() if m.text not in by_text])
        given = {
            id_: by_text.get(memory.text) if memory.embedding is None else memory.embedding
            for id_, memory in unique.items()
        }
        vectors = {**given, **made.by_id}
        failed = (id_ for id_, m in unique.items() if m.text in by_text and vectors[id_] is None)
        pending = {*made.pending, *failed}
        rows = [
            memory_row(memory, vectors[id_], undated=id_ in undated)
            for id_, memory in sorted(unique.items())
        ]
        has_vectors = any(row["embedding"] is not None for row in rows)
        checked = self.embedder is not None or has_vectors
        parameters = {
            "generation": self.generation if checked else None,
            "rows": rows,
            "scope": self.scope,
            "scope_key": scope_key(self.scope),
            "kinds": list(self.kinds),
            "now": self._clock(),
            "notes": notes_of(self.scope, pending),
            "pending": pending_key(self.scope),
        }
        return parameters, made.report.plus(
            WriteReport(pending_vectors=len(pending) - len(made.pending))
        )

    async def settled(self, *, owed: bool) -> WriteReport:
        """Make vectors that an earlier write of the scope could not make, if there are any.

        The write is done, so nothing that fails here fails it.
        """
        if not owed or self.embedder is None:
            return WriteReport()
        try:
            ids = await settle(self._store, self.embedder, scope=self.scope)
            return await self._link_ids(WriteReport(embedded=len(ids)), ids)
        except MemoriaError as exc:
            throttled_warning(log, "vectors are made later: %s", type(exc).__name__)
            return WriteReport()

    async def _linked(self, done: WriteReport, memories: Sequence[Memory]) -> WriteReport:
        """Link memories that were written, but no connectors; return the report of both."""
        ids = sorted({memory.id for memory in memories if not is_connector(memory)})
        return await self._link_ids(done, ids)

    async def _link_ids(self, done: WriteReport, ids: Sequence[str]) -> WriteReport:
        if self.linker is None or not ids:
            return done
        links = await self.linker.link(ids, only_new=True)
        return done.plus(
            WriteReport(
                linked=links.memories,
                unlinked=links.without_embedding,
                links=links.edges,
                links_created=links.edges_created,
                certain=links.certain,
            )
        )

    async def write_relation_batch(
        self, relations: Sequence[Relation], *, skip_missing: bool
    ) -> tuple[WriteReport, frozenset[str]]:
        """Write checked relations in one transaction; return counts, and the ends that don't exist.

        If an end is missing, nothing is written. With ``skip_missing``, the relations whose ends
        exist are written.
        """
        if not relations:
            return WriteReport(), frozenset()
        made, _ = await self.set_up()
        parameters = self._relation_parameters(relations, skip_missing=skip_missing)
        row = (await self._store.run(load("ingest.relations"), parameters))[0]
        done = WriteReport(
            relations=row["written"], relations_created=row["created"], schema_created=made
        )
        return done, frozenset(row["missing"])

    def _relation_parameters(
        self, relations: Sequence[Relation], *, skip_missing: bool
    ) -> dict[str, Any]:
        """Return the parameters of ``ingest.relations``; of equal edges the last one counts."""
        unique = {(edge.source, edge.target, edge.relation): edge for edge in relations}
        ids = sorted({end for source, target, _ in unique for end in (source, target)})
        place = {id_: number for number, id_ in enumerate(ids)}
        return {
            "rows": [
                {**relation_row(unique[key]), "source": place[key[0]], "target": place[key[1]]}
                for key in sorted(unique)
            ],
            "ids": ids,
            "scope": self.scope,
            "now": self._clock(),
            "origin": ORIGIN_INGEST,
            "skip_missing": skip_missing,
        }

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

    async def vector_of(self, text: str) -> Sequence[float] | None:
        """Return the vector of a text to be stored; None if the embedder fails."""
        if self.embedder is None:
            return None
        [vector] = (await embed_in_time(self.embedder, [text], self._store)).vectors
        if vector is not None and self.facts is not None:
            self.facts = await record_embedder(self._store, self.facts, self.embedder)
        return vector

    async def _make_vectors(self, memories: Sequence[Memory]) -> Vectors:
        """Embed the memories that come without a vector, unless one is stored for the same text."""
        if self.embedder is None:
            return Vectors()
        made = await vectors_for(
            memories, self._store, self.embedder, scope=self.scope, generation=self.generation
        )
        if made.by_id and self.facts is not None:  # perhaps the first vectors of the database
            self.facts = await record_embedder(self._store, self.facts, self.embedder)
        return made


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
