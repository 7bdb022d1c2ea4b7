"""Write documents: their parts become memories, and what joins them becomes edges.

In: documents. Out: a `DocumentReport`. Writes, several documents in one transaction. Queries:
``remember.begun``, ``remember.connectors``, ``remember.documents``, ``remember.ids``,
``remember.naming``, ``remember.next_version``, ``remember.rewrite``, and those of the batch writer.

What a text names may be written before it or after it: a new text is joined to the documents whose
titles it names, and a new title to the texts that named it before. Of two writers at a time, the
second sees that the first wrote meanwhile, and reads again; nothing is locked while texts are read
or embedded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memoria._support.checks import check_id
from memoria._support.foreign import json_map
from memoria._support.progress import ProgressCallback, silent
from memoria._support.wording import kind_of
from memoria.embed import Embedder
from memoria.errors import InvalidInputError, UnavailableError
from memoria.graph.vocabulary import (
    CONNECTOR_KINDS,
    DEFAULT_KINDS,
    LINKS_TO,
    MENTIONS,
    NAMES,
    NEXT,
    documents_key,
    whole_id,
)
from memoria.ingest.batch_writer import AnyLinker
from memoria.ingest.joint import JointWriter
from memoria.ingest.rows import batches
from memoria.remember.documents.config import DocumentConfig
from memoria.remember.documents.plan import MAX_TITLED, Edges, Planned, plan_document, titled_by
from memoria.remember.documents.state import (
    StoredDocuments,
    read_stored,
    texts_naming,
    titles_by_name,
)
from memoria.remember.ids import document_id, document_prefix, further_parts_prefix, topic_id
from memoria.remember.mentions import Extractor
from memoria.remember.options import MAX_ATTEMPTS, TextOptions
from memoria.remember.rules import RuleExtractor
from memoria.remember.topics import write_connectors
from memoria.store import StoreOrDriver, Transaction, with_certainty, writable_store_of
from memoria.store.queries import load
from memoria.types import (
    Count,
    Document,
    DocumentReport,
    Memory,
    MemoryLinker,
    Relation,
    WriteReport,
)

#: Words are not made topics: besides phrases and titles, they improve no recall of documents.
DOCUMENT_EXTRACTOR = RuleExtractor(max_mentions=16, weights={"word": 0})


class DocumentOptions(TextOptions[AnyLinker], total=False):
    """The options of a `DocumentWriter` in addition to store, scope and embedder."""

    config: DocumentConfig | None


class _ChangedError(Exception):
    """Another writer wrote documents of the scope meanwhile. Never leaves this module."""


class DocumentWriter:
    """Writes documents into one scope.

    A document becomes a memory, or several if it is long, with edges to what it mentions, to the
    documents whose titles it names and to those that it links to. No language model is asked.

    Parameters
    ----------
    store
        A `Store`, such as the store of a retriever, or an open driver of your own.
    embedder
        Makes the vectors of the memories; None makes no vectors.
    extractor
        Finds what a text mentions; None: nothing.
    linker
        A `Linker` of the same scope, which links what was written by its vectors. None links
        nothing.
    config
        Settings of what documents become.
    clock
        Gives the time of topics and edges; aware. A document without a time stays without one.
    """

    def __init__(
        self,
        store: StoreOrDriver,
        *,
        scope: str,
        embedder: Embedder | None = None,
        extractor: Extractor | None = DOCUMENT_EXTRACTOR,
        linker: MemoryLinker | None = None,
        config: DocumentConfig | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.config = config or DocumentConfig()
        self.extractor = extractor
        self._store = writable_store_of(store).patient()
        self._batches = JointWriter(
            self._store,
            scope=scope,
            embedder=embedder,
            kinds=(*DEFAULT_KINDS, self.config.kind, *CONNECTOR_KINDS),
            linker=linker,
            clock=clock,
        )
        self._forgetting = self._batches.forgetting()
        self.scope = self._batches.scope
        self._clock = clock

    @with_certainty
    async def write(
        self, documents: Iterable[Document], *, progress: ProgressCallback = silent
    ) -> DocumentReport:
        """Write documents; those that are stored are replaced.

        A document is known by its source and id. Written again, it keeps what was learned of its
        parts, and a part whose text is the same keeps its vector. Parts that it no longer has are
        forgotten, and so are edges. One that has neither title nor text is left out, and forgotten
        if it was there.

        After an error or a kill, the transactions before it stay written; writing the same
        documents again completes the rest.

        Parameters
        ----------
        progress
            Called as ``progress("documents", done, None)`` after each transaction.

        Raises
        ------
        InvalidInputError
            A value is not a `Document`, or holds what can't be stored.
        UnavailableError
            Too many others wrote documents of this scope at the same time.
        """
        report = DocumentReport()
        late: list[Relation] = []
        await self._batches.ready()
        for group in groups(documents):
            done, later = await self._write_group(group)
            report = report.plus(done)
            late += later
            progress("documents", report.documents, None)
        return report.plus(await self._write_late(late))

    async def ready(self) -> None:
        """Check that the database fits the embedder, if it is set up."""
        await self._batches.ready()

    @with_certainty
    async def prune(self, source: str, keep: Iterable[str]) -> Count:
        """Forget the documents of a source, but for some; return how many memories were forgotten.

        Parameters
        ----------
        source
            Name of the source; not empty, since what has no source may not be a document.
        keep
            Ids of the documents that stay, as they have them in their source.
        """
        check_id(source, "source")
        return Count((await self._forgetting.memories(await self._others(source, keep))).deleted)

    async def absent(self, source: str, keep: Iterable[str]) -> int:
        """Return how many documents `prune` would forget."""
        check_id(source, "source")
        return len({whole_id(id_) for id_ in await self._others(source, keep)})

    async def _others(self, source: str, keep: Iterable[str]) -> list[str]:
        """Return the ids of the memories of a source's documents, but for some documents."""
        kept = {document_id(source, each) for each in keep}
        ids = await self._ids_of(source)
        return [id_ for id_ in ids if ":" not in id_ and whole_id(id_) not in kept]

    async def _ids_of(self, source: str) -> list[str]:
        """Return the ids of the memories of a source's documents.

        Memories other than documents may have ids that begin in the same way, so the metadata
        decides.
        """
        parameters = {
            "kind": self.config.kind,
            "prefix": document_prefix(source),
            "scope": self.scope,
        }
        rows: Sequence[tuple[str, str | None]]
        rows = (await self._store.run(load("remember.ids"), parameters))[0]["rows"]
        return [id_ for id_, stored in rows if json_map(stored).get("source") == source]

    async def _write_group(
        self, group: Sequence[Document]
    ) -> tuple[DocumentReport, list[Relation]]:
        """Write documents of which no two are the same, in one transaction.

        Returns
        -------
        tuple
            What was done, and the links to documents that are not there yet.
        """
        found = (
            plan_document(each, extractor=self.extractor, config=self.config) for each in group
        )
        documents = [planned for planned in found if planned is not None]
        written = {(each.document.source, each.document.id) for each in documents}
        emptied = [each for each in group if (each.source, each.id) not in written]
        report = DocumentReport(documents=len(group), skipped=len(emptied))
        report = report.plus(await self._forget_emptied(emptied))
        if not documents:
            return report, []
        memories = [m for each in documents for m in each.memories(self.config.kind)]
        for memory in memories:
            self._batches.check_memory(memory)
        vectors, made = await self._batches.make_vectors(memories)
        report = report.plus(DocumentReport(parts=len(memories), written=made))
        for _ in range(MAX_ATTEMPTS):
            stored = await read_stored(self._store, self.scope, documents, kind=self.config.kind)
            try:
                done, late = await self._commit(documents, memories, vectors, stored)
            except _ChangedError:
                continue
            before = {part for parts in stored.parts.values() for part in parts}
            no_longer = sorted(before - {memory.id for memory in memories})
            gone = await self._forgetting.memories(no_longer)
            left = DocumentReport(forgotten=gone.deleted, connectors=gone.connectors)
            return report.plus(done).plus(left), late
        raise UnavailableError(
            f"documents of scope {self.scope!r} were written by others {MAX_ATTEMPTS} times in a "
            "row: write again later"
        )

    async def _forget_emptied(self, documents: Sequence[Document]) -> DocumentReport:
        """Forget the stored parts of documents that have neither title nor text any more."""
        if not documents:
            return DocumentReport()
        heads = [document_id(each.source, each.id) for each in documents]
        prefixes = [further_parts_prefix(head) for head in heads]
        parameters = {"prefixes": prefixes, "scope": self.scope}
        row = (await self._store.run(load("remember.begun"), parameters))[0]
        gone = await self._forgetting.memories([*heads, *(i for ids in row["ids"] for i in ids)])
        return DocumentReport(
            forgotten=gone.deleted, connectors=gone.connectors, certain=gone.certain
        )

    async def _commit(
        self,
        documents: Sequence[Planned],
        memories: Sequence[Memory],
        vectors: Mapping[str, Sequence[float] | None],
        stored: StoredDocuments,
    ) -> tuple[DocumentReport, list[Relation]]:
        """Write planned documents, unless others were written meanwhile."""
        renamed = stored.renamed(documents)
        titled = titled_by(documents, stored.titled)
        edges = Edges(self.config)
        for planned in documents:
            edges.add(planned, titled)
        await self._add_naming(edges, renamed, titled)
        late = edges.add_links(documents, stored.known)
        joint = await self._batches.prepare(
            memories,
            list(edges.relations.values()),
            skip_missing=True,  # only a text that was forgotten since can be missing
            undated=[memory.id for memory in memories if memory.created_at is None],
            vectors=vectors,
        )

        async def work(transaction: Transaction) -> tuple[int, WriteReport]:
            version = {"key": documents_key(self.scope), "scope": self.scope}
            before = (await transaction.run(load("remember.next_version"), version))[0]
            if before["version"] != stored.version:
                raise _ChangedError
            room = rewriting(self.scope, edges, documents, stored)
            freed: int = (await transaction.run(load("remember.rewrite"), room))[0]["freed"]
            created = await write_connectors(
                transaction, self.scope, edges.topics.values(), now=self._clock()
            )
            topics = WriteReport(memories=len(edges.topics), memories_created=created)
            return freed, (await joint.write(transaction)).plus(topics)

        (freed, written), links = await self._batches.commit(
            work, joint, name="remember.next_version"
        )
        counts = Counter(relation for _, _, relation in edges.relations)
        done = DocumentReport(
            topics=len(edges.topics),
            names=counts[NAMES],
            links=counts[LINKS_TO],
            connectors=freed,
            written=written.plus(links),
        )
        return done, late

    async def _add_naming(
        self, edges: Edges, renamed: Sequence[Planned], titled: Mapping[str, Sequence[str]]
    ) -> None:
        """Add the edges from the texts that named new titles before."""
        naming = await texts_naming(self._store, self.scope, titles_by_name(renamed))
        for planned in renamed:
            for name in sorted(planned.titles):
                if planned.head in titled[name][:MAX_TITLED]:
                    edges.add_naming(planned, naming[name], titled[name])

    async def _write_late(self, late: Sequence[Relation]) -> DocumentReport:
        """Write the links to documents that came after them."""
        done = WriteReport()
        for batch in batches(late, self._batches.batch_size):
            written, _ = await self._batches.write_relation_batch(batch, skip_missing=True)
            done = done.plus(written)
        return DocumentReport(
            links=done.relations, missing_links=len(late) - done.relations, written=done
        )


#: Documents and characters in one transaction, at most; a longer document has one to itself.
MAX_DOCUMENTS = 128
MAX_CHARS = 500_000


def groups(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Put documents together that fit into one transaction; no two of a group are the same."""
    group: dict[tuple[str, str], Document] = {}
    held = 0
    for document in documents:
        if not isinstance(document, Document):
            raise InvalidInputError(
                f"documents must contain Document, got {kind_of(document)}", field="documents"
            )
        name = (document.source, document.id)
        size = len(document.text) + sum(len(section.text) for section in document.sections)
        if group and (name in group or len(group) == MAX_DOCUMENTS or held + size > MAX_CHARS):
            yield list(group.values())
            group, held = {}, 0
        group[name] = document
        held += size
    if group:
        yield list(group.values())


_OWN = [NEXT, MENTIONS, NAMES, LINKS_TO]


def rewriting(
    scope: str, edges: Edges, documents: Sequence[Planned], stored: StoredDocuments
) -> dict[str, Any]:
    """Return the parameters of ``remember.rewrite``, which runs before anything is written."""
    keep: defaultdict[str, list[list[str]]] = defaultdict(list)
    for source, target, relation in edges.relations:
        keep[source].append([relation, target])
    there = [each for each in documents if each.head in stored.titles]
    return {
        "parts": [{"id": p.id, "keep": keep[p.id]} for each in there for p in each.parts],
        "relations": _OWN,
        "renamed": [
            {"id": each.head, "keep": [topic_id(name) for name in sorted(each.titles)]}
            for each in stored.renamed(there)
        ],
        "scope": scope,
        "stay": sorted(edges.topics),
    }
