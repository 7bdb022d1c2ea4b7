"""`GraphRetriever`, the one handle: from a query or from seeds to paths, a ranking, a context.

In: a query, or seeds that the caller found. Out: `Recall`, or a stream of its parts. Reads only;
the writer, linker and learner that it makes write on an explicit call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Self

from memoria._support.checks import check_scope, check_strings, check_whole
from memoria._support.stream import Stream
from memoria._support.wording import kind_of
from memoria.config import RetrieverConfig
from memoria.context import CountTokens
from memoria.embed import Embedder, checked_embedder
from memoria.errors import ConfigError, InvalidInputError
from memoria.explore import (
    ExploreRequest,
    HydrateAt,
    Listener,
    distinct,
    explore,
    raise_if_all_failed,
)
from memoria.graph.fitting import FittingFacts
from memoria.mapping.model import GraphMapping
from memoria.mapping.reading import MappedGraph, check_mapped_embedder, checked, scope_of
from memoria.recall import Asides, Engine, QueryTags, RecallCall, Recaller, validity_of
from memoria.remember.writer import WritesToo
from memoria.store import ServerFacts, StoreOrDriver, store_of
from memoria.strategies import RunInput
from memoria.types import (
    Exploration,
    MemoryFilter,
    Path,
    Recall,
    Seed,
    Seeds,
    filter_of,
)


class GraphRetriever(WritesToo):
    """Memory of one scope: it recalls and reads, and makes the objects that write, link and learn.

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

    Raises
    ------
    ScopeError
        There is no scope, or the mapping knows none.
    ConfigError
        The driver's pool has fewer connections than ``StoreConfig.max_sessions``.
    InvalidInputError
        ``embedder`` is not an embedder. Wrap a function in `CallableEmbedder`.
    """

    def __init__(
        self,
        store: StoreOrDriver,
        *,
        scope: str | None = None,
        database: str | None = None,
        embedder: Embedder | None = None,
        config: RetrieverConfig | None = None,
        count_tokens: CountTokens | None = None,
        mapping: GraphMapping | None = None,
    ) -> None:
        own = store_of(store, database)
        if mapping is not None:
            own = own.translated(partial(MappedGraph, checked(mapping)))
        elif isinstance(own.translation, MappedGraph):
            mapping = own.translation.mapping
        super().__init__(own, scope=check_scope(scope_of(mapping, scope)))
        self.mapping = mapping
        self.config = RetrieverConfig() if config is None else config
        if mapping is not None and not mapping.vector_indexes:
            embedder = None  # there is nothing to compare a vector with: words only
        self.embedder = None if embedder is None else checked_embedder(embedder)
        self.count_tokens = count_tokens
        self._facts = FittingFacts(self.embedder)
        self._opened = AsyncExitStack()
        self._engine = Engine(
            scope=self.scope,
            embedder=embedder,
            asides=None if embedder is None else Asides(embedder),
            facts=self._facts_until,
            count_tokens=count_tokens,
        )

    def for_scope(self, scope: str, *, database: str | None = None) -> Self:
        """Return the same retriever for another tenant, perhaps in another database.

        Parameters
        ----------
        scope
            The tenant.
        database
            Name of the tenant's database on the same server or cluster; None for that of this
            retriever. The driver and all limits stay the same. The server is asked once for each
            database whether it is set up; within one database it is not asked again.
        """
        other = copy(self)
        other.scope = check_scope(scope_of(self.mapping, scope))
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
        settings = self._settings(config)
        if max_seeds is not None:
            number = check_whole(max_seeds, "max_seeds", low=1, high=100)
            search = settings.seed_search
            search = replace(search, max_seeds=number, candidates=max(search.candidates, number))
            settings = replace(settings, seeds=search)
        tags = check_strings(query_tags, "query_tags")
        call = RecallCall.checked(query, tags, filter_of(where, kinds), settings)
        return await Recaller(self.store, self._engine, call).find_seeds()

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
            Memories to start from; their ids must be distinct.
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
            Two seeds have the same id, or an argument is out of its range.
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

            await explore(self.store, await request(), Listener(on_exploration=deliver))
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
            await explore(self.store, await request(), listener)
            for exploration in done:
                if exploration.error is not None:
                    raise exploration.error
            order = [seed.id for seed in chosen]
            return tuple(sorted(done, key=lambda exploration: order.index(exploration.seed.id)))

        return Stream(produce)

    async def recall(
        self,
        query: str,
        *,
        query_tags: QueryTags = (),
        budget_tokens: int | None = None,
        deadline_s: float | None = None,
        kinds: Iterable[str] | None = None,
        where: MemoryFilter | None = None,
        as_of: datetime | None = None,
        config: RetrieverConfig | None = None,
    ) -> Recall:
        """Find seeds, explore from them, rank what was found, and pack it for a prompt.

        Parameters
        ----------
        query, kinds, where
            As in `find_seeds`. A memory that does not fit is neither ranked nor packed, but energy
            may pass through it to others.
        query_tags
            Tags that steer the energy, and are further words for the search. They are fitted to
            the tags of the edges around the hits: case, hyphens and underscores don't matter, and
            tags of which no edge has any count as none; `Trace.degraded` names them. ``"auto"``:
            the tags of these edges whose words stand in the query.
        budget_tokens
            Size of the context; tokens, >= 1.
        deadline_s
            Time for the call; seconds, > 0.
        as_of
            Ask for an earlier state; see `RetrieverConfig`, which also lets outdated memories in.
        config
            Settings for this call.

        Raises
        ------
        DeadlineError
            The recall had no result in time.
        OverloadedError
            The recall's turn did not come in time.
        MemoriaError
            Neither vectors nor words could be searched, or every exploration failed.
        """
        given = {"budget_tokens": budget_tokens, "deadline_s": deadline_s, "as_of": as_of}
        settings = self._settings(config, **given)
        call = RecallCall.checked(query, query_tags, filter_of(where, kinds), settings)
        return await Recaller(self.store, self._engine, call).run(None)

    def recall_stream(
        self,
        query: str,
        *,
        query_tags: QueryTags = (),
        budget_tokens: int | None = None,
        deadline_s: float | None = None,
        kinds: Iterable[str] | None = None,
        where: MemoryFilter | None = None,
        as_of: datetime | None = None,
        config: RetrieverConfig | None = None,
        on_seeds: Callable[[Seeds], None] = lambda _: None,
    ) -> Stream[Path, Recall]:
        """Recall, and iterate over the paths as they end; ``result`` is the `Recall`.

        Arguments as in `recall`. ``on_seeds`` is called with the seeds once they are found.
        """
        given = {"budget_tokens": budget_tokens, "deadline_s": deadline_s, "as_of": as_of}
        settings = self._settings(config, **given)
        call = RecallCall.checked(query, query_tags, filter_of(where, kinds), settings)
        call = replace(call, on_seeds=on_seeds)

        async def produce(emit: Callable[[Path], None]) -> Recall:
            return await Recaller(self.store, self._engine, call).run("branch_end", emit)

        return Stream(produce)

    def _settings(self, config: RetrieverConfig | None, **given: Any) -> RetrieverConfig:
        """Return the settings with those that one call gives, which are a caller's input."""
        settings = self.config if config is None else config
        if not isinstance(settings, RetrieverConfig):
            raise InvalidInputError(
                f"config must be a RetrieverConfig, got {kind_of(settings)}", field="config"
            )
        try:
            return replace(settings, **{k: v for k, v in given.items() if v is not None})
        except ConfigError as exc:
            raise InvalidInputError(str(exc)) from exc

    def _explore_request(
        self,
        seeds: tuple[Seed, ...],
        query_tags: Iterable[str],
        config: RetrieverConfig | None,
        deadline_s: float | None,
        hydrate_at: HydrateAt,
    ) -> Callable[[], Awaitable[ExploreRequest]]:
        """Check the arguments now; the clock starts when the stream starts."""
        tags = check_strings(query_tags, "query_tags")
        settings = self._settings(config, deadline_s=deadline_s)

        async def request() -> ExploreRequest:
            started, now = asyncio.get_running_loop().time(), datetime.now(UTC)
            until = started + settings.deadline_s
            return ExploreRequest(
                strategy=settings.strategy,
                input=RunInput(
                    seeds=seeds,
                    scope=self.scope,
                    query_tags=tags,
                    max_weight=settings.max_weight,
                    now=now,
                    validity=await validity_of(
                        self.store, settings, scope=self.scope, now=now, until=until
                    ),
                ),
                started=started,
                until=until,
                hydrate_at=hydrate_at,
                seeds_per_session=settings.seeds_per_session or 1,
            )

        return request


def close_with(retriever: GraphRetriever, opened: AsyncExitStack) -> None:
    """Make a retriever close, at its end, the resources that were opened for it alone."""
    retriever._opened = opened
