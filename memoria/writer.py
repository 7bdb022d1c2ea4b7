"""`GraphWriter`, the handle that writes: memories, relations, and what becomes of them.

In: values from a caller. Out: reports of what was done. Writes on every call, in batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Generic, TypedDict, Unpack

from memoria._support.checks import check_id, check_ids
from memoria._support.progress import ProgressCallback, silent
from memoria._support.wording import kind_of
from memoria.embed import Embedder
from memoria.errors import ConfigError, DimensionError, IndexNotReadyError, InvalidInputError
from memoria.graph.roles import declare_roles
from memoria.graph.server_facts import current_facts, require_ready, server_facts
from memoria.graph.vocabulary import DEFAULT_KINDS, UNIQUE_INDEX
from memoria.ingest import BatchWriter
from memoria.ingest.batch_writer import AnyLinker
from memoria.ingest.forgetting import Forgetting, delete_edges
from memoria.ingest.unembedded import Unembedded, count_unembedded, embed_stored
from memoria.remember.config import ConversationConfig
from memoria.remember.conversations import DEFAULT_EXTRACTOR, ConversationWriter
from memoria.remember.documents import DOCUMENT_EXTRACTOR, DocumentConfig, DocumentWriter
from memoria.remember.mentions import Extractor
from memoria.remember.remember import remember
from memoria.remember.statement import RememberOptions, Statement
from memoria.store import StoreOrDriver, store_of, with_certainty
from memoria.types import (
    Conversation,
    ConversationReport,
    Count,
    Document,
    DocumentReport,
    ForgetReport,
    Memory,
    MemoryFilter,
    MemoryLinker,
    Relation,
    RelationRoles,
    Remembered,
    ScopeReceipt,
    WriteReport,
    filter_of,
)


class WriterOptions(TypedDict, Generic[AnyLinker], total=False):
    """The options of a writer in addition to store, scope and embedder."""

    kinds: Sequence[str]
    batch_size: int
    linker: AnyLinker | None
    clock: Callable[[], datetime]


class GraphWriter:
    """Writes memories and relations of one scope; the twin of `GraphRetriever`, which reads them.

    If the database has none of memoria's indexes, the first batch creates them (`apply_schema`),
    and its report names them.

    Parameters
    ----------
    store
        A `Store`, such as the store of a retriever, or an open driver of your own.
    embedder
        Makes the vectors of memories that come without one; None makes no vectors.
    kinds
        The kind labels that memories may have, besides those of connectors (``Session``,
        ``Speaker``, ``Topic``). The writer may also remove these labels from a node.
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
        self._store = store_of(store, database)
        #: Writes the batches; `memoria.ingest.ingest_files` takes it from here.
        self.batches = BatchWriter(
            self._store,
            scope=scope,
            embedder=embedder,
            kinds=kinds,
            batch_size=batch_size,
            linker=linker,
            clock=clock,
        )
        self.scope = self.batches.scope
        self.kinds = self.batches.kinds
        self.embedder = self.batches.embedder
        self.linker = linker
        self._clock = clock

    async def ready(self) -> None:
        """Check once that the schema fits the embedder, if the database is set up."""
        await self.batches.ready()

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

        A memory for which the embedder makes no vector is written without one. Later writes of the
        scope make up for 64 of these at a time, and ``memoria embed`` for all.

        Parameters
        ----------
        skip_invalid
            Leave out memories and relations that are not valid, instead of raising; the report
            counts them and says why.

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
        return await self.batches.write(memories, relations, skip_invalid=skip_invalid)

    async def declare(self, roles: RelationRoles) -> None:
        """Declare the roles of this scope's relations; replaces all earlier declarations.

        The declaration is stored in the database and applies to every later recall in the scope, by
        any client. ``declare(RelationRoles())`` removes it; `GraphRetriever.relation_roles` reads
        it.

        Parameters
        ----------
        roles
            The relations of each role.
        """
        if not isinstance(roles, RelationRoles):
            raise InvalidInputError(
                f"roles must be RelationRoles, got {kind_of(roles)}", field="roles"
            )
        await declare_roles(self._store, self.scope, roles)

    @with_certainty
    async def remember(self, text: str, **options: Unpack[RememberOptions]) -> Remembered:
        """Remember a text once, whoever says it and however often.

        A text that is there already is not written again: neither the same words, whatever their
        kind, nor nearly the same, that is a text without a new word, apart from fillers, beside one
        of the three nearest memories (by words alone without an embedder). Another number,
        name, order, or a negation is a new fact. What is given with such a text goes to the memory
        that says it: it gets the tags and edges that it lacks, and supersedes what the text
        supersedes; it keeps its kind, and holds again if it was outdated.

        If the embedder makes no vector, the text is compared by its words and written without one;
        ``pending_vectors`` is then 1, and a later write makes the vector.

        Parameters
        ----------
        text
            What to remember; up to 1 MB, not blank.

        Other Parameters
        ----------------
        kind : str
            One of the writer's kinds; ``Event`` if not given.
        id : str, optional
            Id of a new memory. None: made of the scope and the text, so that two writers of one
            text write one memory, even at the same time.
        tags : iterable of str
            Tags of the memory and of its edges.
        about : iterable of str
            Ids of memories that it is about: an edge ``about`` of weight 0.7 to each.
        because_of : iterable of str
            Ids of memories that it follows from: an edge ``caused_by`` of weight 0.9 to each.
        supersedes : iterable of str
            Ids of memories whose place it takes: recalls leave them out from then on.
        created_at : datetime, optional
            When it came about; None: now. A naive time counts as UTC.
        valid_until : datetime, optional
            When it ceases to hold; None: never.
        duplicates : {"skip", "keep"}
            ``skip``; or ``keep`` to write a text also if it is nearly the same as another one.
        after : Trace, optional
            Trace of the recall before: a text that only repeats one of its memories is not written
            again. A question (of kind ``UserRequest``) is joined to at most three memories that its
            recall packed, by edges ``answered_by`` of weight 0.25: those first that feedback proved
            right for it, none that it proved wrong.

        Raises
        ------
        InvalidInputError
            A memory that is named is missing, ``id`` belongs to another text, or an argument is not
            valid. Nothing was written.
        ScopeError
            ``after`` is the trace of another scope.
        DimensionError
            The database has the vectors of another embedder; nothing was written.
        IndexNotReadyError
            An index is not online, or the database is not set up and this user may not set it up.
        """
        statement = Statement(text=text, scope=self.scope, **options)
        await self.batches.set_up([statement.memory])
        self.batches.check_memory(statement.memory)
        facts = self.batches.facts or await server_facts(self._store)
        embed = None if self.embedder is None else self.batches.vector_of
        try:
            done, owed = await remember(
                self._store.patient(), statement, facts=facts, embed=embed, now=self._clock()
            )
        except (DimensionError, IndexNotReadyError):
            await self.batches.check_still_live()
            raise
        if self.linker is not None:
            # Also what was there before: a call that ended before its links left them to the next.
            links = await self.linker.link([done.id], only_new=True)
            done = replace(done, edges=done.edges + links.edges_created)
        await self.batches.settled(owed=owed and not done.pending_vectors)
        return done

    async def conversation(
        self,
        conversation: Conversation,
        *,
        extractor: Extractor | None = DEFAULT_EXTRACTOR,
        config: ConversationConfig | None = None,
    ) -> ConversationReport:
        """Write a whole conversation with this writer's embedder, linker and clock.

        Undated messages stay so. For many conversations, or more messages: `ConversationWriter`.
        """
        writer = ConversationWriter(
            self._store,
            scope=self.scope,
            embedder=self.embedder,
            extractor=extractor,
            linker=self.linker,
            config=config,
            clock=self._clock,
        )
        return await writer.write([conversation])

    async def document(
        self,
        document: Document,
        *,
        extractor: Extractor | None = DOCUMENT_EXTRACTOR,
        config: DocumentConfig | None = None,
    ) -> DocumentReport:
        """Write a document, and edges to what it mentions, names and links to.

        For many documents use a `DocumentWriter`, which explains the arguments.
        """
        writer = DocumentWriter(
            self._store,
            scope=self.scope,
            embedder=self.embedder,
            extractor=extractor,
            linker=self.linker,
            config=config,
            clock=self._clock,
        )
        return await writer.write([document])

    @with_certainty
    async def forget(
        self,
        ids: Iterable[str] | None = None,
        *,
        where: MemoryFilter | None = None,
        delete_foreign: bool = False,
    ) -> ForgetReport:
        """Delete memories of this scope with all their edges: those with an id, or those that fit.

        A connector, such as a ``Topic``, that joins no memory any more is deleted with them.

        A node of a graph that existed before memoria may be more than a memory: it has a label
        in addition to ``Memory`` and its kind, a property that memoria does not store, or a
        relationship of a type that is not memoria's. Such a node stays, with its ``id``. It loses
        its edges and every property that memoria stores, even a text that was there before. It
        also loses the label ``Memory`` and, if another label remains, this writer's ``kinds``.

        Parameters
        ----------
        ids
            Ids of the memories; unknown ids are passed over.
        where
            In place of ``ids``: which memories to delete. Connectors fit only a filter that names
            their kinds.
        delete_foreign
            Delete such nodes, too, with all their properties and relationships.

        Raises
        ------
        InvalidInputError
            Neither or both of ``ids`` and ``where`` are given, or every memory fits ``where``.
        """
        if (ids is None) == (where is None):
            raise InvalidInputError("forget takes either ids or where", field="ids")
        forgetting = self._forgetting(delete_foreign)
        if ids is not None:
            return await forgetting.memories(check_ids(ids))
        if (checked := filter_of(where)).is_empty:
            raise InvalidInputError(
                "every memory fits the filter: to delete them all, call forget_scope",
                field="where",
            )
        return await forgetting.matching(checked)

    @with_certainty
    async def forget_scope(
        self,
        *,
        confirm: str,
        delete_foreign: bool = False,
        progress: ProgressCallback = silent,
    ) -> ScopeReceipt:
        """Delete all that the database has of this scope, and return the receipt.

        That is: its memories with all their edges, suppressions and vectors, the log of what was
        learned, and its clock. Nothing of other scopes changes. Nodes that are more than a memory
        are treated as in `forget`. Nobody should write to the scope meanwhile. After an
        interruption call it again: it continues where it stopped, with a receipt for the rest.

        Parameters
        ----------
        confirm
            The name of the scope once more, since this can't be undone.
        delete_foreign
            As in `forget`.
        progress
            Called as ``progress("memories", done, None)`` after each batch.

        Raises
        ------
        InvalidInputError
            ``confirm`` is not the name of the scope; nothing was deleted.

        Notes
        -----
        To be complete, it also looks for memories without an id, which takes a scan over the
        memories of all scopes, and one over their logs.
        """
        if confirm != self.scope:
            raise InvalidInputError(
                f"confirm must be the name of the scope to be forgotten, {self.scope!r}",
                field="confirm",
            )
        return await self._forgetting(delete_foreign).everything(self._clock, progress)

    @with_certainty
    async def delete_edge(self, source: str, target: str, relation: str | None = None) -> Count:
        """Delete the edge from one memory to another; the memories stay.

        Parameters
        ----------
        source, target
            Ids of the two memories, in the direction in which the edge is stored.
        relation
            Relation of the edge; None for all edges in this direction.

        Returns
        -------
        Count
            Number of edges deleted, an int; 0 if such an edge does not exist.
        """
        if relation is not None:
            check_id(relation, "relation")
        ends = check_id(source, "source"), check_id(target, "target")
        return await delete_edges(self._store, *ends, relation, scope=self.scope)

    async def backfill_embeddings(
        self, *, kinds: Sequence[str] = (), progress: ProgressCallback = silent
    ) -> int:
        """Embed the memories of this scope that have no vector.

        Connectors and memories without text are passed over, and so is a text whose
        vector can't be used. Call it again after an interruption: it continues.

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
        Exception
            The error of the embedder, other than about the vector of one text.
        IndexNotReadyError
            Another program wrote the memories, and the database was never set up.
        """
        if (embedder := self.embedder) is None:
            raise ConfigError("no embedder: give the GraphWriter an embedder to make vectors")
        await self.ready()
        if self.batches.facts is None and await self.count_unembedded(kinds):
            await require_ready(self._store, UNIQUE_INDEX, vectors=True)
            await self.ready()  # somebody has just set the database up
        which = Unembedded(self.scope, kinds, self.batches.generation)
        try:
            return await embed_stored(
                self._store,
                which,
                size=self.batches.memory_batch_size,
                embedder=embedder,
                facts=self.batches.facts,
                progress=progress,
            )
        except DimensionError:
            await self.batches.check_still_live()
            raise

    async def count_unembedded(self, kinds: Sequence[str] = ()) -> int:
        """Count the memories of this scope that have no vector; see `backfill_embeddings`."""
        facts = await current_facts(self._store)
        return await count_unembedded(self._store, Unembedded(self.scope, kinds, facts.generation))

    def _forgetting(self, delete_foreign: bool) -> Forgetting:
        return Forgetting(
            store=self._store,
            scope=self.scope,
            kinds=self.kinds,
            batch_size=self.batches.batch_size,
            delete_foreign=delete_foreign,
        )
