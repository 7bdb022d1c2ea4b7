"""Write what an importer reads: conversations, documents, memories and relations.

In: items, in any order, but a relation after its ends. Out: an `ImportReport`. Writes, by the
writers of each kind of item.

Memory is bounded: conversations are written as they come, and what lies between them waits until
there is enough of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from memoria._support.progress import ProgressCallback, silent
from memoria.embed import Embedder
from memoria.graph.vocabulary import CONNECTOR_KINDS, DEFAULT_KINDS
from memoria.ingest.batch_writer import BatchWriter
from memoria.remember.conversations import ConversationWriter
from memoria.remember.documents import DocumentWriter
from memoria.store import StoreOrDriver
from memoria.types import Conversation, Document, ImportReport, Item, Memory, Relation

#: Most items, and characters of documents, that wait while conversations are written.
MAX_WAITING, MAX_WAITING_CHARS = 2_000, 5_000_000


@dataclass(slots=True)
class _Waiting:
    """What is to be written after the conversations before it."""

    documents: list[Document] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    chars: int = 0
    ended: bool = False

    def conversations(self, items: Iterator[Item]) -> Iterator[Conversation]:
        """Yield the conversations until enough of the others waits."""
        for item in items:
            if isinstance(item, Conversation):
                yield item
                continue
            if isinstance(item, Document):
                self.documents.append(item)
                self.chars += len(item.text) + sum(len(each.text) for each in item.sections)
            elif isinstance(item, Memory):
                self.memories.append(item)
                self.chars += len(item.text)
            else:
                self.relations.append(item)
            number = len(self.documents) + len(self.memories) + len(self.relations)
            if number >= MAX_WAITING or self.chars >= MAX_WAITING_CHARS:
                return
        self.ended = True


class ImportWriter:
    """Writes what the readers of `memoria.importers` yield into one scope.

    Safe to repeat after an error or a kill: what is there stays, and the rest is added.

    Parameters
    ----------
    store
        A `Store`, such as the store of a retriever, or an open driver of your own.
    embedder
        Makes the vectors of the memories; None makes no vectors.
    """

    def __init__(
        self, store: StoreOrDriver, *, scope: str, embedder: Embedder | None = None
    ) -> None:
        kinds = (*DEFAULT_KINDS, *CONNECTOR_KINDS)
        self._graph = BatchWriter(store, scope=scope, embedder=embedder, kinds=kinds)
        self._conversations = ConversationWriter(store, scope=scope, embedder=embedder)
        self._documents = DocumentWriter(store, scope=scope, embedder=embedder)
        self.scope = self._graph.scope

    async def ready(self) -> None:
        """Check that the database fits the embedder, if it is set up."""
        await self._graph.ready()

    async def write(
        self, items: Iterable[Item], *, progress: ProgressCallback = silent
    ) -> ImportReport:
        """Write items, as the writers of each kind do.

        Parameters
        ----------
        progress
            Called as ``progress("documents", done, None)`` while documents are written.

        Raises
        ------
        InvalidInputError
            An item holds what can't be stored, or a relation comes before one of its ends.
        """
        report = ImportReport()
        coming = iter(items)
        waiting = _Waiting()
        while not waiting.ended:
            waiting = _Waiting()
            talked = await self._conversations.write(waiting.conversations(coming))
            report = report.plus(ImportReport(conversations=talked))
            if waiting.documents:
                written = await self._documents.write(waiting.documents, progress=progress)
                report = report.plus(ImportReport(documents=written))
            if waiting.memories or waiting.relations:
                graph = await self._graph.write(waiting.memories, waiting.relations)
                report = report.plus(ImportReport(graph=graph))
        return report
