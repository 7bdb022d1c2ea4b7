"""`GraphRetriever`, the handle that reads: from a query or from seeds to paths and a context.

In: a query, or seeds that the caller found. Out: `Recall`, or a stream of its parts. Reads only.
Nothing that writes is loaded before you ask for it (`GraphRetriever.writer` and the four after it).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Literal, Self, Unpack

from memoria._support.checks import check_each, check_scope, check_strings
from memoria._support.stream import Stream
from memoria._support.wording import kind_of, value_of
from memoria.embed import Embedder, checked_embedder
from memoria.errors import ConfigError, InvalidInputError
from memoria.graph.graph_reader import GraphReader
from memoria.graph.mapping.model import GraphMapping
from memoria.graph.mapping.reading import (
    MappedGraph,
    check_mapped_embedder,
    checked,
    scope_of,
    scopes_of,
)
from memoria.graph.server_facts import FittingFacts
from memoria.recall.asides import Asides
from memoria.recall.call import Engine, QueryTags, RecallCall
from memoria.recall.config import RecallSettings, RetrieverConfig
from memoria.recall.context import CountTokens
from memoria.recall.explore import (
    ExploreRequest,
    HydrateAt,
    Listener,
    distinct,
    raise_if_all_failed,
)
from memoria.recall.probing import Subjects
from memoria.recall.recaller import Recaller
from memoria.recall.together import check_read, explore_each, requests_of
from memoria.store import ServerFacts, StoreOrDriver, store_of
from memoria.types import (
    Exploration,
    FoundMemories,
    MemoryFilter,
    MemoryLinker,
    MemoryNode,
    MemoryPage,
    Neighbourhood,
    Path,
    PathProperties,
    Recall,
    RelationRoles,
    Seed,
    Seeds,
    filter_of,
)

if TYPE_CHECKING:
    from memoria.learn import LearnConfig, Learner
    from memoria.learn.link import LinkConfig, Linker
    from memoria.remember import (
        ConversationOptions,
        ConversationWriter,
        DocumentOptions,
        DocumentWriter,
    )
    from memoria.writer import GraphWriter, WriterOptions


def check_learn(learn: object, mapping: GraphMapping | None) -> None:
    """Raise `ConfigError` if what agents may teach is not known, or can't be written."""
    if learn not in (None, "used"):
        raise ConfigError(f"learn must be None or 'used', got {value_of(learn)}", field="learn")
    if learn is not None and mapping is not None:
        raise ConfigError("learn writes, and a mapping writes nothing: leave it out", field="learn")


class GraphRetriever:
    """Memory of one scope: it recalls and reads. `GraphWriter` is its twin, which writes.

    Recalls may read further scopes as well, such as that of a team: see ``also_read``.

    `connect` makes one; or give a driver of your own. Nothing is sent before the first call;
    ``async with`` is optional, and checks the server early. Use it in one event loop, for any
    number of calls at once; the limits of its store decide how many calls run at the same time.

    Parameters
    ----------
    store
        A `Store`, or an open ``neo4j.AsyncDriver``, which you close yourself. Retrievers on one
        store share its limits: in a service use one store, or one retriever and `for_scope`.
    scope
        The tenant whose memories these are; required, and fixed. It is left out for a mapped graph
        without tenants.
    also_read
        Further scopes that recalls read, all on the same footing; what is written goes to ``scope``
        alone. 15 at most.
    database
        Name of the database, on a driver of your own; None for ``neo4j``.
    embedder
        Turns queries into vectors; None searches by words only.
    config
        Settings of every stage.
    count_tokens
        Counts the tokens of a context; None means ``estimate_tokens``.
    mapping
        How to read a graph that another program made; such a retriever writes nothing. None for
        memoria's own graph.
    learn
        ``"used"`` lets agents teach: of the recalls of `tools` and of servers, the memories that
        an agent opened or cited count as used (see ``docs/learning.md``). None: nothing is learned
        by itself.

    Raises
    ------
    ScopeError
        The scope is missing, the mapping knows none, a scope is read twice, or ``also_read`` is
        given with a mapping.
    ConfigError
        The driver's pool has fewer connections than ``StoreConfig.max_sessions``, or ``learn`` is
        something else, or given with a mapping.
    InvalidInputError
        ``embedder`` is not an embedder. Wrap a function in `CallableEmbedder`.
    """

    def __init__(
        self,
        store: StoreOrDriver,
        *,
        scope: str | None = None,
        also_read: Iterable[str] = (),
        database: str | None = None,
        embedder: Embedder | None = None,
        config: RetrieverConfig | None = None,
        count_tokens: CountTokens | None = None,
        mapping: GraphMapping | None = None,
        learn: Literal["used"] | None = None,
    ) -> None:
        check_learn(learn, mapping)
        own = store_of(store, database)
        if mapping is not None:
            own = own.translated(partial(MappedGraph, checked(mapping)))
        elif isinstance(own.translation, MappedGraph):
            mapping = own.translation.mapping
        self.mapping = mapping
        self.scope = check_scope(scope_of(mapping, scope))
        self.also_read = self._further(also_read)
        self.store = own
        self.config = RetrieverConfig() if config is None else config
        if mapping is not None and not mapping.has_vectors:
            embedder = None  # there is nothing to compare a vector with: words only
        self.embedder = None if embedder is None else checked_embedder(embedder)
        self.count_tokens = count_tokens
        self.learn = learn
        self._facts = FittingFacts(self.embedder)
        self._opened = AsyncExitStack()
        asides = None if embedder is None else Asides(embedder)
        self._engine = Engine(
            scope=self.scope,
            embedder=embedder,
            asides=asides,
            subjects=None if asides is None else Subjects(asides.examples),
            facts=self._facts_until,
            count_tokens=count_tokens,
        )

    def for_scope(
        self, scope: str, *, database: str | None = None, also_read: Iterable[str] = ()
    ) -> Self:
        """Return the same retriever for another tenant, perhaps in another database.

        Parameters
        ----------
        scope
            The tenant.
        database
            Name of the tenant's database on the same server or cluster; None for that of this
            retriever. The driver and all limits stay the same. The server is asked once for each
            database whether it is set up; within one database it is not asked again.
        also_read
            Further scopes that its recalls read; those of this retriever don't count there.
        """
        other = copy(self)
        other.scope = check_scope(scope_of(self.mapping, scope))
        other.also_read = other._further(also_read)
        other._opened = AsyncExitStack()
        if database not in (None, self.store.database):
            other.store = self.store.for_database(database)
        other._engine = replace(self._engine, scope=other.scope, facts=other._facts_until)
        return other

    async def __aenter__(self) -> Self:
        await self.server_facts()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the driver if `connect` opened it; a driver or a store of your own stays open."""
        await self._opened.aclose()

    async def server_facts(self, *, until: float | None = None) -> ServerFacts:
        """Return what the server is and which indexes it has; a store asks only once.

        Parameters
        ----------
        until
            Time of the loop's clock at which the answer must be there; seconds.

        Raises
        ------
        DimensionError
            The embedder is not the one whose vectors the index holds.
        DeadlineError
            The server did not answer in time.
        """
        facts = await self._facts.of(self.store, until=until)
        if self.mapping is not None:
            check_mapped_embedder(self.mapping, facts, self.embedder)
        return facts

    async def _facts_until(self, until: float | None) -> ServerFacts:
        return await self.server_facts(until=until)

    async def find_seeds(
        self,
        query: str,
        *,
        query_tags: Iterable[str] = (),
        max_seeds: int | None = None,
        kinds: Iterable[str] | None = None,
        where: MemoryFilter | None = None,
        config: RetrieverConfig | None = None,
    ) -> Seeds:
        """Search for the memories to start from, by vector and by words.

        Parameters
        ----------
        query
            The user's words, up to 1 MB; they are plain text, without any query syntax.
        query_tags
            Tags of the query; the search takes them as further words.
        max_seeds
            Number of seeds, at most; 1 to 100. None for the configured number, by default 5.
        kinds
            Kinds of memories to return; None for all. Short for ``where`` with ``kinds``.
        where
            Which memories to return. It is applied inside the search: a filter that one memory in a
            hundred fits still gets its seeds.
        config
            Settings for this call.

        Raises
        ------
        InvalidInputError
            The query is blank or can't be encoded, or a tag or a kind is not valid.
        """
        settings = self._settings(config, max_seeds=max_seeds)
        tags = check_strings(query_tags, "query_tags")
        call = RecallCall.checked(query, tags, filter_of(where, kinds), settings)
        return await self._recaller(call, None).find_seeds()

    def explore_seeds(
        self,
        seeds: Iterable[Seed] | Seeds,
        *,
        query_tags: Iterable[str] = (),
        config: RetrieverConfig | None = None,
        deadline_s: float | None = None,
    ) -> Stream[Exploration, None]:
        """Explore from every seed; iterate over the explorations as they finish.

        An exploration that failed has the status ``failed`` and its ``error``. If all of them
        failed, the stream raises the first error after the last exploration.

        Parameters
        ----------
        seeds
            Memories to start from, each once. `Seed.scope` is that of the retriever, or one of
            those that it also reads; "" for that of the retriever.
        query_tags
            Tags to compare the tags of edges with; without tags every edge counts fully.
        config
            Settings for this call.
        deadline_s
            Time for the call; seconds, > 0. Paths that are complete by then are delivered, and
            the other branches as far as they got.

        Raises
        ------
        InvalidInputError
            Two seeds have the same id, one is of a scope that is not read, or an argument is out of
            its range.
        MemoriaError
            Every exploration failed, for example because of a wrong password.
        """
        chosen = distinct(seeds)
        request = self._explore_request(chosen, query_tags, config, deadline_s, "exploration_end")

        async def produce(emit: Callable[[Exploration], None]) -> None:
            done: list[Exploration] = []

            def deliver(exploration: Exploration) -> None:
                done.append(exploration)
                emit(exploration)

            await explore_each(self.store, await request(), Listener(on_exploration=deliver))
            raise_if_all_failed(done)

        return Stream(produce)

    def stream_paths(
        self,
        seeds: Iterable[Seed] | Seeds,
        *,
        query_tags: Iterable[str] = (),
        config: RetrieverConfig | None = None,
        deadline_s: float | None = None,
    ) -> Stream[Path, tuple[Exploration, ...]]:
        """Explore from every seed; iterate over the paths as soon as each has ended.

        Arguments as in `explore_seeds`. The stream's ``result`` holds the explorations. If an
        exploration fails, its error is raised after the paths of the others.
        """
        chosen = distinct(seeds)
        request = self._explore_request(chosen, query_tags, config, deadline_s, "branch_end")

        async def produce(emit: Callable[[Path], None]) -> tuple[Exploration, ...]:
            done: list[Exploration] = []
            listener = Listener(on_exploration=done.append, on_path=emit)
            await explore_each(self.store, await request(), listener)
            for exploration in done:
                if exploration.error is not None:
                    raise exploration.error
            return tuple(sorted(done, key=lambda exploration: chosen.index(exploration.seed)))

        return Stream(produce)

    async def recall(
        self,
        query: str,
        *,
        query_tags: QueryTags = (),
        kinds: Iterable[str] | None = None,
        where: MemoryFilter | None = None,
        scopes: Iterable[str] | None = None,
        config: RetrieverConfig | None = None,
        **settings: Unpack[RecallSettings],
    ) -> Recall:
        """Find seeds, explore from them, rank what was found, and pack it for a prompt.

        Parameters
        ----------
        query, kinds, where
            As in `find_seeds`. Others are neither ranked nor packed, but energy may pass
            through them; through a mapping, from them, too, if only kind, tags or metadata differ.
        query_tags
            Tags that steer the energy, and are further words for the search. They are fitted to
            the tags of the edges around the hits: case, hyphens and underscores don't matter, and
            tags of which no edge has any count as none; `Trace.degraded` names them. ``"auto"``:
            the tags of these edges whose words occur in the query. In a mapped graph the types of
            edges are their tags, and without tags the query has the types whose words it has.
        scopes
            The scopes to read; None for those of the retriever, ``scope`` and ``also_read``.
            Results name their scopes, unless only that of the retriever is read.
        config
            All settings for this call, used instead of the retriever's.
        **settings
            Single settings for this call: ``budget_tokens``, ``deadline_s``, ``strategy``,
            ``max_seeds``, ``min_relevance``, ``min_best_relevance``, ``as_of``, ``time_zone``. All
            others are those of ``config`` or of the retriever.

        Raises
        ------
        InvalidInputError
            An argument is out of its range, or a setting is not known.
        DeadlineError
            The recall had no result in time.
        OverloadedError
            The recall's turn did not come in time.
        MemoriaError
            Neither vectors nor words could be searched, or every exploration failed.
        """
        chosen = self._settings(config, **settings)
        call = RecallCall.checked(query, query_tags, filter_of(where, kinds), chosen)
        return await self._recaller(call, scopes).run(None)

    def recall_stream(
        self,
        query: str,
        *,
        query_tags: QueryTags = (),
        kinds: Iterable[str] | None = None,
        where: MemoryFilter | None = None,
        scopes: Iterable[str] | None = None,
        config: RetrieverConfig | None = None,
        on_seeds: Callable[[Seeds], None] = lambda _: None,
        **settings: Unpack[RecallSettings],
    ) -> Stream[Path, Recall]:
        """Recall, and iterate over the paths as they end; ``result`` is the `Recall`.

        Arguments as in `recall`. ``on_seeds`` is called with the seeds once they are found.
        """
        chosen = self._settings(config, **settings)
        call = RecallCall.checked(query, query_tags, filter_of(where, kinds), chosen)
        call = replace(call, on_seeds=on_seeds)
        scopes = self._scopes(scopes)  # checked now

        async def produce(emit: Callable[[Path], None]) -> Recall:
            return await self._recaller(call, scopes).run("branch_end", emit)

        return Stream(produce)

    async def get(self, ids: Iterable[str]) -> FoundMemories:
        """Read memories by id; ids that no memory has are in `FoundMemories.missing`.

        One round trip for each 1,000 ids.
        """
        return await self._reader.get(ids)

    async def recent(
        self, *, limit: int = 20, where: MemoryFilter | None = None
    ) -> tuple[MemoryNode, ...]:
        """Read the newest memories by ``created_at``; those without a time come last, ties by id.

        Parameters
        ----------
        limit
            Most memories to return; 1 to 10,000.
        where
            Which memories to return. Connectors (sessions, speakers, topics) are left out unless
            their kinds are asked for.

        Notes
        -----
        Two round trips, of which one takes a pass over the scope.
        """
        return await self._reader.recent(limit=limit, where=where)

    async def list(
        self, *, where: MemoryFilter | None = None, limit: int = 100, after: str | None = None
    ) -> MemoryPage:
        """Read a page of the memories, in the order of their ids.

        Parameters
        ----------
        where
            Which memories to return; as in `recent`.
        limit
            Most memories of the page; 1 to 10,000.
        after
            `MemoryPage.next` of the page before; None for the first page. A memory that is written
            meanwhile comes on a later page, or not at all; no memory comes twice.

        Notes
        -----
        Two round trips. The first one reads on in the scope until enough memories fit.
        """
        return await self._reader.list(where=where, limit=limit, after=after)

    async def neighbours(self, id: str, *, limit: int = 20) -> Neighbourhood:  # noqa: A002
        """Read the strongest edges of a memory, and their other ends, in two round trips.

        Parameters
        ----------
        id
            Id of the memory; `Neighbourhood.memory` is None if the memory does not exist.
        limit
            Most edges to return; 1 to 10,000.
        """
        return await self._reader.neighbours(id, limit=limit)

    async def properties_of(
        self,
        paths: Iterable[Path],
        *,
        properties: Iterable[str] | None = None,
        as_of: datetime | None = None,
    ) -> tuple[PathProperties, ...]:
        """Read stored properties along paths, one result for each; a round trip for each 1,000 ids.

        Parameters
        ----------
        paths
            Paths of an exploration or a recall; of the scopes that the retriever reads.
        properties
            Names of the properties to read; None for all but vectors. Times are texts.
        as_of
            The time of the recall, if it had one: parallel edges of a mapped graph differ by it.
        """
        given = list(paths)
        check_read([path.scope for path in given], (self.scope, *self.also_read), "paths")
        return await self._reader.properties_of(given, properties=properties, as_of=as_of)

    async def relation_roles(self) -> RelationRoles:
        """Read the roles that the scope declares for its relations; an undeclared role is None."""
        return await self._reader.relation_roles()

    @property
    def _reader(self) -> GraphReader:
        return GraphReader(self.store, scope=self.scope)

    def writer(self, **options: Unpack[WriterOptions[MemoryLinker]]) -> GraphWriter:
        """Make a `GraphWriter` with its options, on the same store, scope and embedder."""
        from memoria.writer import GraphWriter

        return GraphWriter(self.store, scope=self.scope, embedder=self.embedder, **options)

    def conversations(
        self, **options: Unpack[ConversationOptions[MemoryLinker]]
    ) -> ConversationWriter:
        """Make a `ConversationWriter` with its options, on the same store, scope and embedder."""
        from memoria.remember import ConversationWriter

        return ConversationWriter(self.store, scope=self.scope, embedder=self.embedder, **options)

    def documents(self, **options: Unpack[DocumentOptions[MemoryLinker]]) -> DocumentWriter:
        """Make a `DocumentWriter` with its options, on the same store, scope and embedder."""
        from memoria.remember import DocumentWriter

        return DocumentWriter(self.store, scope=self.scope, embedder=self.embedder, **options)

    def linker(self, *, config: LinkConfig | None = None, batch_size: int = 256) -> Linker:
        """Make a `Linker` on the same store and scope."""
        from memoria.learn.link import Linker

        return Linker(
            self.store,
            scope=self.scope,
            config=config,
            embedder=self.embedder,
            batch_size=batch_size,
        )

    def learner(self, *, config: LearnConfig | None = None) -> Learner:
        """Make a `Learner` on the same store and scope."""
        from memoria.learn import Learner

        return Learner(self.store, scope=self.scope, config=config)

    def _scopes(self, scopes: Iterable[str] | None) -> tuple[str, ...]:
        """Return the scopes that a call reads, checked."""
        if scopes is None:
            return (self.scope, *self.also_read)
        return scopes_of(self.mapping, self.scope, scopes, "scopes")

    def _further(self, also_read: Iterable[str]) -> tuple[str, ...]:
        further = check_each(also_read, str, "also_read")
        return scopes_of(self.mapping, self.scope, (self.scope, *further), "also_read")[1:]

    def _recaller(self, call: RecallCall, scopes: Iterable[str] | None) -> Recaller:
        """Return what runs a call; results name their scopes unless only its own is read."""
        chosen = self._scopes(scopes)
        call = replace(call, scopes=() if chosen == (self.scope,) else chosen)
        return Recaller(self.store, replace(self._engine, scope=chosen[0]), call)

    def _settings(
        self, config: RetrieverConfig | None, **given: Unpack[RecallSettings]
    ) -> RetrieverConfig:
        """Return the settings with the single ones that a call gives."""
        settings = self.config if config is None else config
        if not isinstance(settings, RetrieverConfig):
            raise InvalidInputError(
                f"config must be a RetrieverConfig, got {kind_of(settings)}", field="config"
            )
        return settings.overridden(given)

    def _explore_request(
        self,
        seeds: tuple[Seed, ...],
        query_tags: Iterable[str],
        config: RetrieverConfig | None,
        deadline_s: float | None,
        hydrate_at: HydrateAt,
    ) -> Callable[[], Awaitable[dict[str, ExploreRequest]]]:
        """Check the arguments now; the clock starts when the stream starts."""
        tags = check_strings(query_tags, "query_tags")
        settings = self._settings(config, deadline_s=deadline_s)
        check_read([seed.scope for seed in seeds], (self.scope, *self.also_read), "seeds")
        return partial(
            requests_of,
            self.store,
            seeds,
            scope=self.scope,
            query_tags=tags,
            config=settings,
            hydrate_at=hydrate_at,
        )


def close_with(retriever: GraphRetriever, opened: AsyncExitStack) -> None:
    """Make a retriever close, at its end, the resources that were opened for it alone."""
    retriever._opened = opened
