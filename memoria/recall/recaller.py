"""One recall from end to end: embed, find seeds, explore, read, rank, pack.

In: a checked `RecallCall`. Out: `Recall`. Reads only.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from memoria._support import telemetry
from memoria._support.prefetch import Prefetch
from memoria._support.wording import MORE_TIME
from memoria.errors import DeadlineError, MemoriaError
from memoria.graph.naming import unknown_names
from memoria.recall.at_time import at_time, when_for
from memoria.recall.call import Engine, RecallCall
from memoria.recall.context import near_pairs
from memoria.recall.explore import ExploreRequest, HydrateAt, explore_all
from memoria.recall.live import search_live
from memoria.recall.needs import NOTHING_NEEDED, Needed, NeedsRequest, follow_needs
from memoria.recall.packing import (
    PackRequest,
    contributed,
    flat,
    notes_of,
    pack,
    packed,
    worth_of,
)
from memoria.recall.plain_settings import settings_of
from memoria.recall.ranked import ranked_of, stated_only, with_alike
from memoria.recall.ranking import FactsRequest
from memoria.recall.reporting import missed, outcome_of, recall_span, report
from memoria.recall.seeds import SeedRequest, with_unembedded
from memoria.recall.strategies import RunInput
from memoria.recall.subjects import Probe, with_subject
from memoria.recall.tags import fitting_tags
from memoria.recall.texts import Completed, Found, complete, read_early
from memoria.recall.validity import validity_of
from memoria.recall.vector import query_vector
from memoria.store import Store
from memoria.store.facts import ServerFacts
from memoria.store.limiter import Limiter
from memoria.types import ContextPack, Exploration, Path, RankedMemory, Recall, Seeds, Trace
from memoria.types.validity import Validity

# Shares of the time left for the search, the tags, exploring, and reading; the rest is for ranking
# and packing. From half of the time left on, one of the two searches is enough.
_SEARCH_SHARE, _TAGS_SHARE, _EXPLORE_SHARE, _READ_SHARE = 0.8, 0.3, 0.75, 0.6
# If exploring takes longer than the first share, the hits are read in the meantime, until the
# second share.
_EARLY_SHARE, _READ_EARLY_SHARE = 0.2, 0.85
# If the embedder takes longer than this share of the time left, the recall searches by words only.
_EMBED_SHARE = 0.25
# A turn that comes later than this share of the deadline is too late to answer.
_TURN_SHARE = 0.9
# So is a turn that leaves less than this many times the mean time of the last recalls, because some
# recalls take that much longer than the mean.
_LONGER = 1.5
# A recall that is not ready this many seconds after its deadline ends without a result. Once all
# data is read, ranking and packing get this share of the deadline, in case the machine is busy.
_GRACE_S, _PACK_SHARE = 0.1, 0.25

# Names of spans that differ from those of the stages.
_SPANS = {"embed": "embeddings"}

_OnPath = Callable[[Path], None]


class Recaller:
    """The stages of one recall, with its clock and its notes for the trace."""

    def __init__(self, store: Store, engine: Engine, call: RecallCall) -> None:
        self._store = store
        self._engine = engine
        self._call = call
        self._clock = asyncio.get_running_loop().time
        self._id = uuid4().hex
        self._started = self._clock()
        self._started_at = datetime.now(UTC)
        self._until = self._started + call.config.deadline_s
        self._limit = asyncio.timeout_at(self._until + _GRACE_S)
        self._timings_s: dict[str, float] = {}
        self._vector: tuple[float, ...] | None = None
        self._aside: float | None = None  # how close the query is to small talk
        self._probe: Probe | None = None  # to search for statements of its subject
        self._by_probe: frozenset[str] = frozenset()  # what was found with it alone
        self._generation = 1  # of the stored vectors that it is compared with
        self._validity = Validity(at=self._started_at)
        self._tags: tuple[str, ...] = ()
        self._when = when_for(call, self._started_at)
        self._of_search: tuple[str, ...] = ()  # notes on the window and the filter

    async def find_seeds(self) -> Seeds:
        """Embed the query and search for it.

        Raises
        ------
        DeadlineError
            Nothing was found in time.
        """
        return await self._search(*await self._prepare())

    async def run(self, hydrate_at: HydrateAt | None, on_path: _OnPath = lambda _: None) -> Recall:
        """Run all stages.

        Parameters
        ----------
        hydrate_at
            When the texts of paths are read, for a caller who takes the paths one by one. None
            means once, when all explorations are over.
        on_path
            Called with each path as soon as its texts are known.

        Raises
        ------
        OverloadedError
            The line of recalls is too long for its deadline, or its turn did not come in time.
        DeadlineError
            The recall had no result in time.
        """
        with recall_span(self._id, self._engine.scope) as span:
            try:
                async with self._limit:
                    found = await self._in_turn(hydrate_at, on_path)
            except TimeoutError as exc:
                limit = f"{self._call.config.deadline_s:g} s"
                raise DeadlineError(f"the recall took longer than {limit}: {MORE_TIME}") from exc
            span.set_attributes(outcome_of(found, self._call.config))
        report(found, self._clock() - self._started)
        return found

    async def _in_turn(self, hydrate_at: HydrateAt | None, on_path: _OnPath) -> Recall:
        """Embed while other recalls search, because the model may be a service far away."""
        line, recalls = self._store.line, self._store.recalls
        least_s = (1 - _TURN_SHARE) * self._call.config.deadline_s
        async with self._turn(line, max(least_s, _LONGER * line.lasting_s)):
            prepared = await self._prepare()
            async with self._turn(recalls, least_s):
                seeds = await self._search(*prepared)
                self._call.on_seeds(seeds)
                return await self._follow(seeds, hydrate_at, on_path)

    @asynccontextmanager
    async def _turn(self, limiter: Limiter, needed_s: float) -> AsyncIterator[None]:
        """Wait for a turn that leaves at least ``needed_s`` seconds."""
        waiting = self._clock()
        async with limiter.turn(self._until - needed_s):
            waited_s = self._timings_s.pop("wait", 0.0)  # put last, in the order of the stages
            self._timings_s["wait"] = waited_s + self._clock() - waiting
            yield

    async def _prepare(self) -> tuple[ServerFacts | None, list[str]]:
        """Return the facts about the server and notes on what went wrong; embed the query."""
        notes: list[str] = []
        try:
            facts = await self._engine.facts(self._after(0.5))
        except DeadlineError as exc:
            return None, [f"the facts about the server are late ({exc}): searched by words only"]
        late = self._after(_EMBED_SHARE)
        with self._timed("embed"):
            self._vector = await query_vector(
                self._engine.embedder, self._call.query, until=late, notes=notes
            )
            if self._vector is not None and self._engine.asides is not None:
                self._aside = await self._engine.asides.likeness(
                    self._vector, until=late, notes=notes
                )
            asks_for_fact = self._when.tense and self._call.config.relevance is not None
            subjects = self._engine.subjects if asks_for_fact else None
            if subjects is not None and self._vector is not None and self._aside is not None:
                self._probe = await subjects.probe(
                    self._vector, aside=self._aside, until=late, notes=notes
                )
        return facts, notes

    async def _search(self, facts: ServerFacts | None, notes: list[str]) -> Seeds:
        """Find seeds by vector and by words."""
        call = self._call
        until, enough_at = self._after(_SEARCH_SHARE), self._after(0.5)
        tags = (tag.replace("_", " ") for tag in call.query_tags)
        request = SeedRequest(
            text=" ".join([*tags, call.query]),  # a long query must not push the tags out
            vector=self._vector,
            scope=self._engine.scope,
            where=call.where,
            dialect="procedure" if facts is None else facts.vector_dialect,
            generation=self._generation if facts is None else facts.generation,
            config=call.config.seed_search,
            until=until,
            enough_at=enough_at,  # leaves time to explore
            query=call.query,
        )
        with self._timed("seeds"):
            self._validity = await validity_of(
                self._store, call.config, scope=request.scope, now=self._started_at, until=until
            )
            request = replace(request, validity=self._validity)
            request, found = await search_live(self._store, request, self._engine.facts)
            rest = replace(request, until=self._after(0.5))
            seeds = await with_unembedded(self._store, found, rest)
            if self._probe is not None:
                seeds, self._by_probe = await with_subject(
                    self._store, rest, seeds, self._probe.vector
                )
            windowed = await at_time(self._store, rest, seeds, self._when.window)
            wrong = () if windowed.seeds.seeds else await self._unknown_names()
        seeds, self._of_search = windowed.seeds, (*wrong, *windowed.notes)
        self._when = replace(self._when, window=windowed.window)
        self._call = replace(call, where=windowed.where)
        self._generation = request.generation
        return replace(seeds, degraded=(*notes, *seeds.degraded))

    async def _unknown_names(self) -> tuple[str, ...]:
        """Say which names of the filter may be mistyped; without the time for it, nothing."""
        try:
            where, until = self._call.where, self._after(0.5)
            return await unknown_names(self._store, self._engine.scope, where, until=until)
        except MemoriaError:
            return ()

    def _after(self, share: float) -> float:
        """Return the time when this share of the time left is over; seconds of the loop's clock."""
        now = self._clock()
        return now + share * (self._until - now)

    async def _follow(self, seeds: Seeds, hydrate_at: HydrateAt | None, on_path: _OnPath) -> Recall:
        """Explore from the seeds, then rank and pack the memories that were found."""
        notes: list[str] = []
        with self._timed("explore"):
            self._tags = await fitting_tags(
                self._store,
                self._call,
                seeds,
                scope=self._engine.scope,
                until=self._after(_TAGS_SHARE),
                notes=notes,
            )
            at, until = self._after(_EARLY_SHARE), self._after(_READ_EARLY_SHARE)
            texts = read_early(self._store, seeds, scope=self._engine.scope, at=at, until=until)
            async with Prefetch[Needed]() as ahead, texts as early:
                ahead.start(self._needed(seeds, notes))
                explorations = await self._explore(seeds, hydrate_at, on_path)
                found = Found(
                    explorations=explorations,
                    hits=seeds.runners_up,
                    needed=await ahead.result(),
                    early=early,
                )
                completed = await self._complete(found, notes)
            grace_s = max(_GRACE_S, _PACK_SHARE * self._call.config.deadline_s)
            self._limit.reschedule(self._until + grace_s)
        with self._timed("rank"):
            ranked = await asyncio.to_thread(ranked_of, self._call, completed, seeds, self._when)
        with self._timed("pack"):
            context = await self._pack(completed, ranked, notes)
        return Recall(
            seeds=seeds,
            explorations=completed.explorations,
            ranked=ranked,
            context=context,
            trace=self._trace(seeds, completed, ranked, context, notes),
            hits=completed.hits,
            needed=completed.needed,
        )

    async def _explore(
        self, seeds: Seeds, hydrate_at: HydrateAt | None, on_path: _OnPath
    ) -> tuple[Exploration, ...]:
        """Explore from all seeds; paths may still lack texts."""
        config = self._call.config
        request = ExploreRequest(
            strategy=config.strategy,
            input=RunInput(
                seeds=seeds.seeds,
                scope=self._engine.scope,
                query_tags=self._tags,
                max_weight=config.max_weight,
                vector=self._vector,
                generation=self._generation,
                now=self._started_at,
                validity=self._validity,
            ),
            started=self._clock(),
            until=self._after(_EXPLORE_SHARE),
            hydrate_at=hydrate_at,
            seeds_per_session=config.seeds_per_session,
        )
        return await explore_all(self._store, request, on_path)

    async def _needed(self, seeds: Seeds, notes: list[str]) -> Needed:
        """Follow what the seeds need; without a relevance model, energy alone says what counts."""
        config = self._call.config
        if config.relevance is None or not seeds.seeds:
            return NOTHING_NEEDED
        request = NeedsRequest(
            ids=[seed.id for seed in seeds.seeds],
            scope=self._engine.scope,
            validity=self._validity,
            max_weight=config.max_weight,
            roles=config.roles,
            until=self._after(0.5),
        )
        found = await follow_needs(self._store, request)
        if found.error is not None:
            notes.append(f"what the seeds need could not be read to the end ({found.error})")
        return found

    async def _complete(self, found: Found, notes: list[str]) -> Completed:
        """Read the missing texts, and the facts that ranking needs, in one query."""
        config = self._call.config
        request = FactsRequest(
            scope=self._engine.scope,
            where=self._call.where,
            vector=self._vector,
            generation=self._generation,
            max_weight=config.max_weight,
            until=self._after(_READ_SHARE),
            now=self._started_at,
            probe=None if self._probe is None else self._probe.vector,
        )
        reading, ranks = self._clock(), config.relevance is not None
        completed = await complete(self._store, found, request, for_ranking=ranks, notes=notes)
        completed = stated_only(completed, self._by_probe)
        if self._when.tense:
            request = replace(request, until=self._after(_READ_SHARE))
            completed = await with_alike(self._store, completed, request, notes)
        streamed_s = max((each.stats.hydrate_s for each in found.explorations), default=0.0)
        self._timings_s["hydrate"] = self._clock() - reading + streamed_s
        asks = 0.0 if self._probe is None else self._probe.share
        return replace(completed, facts=replace(completed.facts, aside=self._aside, asks=asks))

    async def _pack(
        self, found: Completed, ranked: tuple[RankedMemory, ...], notes: list[str]
    ) -> ContextPack:
        """Pack a context, off the event loop, because a large context takes a while."""
        config = self._call.config
        if self._when.window and self._when.window.only:
            found = flat(found, ranked)
        worth = await asyncio.to_thread(worth_of, found, ranked, config)
        near: list[tuple[str, str]] = []
        if config.context.duplicate_cosine is not None:
            try:
                near = await near_pairs(
                    self._store,
                    sorted(worth, key=lambda id_: (-worth[id_], id_)),
                    scope=self._engine.scope,
                    min_cosine=config.context.duplicate_cosine,
                    until=self._after(0.5),
                    generation=self._generation,
                )
            except MemoriaError as exc:
                notes.append(f"duplicates by vector could not be searched for ({exc})")
        count = self._engine.count_tokens
        request = PackRequest(query=self._call.query, config=config, near=near, count_tokens=count)
        return await asyncio.to_thread(pack, found, ranked, worth, request)

    def _trace(
        self,
        seeds: Seeds,
        found: Completed,
        ranked: tuple[RankedMemory, ...],
        context: ContextPack,
        degraded: list[str],
    ) -> Trace:
        explorations = found.explorations
        return Trace(
            id=self._id,
            query=self._call.query,
            query_tags=self._tags,
            scope=self._engine.scope,
            started_at=self._started_at,
            timings_s=self._timings_s,
            degraded=(*seeds.degraded, *degraded, *missed(explorations)),
            notes=(*self._of_search, *notes_of(ranked, self._call.config)),
            window=self._when.window,
            seeds=seeds,
            explorations=explorations,
            needed=found.needed,
            contributed=contributed(seeds, explorations, context),
            packed=packed(ranked, context),
            config=settings_of(self._call.config),
            vector=self._vector,
            vector_generation=self._generation,
        )

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = self._clock()
        self._timings_s[stage] = 0.0  # stages stand in the order in which they begin
        with telemetry.stage_span(_SPANS.get(stage, stage)):
            yield
        self._timings_s[stage] = self._clock() - start
