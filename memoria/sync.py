"""memoria without async: the same names and parameters, for callers that don't ``await``.

In: calls from any thread. Out: the results of the async classes, whose calls run in one event loop
per connection, in a thread of its own (`LoopThread`). Touches nothing else.

One line makes the twin of a method, and a type variable for parameters (`ParamSpec`) carries the
whole signature over: mypy, pyright and completion show it as if it were written out, and it can't
differ from the async one. Files of written or generated twins, as of httpx, psycopg and the driver,
would repeat every signature, and `asyncio` has all that a portal of anyio does for one loop.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Protocol, Self, TypeVar, Unpack

import memoria
from memoria._support.blocking import Handle, Stream, blocking, call_behind, making, streaming
from memoria._support.loop_thread import LoopThread
from memoria._support.signatures import same_parameters
from memoria.recall.config import RetrieverConfig
from memoria.recall.context import CountTokens
from memoria.remember import ConversationOptions, DocumentOptions
from memoria.types import MemoryLinker
from memoria.writer import WriterOptions

__all__ = [  # without `open`, as in memoria
    "ConversationWriter",
    "DocumentWriter",
    "GraphRetriever",
    "GraphWriter",
    "Learner",
    "Linker",
    "Store",
    "Stream",
    "apply_schema",
    "blocking",
    "connect",
    "finish_reembedding",
    "reembed",
    "replay",
    "roll_back_reembedding",
]


class Store(Handle[memoria.Store]):
    """One database as all parts of a process share it; see `memoria.Store`."""

    run = blocking(memoria.Store.run)
    write = blocking(memoria.Store.write)
    explain = blocking(memoria.Store.explain)

    @property
    def sessions_in_use(self) -> int:
        """How many sessions are open."""
        return self._behind.sessions_in_use

    def patient(self, seconds: float | None = None) -> Self:
        """Return a copy of this store that gives each query at least ``seconds``.

        None means `StoreConfig.long_query_timeout_s`.
        """
        return type(self)(self._behind.patient(seconds), self._thread)

    def for_database(self, database: str) -> Store:
        """Return the store of another database on the same driver and limits."""
        return Store(self._behind.for_database(database), self._thread)

    @property
    def bookmarks(self) -> tuple[str, ...]:
        """Bookmarks of all that was written and read on this driver and database so far, sorted."""
        return self._behind.bookmarks

    def follow(self, bookmarks: Iterable[str]) -> None:
        """Let later reads on this driver and database see what these bookmarks stand for."""

        async def follow() -> None:  # in the loop, whose queries change the same bookmarks
            self._behind.follow(bookmarks)

        self._thread.run(follow)


class HasScope(Protocol):
    """Every async object that belongs to one scope."""

    scope: str


S_co = TypeVar("S_co", bound=HasScope, covariant=True)


class ScopedHandle(Handle[S_co]):
    """The twin of an object that belongs to one scope."""

    @property
    def scope(self) -> str:
        """The tenant whose memories these are."""
        return self._behind.scope


class Linker(ScopedHandle[memoria.Linker]):
    """Links memories of one scope; see `memoria.Linker`."""

    link = blocking(memoria.Linker.link)
    prune = blocking(memoria.Linker.prune)


class GraphWriter(ScopedHandle[memoria.GraphWriter]):
    """Writes memories and relations of one scope; see `memoria.GraphWriter`."""

    write = blocking(memoria.GraphWriter.write)
    remember = blocking(memoria.GraphWriter.remember)
    conversation = blocking(memoria.GraphWriter.conversation)
    document = blocking(memoria.GraphWriter.document)
    forget = blocking(memoria.GraphWriter.forget)
    forget_scope = blocking(memoria.GraphWriter.forget_scope)
    delete_edge = blocking(memoria.GraphWriter.delete_edge)
    declare = blocking(memoria.GraphWriter.declare)
    backfill_embeddings = blocking(memoria.GraphWriter.backfill_embeddings)
    count_unembedded = blocking(memoria.GraphWriter.count_unembedded)
    ready = blocking(memoria.GraphWriter.ready)


class ConversationWriter(ScopedHandle[memoria.ConversationWriter]):
    """Writes conversations into one scope; see `memoria.ConversationWriter`."""

    write = blocking(memoria.ConversationWriter.write)
    append = blocking(memoria.ConversationWriter.append)


class DocumentWriter(ScopedHandle[memoria.DocumentWriter]):
    """Writes documents into one scope; see `memoria.DocumentWriter`."""

    write = blocking(memoria.DocumentWriter.write)
    prune = blocking(memoria.DocumentWriter.prune)
    absent = blocking(memoria.DocumentWriter.absent)
    ready = blocking(memoria.DocumentWriter.ready)


class Learner(ScopedHandle[memoria.Learner]):
    """Learns from how the results of recalls were used; see `memoria.Learner`."""

    reinforce = blocking(memoria.Learner.reinforce)
    strengthen_edge = blocking(memoria.Learner.strengthen_edge)
    feedback = blocking(memoria.Learner.feedback)
    co_activate = blocking(memoria.Learner.co_activate)
    suppress = blocking(memoria.Learner.suppress)
    override = blocking(memoria.Learner.override)
    consolidate = blocking(memoria.Learner.consolidate)
    log = blocking(memoria.Learner.log)
    undo = blocking(memoria.Learner.undo)


class GraphRetriever(ScopedHandle[memoria.GraphRetriever]):
    """Memory of one scope; see `memoria.GraphRetriever`, and `connect`, which makes one.

    Any number of threads may use it at once. It can't be used in a process that was forked after
    it was opened: open another one there.
    """

    recall = blocking(memoria.GraphRetriever.recall)
    recall_stream = streaming(memoria.GraphRetriever.recall_stream)
    find_seeds = blocking(memoria.GraphRetriever.find_seeds)
    explore_seeds = streaming(memoria.GraphRetriever.explore_seeds)
    stream_paths = streaming(memoria.GraphRetriever.stream_paths)
    get = blocking(memoria.GraphRetriever.get)
    list = blocking(memoria.GraphRetriever.list)
    recent = blocking(memoria.GraphRetriever.recent)
    relation_roles = blocking(memoria.GraphRetriever.relation_roles)
    neighbours = blocking(memoria.GraphRetriever.neighbours)
    properties_of = blocking(memoria.GraphRetriever.properties_of)
    server_facts = blocking(memoria.GraphRetriever.server_facts)
    linker = making(memoria.GraphRetriever.linker, Linker)
    learner = making(memoria.GraphRetriever.learner, Learner)

    # Written out, since a linker may be one of this module; `call_behind` takes the one behind it.

    def writer(self, **options: Unpack[WriterOptions[Linker | MemoryLinker]]) -> GraphWriter:
        """Make a `GraphWriter` with its options, on the same store, scope and embedder."""
        given: Any = options
        return GraphWriter(call_behind(memoria.GraphRetriever.writer, self, **given), self._thread)

    def conversations(
        self, **options: Unpack[ConversationOptions[Linker | MemoryLinker]]
    ) -> ConversationWriter:
        """Make a `ConversationWriter` with its options, on the same store, scope and embedder."""
        given: Any = options
        made = call_behind(memoria.GraphRetriever.conversations, self, **given)
        return ConversationWriter(made, self._thread)

    def documents(
        self, **options: Unpack[DocumentOptions[Linker | MemoryLinker]]
    ) -> DocumentWriter:
        """Make a `DocumentWriter` with its options, on the same store, scope and embedder."""
        given: Any = options
        made = call_behind(memoria.GraphRetriever.documents, self, **given)
        return DocumentWriter(made, self._thread)

    def for_scope(
        self, scope: str, *, database: str | None = None, also_read: Iterable[str] = ()
    ) -> Self:
        """Return the same retriever for another tenant, perhaps in another database."""
        made = self._behind.for_scope(scope, database=database, also_read=also_read)
        return type(self)(made, self._thread)

    @property
    def also_read(self) -> tuple[str, ...]:
        """Further scopes that recalls read."""
        return self._behind.also_read

    @property
    def config(self) -> RetrieverConfig:
        """Settings of every stage."""
        return self._behind.config

    @property
    def embedder(self) -> memoria.Embedder | None:
        """What turns queries into vectors."""
        return self._behind.embedder

    @property
    def count_tokens(self) -> CountTokens | None:
        """What counts the tokens of a context."""
        return self._behind.count_tokens

    @property
    def learn(self) -> Literal["used"] | None:
        """Whether agents teach by using it: ``"used"``, or None."""
        return self._behind.learn

    @property
    def store(self) -> Store:
        """The database, which all retrievers and writers of this connection share."""
        return Store(self._behind.store, self._thread)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection if `connect` made this retriever; calls that wait are ended.

        Safe to call again. A retriever made by `for_scope` has nothing to close.
        """
        if self._behind is self._thread.resource:
            self._thread.close()


@same_parameters(memoria.connect)
def connect(*given: Any, **settings: Any) -> GraphRetriever:
    """Open a `GraphRetriever`, and check its server; see `memoria.connect`.

    ``with connect(...) as memory`` closes it at the end of the block; or call its ``close``.
    Embedders and callbacks are called in other threads.
    """
    thread = LoopThread(memoria.connect(*given, **settings))
    return GraphRetriever(thread.resource, thread)


open = connect  # noqa: A001 - as in memoria, where connecting and opening differ
apply_schema = blocking(memoria.apply_schema)
finish_reembedding = blocking(memoria.finish_reembedding)
reembed = blocking(memoria.reembed)
replay = blocking(memoria.replay)
roll_back_reembedding = blocking(memoria.roll_back_reembedding)
