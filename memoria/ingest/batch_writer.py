"""Write memories and relations into one scope of the graph, in batches.

In: `Memory` and `Relation` values. Out: a `WriteReport`.
Writes in batches. Each batch is one transaction, which may be repeated without harm. Queries:
``ingest.*``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypedDict, TypeVar

from memoria._support import telemetry
from memoria._support.checks import check_scope, check_whole
from memoria.embed import Embedder, check_vectors, checked_embedder
from memoria.errors import AuthError, ConfigError, IndexNotReadyError, InvalidInputError, QueryError
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
from memoria.ingest.jsonl import at_place
from memoria.ingest.rows import batches, memory_row, relation_row
from memoria.ingest.unembedded import embed_each, is_of_one_text, texts_to_embed
from memoria.store import Rows, ServerFacts, Store, StoreOrDriver, with_certainty, writable_store_of
from memoria.store.queries import load
from memoria.types import (
    HistoryItem,
    Memory,
    MemoryLinker,
    Relation,
    WriteReport,
)

EMBED_BATCH = 128

AnyLinker = TypeVar("AnyLinker")


class WriterOptions(TypedDict, Generic[AnyLinker], total=False):
    """The options of a writer in addition to store, scope and embedder."""

    kinds: Sequence[str]
    batch_size: int
    linker: AnyLinker | None
    clock: Callable[[], datetime]


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
        self._store = writable_store_of(store, database)
        self._clock = clock
        self.facts: ServerFacts | None = None

    @with_certainty
    async def write(
        self,
        memories: Iterable[Memory],
        relations: Iterable[Relation] = (),
        *,
        skip_invalid: bool = False,
    ) -> WriteReport:
        """Write memories, then relations; see `memoria.GraphWriter.write`."""
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
            report = report.plus(await self.write_memory_batch(valid, left_out)).plus(
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
        return replace(report, skipped=left_out.count, problems=left_out.problems)

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
        self, memories: Sequence[Memory], left_out: LeftOut | None = None
    ) -> WriteReport:
        """Write checked memories in one transaction, then link them; an id's last memory counts.

        Memories without a valid vector go to ``left_out``; None raises.
        """
        if not memories:
            return WriteReport()
        made, memories = await self.set_up(memories, left_out)
        with self._recorded(len(memories)):
            try:
                parameters, embedded = await self._memory_parameters(memories)
            except InvalidInputError as exc:
                if left_out is None or not left_out.skip_invalid or not is_of_one_text(exc):
                    raise
                memories, ready = await self._embeddable(memories, left_out)
                parameters, embedded = await self._memory_parameters(memories, ready=ready)
                embedded += len({m.id for m in memories if m.text in ready and m.embedding is None})
            query = load("ingest.memories").at(self.generation)
            row = (await self._store.run(query, parameters))[0]
            if row["written"] < len(parameters["rows"]):
                await self.check_still_live()
                raise replaced_error()  # they were, and have come back
        done = WriteReport(
            memories=row["written"],
            memories_created=row["created"],
            embedded=embedded,
            schema_created=made,
        )
        return await self._linked(done, memories)

    def _recorded(self, memories: int) -> AbstractContextManager[telemetry.Span]:
        return telemetry.memory_span("upsert_memory", store=scope_key(self.scope), count=memories)

    async def _memory_parameters(
        self,
        memories: Sequence[Memory],
        undated: Collection[str] = (),
        ready: Mapping[str, Sequence[float]] | None = None,
    ) -> tuple[dict[str, Any], int]:
        """Return the parameters of ``ingest.memories``, and how many vectors were made for them."""
        unique = {memory.id: memory for memory in memories}
        by_text = ready or {}
        made = await self._make_vectors([m for m in unique.values() if m.text not in by_text])
        given = {
            id_: by_text.get(memory.text) if memory.embedding is None else memory.embedding
            for id_, memory in unique.items()
        }
        vectors = {**given, **made}
        rows = Rows(
            memory_row(memory, vectors[id_], undated=id_ in undated)
            for id_, memory in sorted(unique.items())
        )
        has_vectors = any(row["embedding"] is not None for row in rows)
        checked = self.embedder is not None or has_vectors
        parameters = {
            "generation": self.generation if checked else None,
            "rows": rows,
            "scope": self.scope,
            "scope_key": scope_key(self.scope),
            "kinds": list(self.kinds),
            "now": self._clock(),
        }
        return parameters, len(made)

    async def _linked(self, done: WriteReport, memories: Sequence[Memory]) -> WriteReport:
        """Link memories that were written, but no connectors; return the report of both."""
        ids = sorted({memory.id for memory in memories if not is_connector(memory)})
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
        texts = await texts_to_embed(self._store, self.scope, memories, self.generation)
        try:
            vectors = await self.embed(self.embedder, list(texts.values()))
        except InvalidInputError as exc:
            if exc.item is None:
                raise
            raise at_place(exc, f"memory {list(texts)[exc.item]!r}") from exc
        return dict(zip(texts, vectors, strict=True))

    async def _embeddable(
        self, memories: Sequence[Memory], left_out: LeftOut
    ) -> tuple[Sequence[Memory], dict[str, list[float]]]:
        """Embed each text alone; return the memories to write, and text -> vector."""
        if self.embedder is None:
            return memories, {}
        texts = await texts_to_embed(self._store, self.scope, memories, self.generation)
        return await embed_each(memories, texts, partial(self.embed, self.embedder), left_out)

    async def embed(self, embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
        """Make vectors to be stored; the first vectors of a database record their embedder."""
        if not texts:
            return []
        vectors = check_vectors(
            await embedder.embed_documents(texts),
            name=embedder.name,
            count=len(texts),
            dimensions=embedder.dimensions,
        )
        if self.facts is not None:
            self.facts = await record_embedder(self._store, self.facts, embedder)
        return vectors


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
