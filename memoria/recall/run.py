"""One recall from end to end: embed, find seeds, explore, rank, pack.

In: a checked `RecallCall`. Out: `Recall`. Reads only.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from memoria.context import ContextBuilder, CountTokens, near_pairs
from memoria.embed import Embedder, check_vectors
from memoria.errors import DeadlineError, MemoriaError
from memoria.explore import ExploreRequest, HydrateAt, Listener, explore, group_size
from memoria.plain.settings import settings_of
from memoria.ranking import FactsRequest, gather, rank_by_relevance
from memoria.ranking.energy import rank_by_energy
from memoria.recall.call import RecallCall
from memoria.recall.found import Found
from memoria.seeds import SeedRequest, search_seeds
from memoria.seeds.unembedded import with_unembedded
from memoria.store import Store
from memoria.store.facts import ServerFacts
from memoria.store.limiter import Limiter
from memoria.types import ContextPack, Exploration, Path, RankedMemory, Recall, Seeds, Trace

log = logging.getLogger(__name__)


# If the embedder takes longer than this share of the time left, the recall searches by words only.
_EMBED_SHARE = 0.25
# A turn that comes later than this share of the deadline is too late to answer, and so is one that
# leaves less time than recalls took recently, some of which take so many times the mean.
_TURN_SHARE = 0.9
_LONGER = 1.5
# A recall that is not ready so long after its deadline ends without a result; seconds.
_GRACE_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """What a recall works with; the same for all recalls of a retriever.

    Attributes
    ----------
    store, scope
        Where the memories are.
    embedder
        Makes the query's vector, or None.
    facts
        Asks what the server is, within a time of the loop's clock.
    count_tokens
        Counts the tokens of a context, or None for the estimate.
    """

    store: Store
    scope: str
    embedder: Embedder | None
    facts: Callable[[float], Awaitable[ServerFacts]]
    count_tokens: CountTokens | None


class Recaller:
    """The stages of one recall, with its clock and its notes for the trace."""

    def __init__(self, engine: Engine, call: RecallCall) -> None:
        self._engine = engine
        self._call = call
        self._clock = asyncio.get_running_loop().time
        self._started = self._clock()
        self._started_at = datetime.now(UTC)
        self._until = self._started + call.config.deadline_s
        self._timings_s: dict[str, float] = {}
        self._vector: list[float] | None = None

    async def find_seeds(self) -> Seeds:
        """Embed the query and search for it.

        Raises
        ------
        DeadlineError
            Half of the time that was left after embedding was up before.
        """
        return await self._search(*await self._prepare())

    async def run(
        self, hydrate_at: HydrateAt, on_path: Callable[[Path], None] = lambda _: None
    ) -> Recall:
        """Do all stages; hand over each path as it ends.

        Raises
        ------
        OverloadedError
            The line of recalls is too long for its deadline, or its turn did not come in time.
        DeadlineError
            The time was up before there was a result.
        """
        try:
            async with asyncio.timeout_at(self._until + _GRACE_S):
                return await self._in_turn(hydrate_at, on_path)
        except TimeoutError as exc:
            raise DeadlineError(
                f"the recall took longer than {self._call.config.deadline_s:g} s: give more time, "
                "or ask for less"
            ) from exc

    async def _in_turn(self, hydrate_at: HydrateAt, on_path: Callable[[Path], None]) -> Recall:
        """Embed while others are at work: the model may be a service far away."""
        line, recalls = self._engine.store.line, self._engine.store.recalls
        least_s = (1 - _TURN_SHARE) * self._call.config.deadline_s
        async with self._turn(line, max(least_s, _LONGER * line.lasting_s)):
            prepared = await self._prepare()
            async with self._turn(recalls, least_s):
                return await self._follow(await self._search(*prepared), hydrate_at, on_path)

    @asynccontextmanager
    async def _turn(self, limiter: Limiter, needed_s: float) -> AsyncIterator[None]:
        """Wait for a turn as long as there will be time to use it."""
        waiting = self._clock()
        async with limiter.turn(self._until - needed_s):
            waited_s = self._timings_s.pop("wait", 0.0)  # put last, in the order of the stages
            self._timings_s["wait"] = waited_s + self._clock() - waiting
            yield

    async def _prepare(self) -> tuple[ServerFacts, list[str]]:
        """Ask what the server is, and embed the query; also notes on what went wrong."""
        facts = await self._engine.facts(self._half_of_the_rest())
        notes: list[str] = []
        with self._timed("embed"):
            self._vector = await self._embed(notes)
        return facts, notes

    async def _search(self, facts: ServerFacts, notes: list[str]) -> Seeds:
        call = self._call
        until = self._half_of_the_rest()
        tags = (tag.replace("_", " ") for tag in call.query_tags)
        request = SeedRequest(
            text=" ".join([*tags, call.query]),  # a long query must not push the tags out
            vector=self._vector,
            scope=self._engine.scope,
            kinds=tuple(call.kinds or ()),
            dialect=facts.vector_dialect,
            config=call.config.seeds,
            until=until,
        )
        with self._timed("seeds"):
            seeds = await with_unembedded(
                self._engine.store,
                await search_seeds(self._engine.store, request),
                scope=request.scope,
                kinds=request.kinds,
                limit=call.config.seeds.unembedded,
                until=until,
            )
        return replace(seeds, degraded=(*notes, *seeds.degraded))

    def _half_of_the_rest(self) -> float:
        """Until when a first step must be done: what is late leaves nothing to explore."""
        return (self._clock() + self._until) / 2

    async def _follow(
        self, seeds: Seeds, hydrate_at: HydrateAt, on_path: Callable[[Path], None]
    ) -> Recall:
        notes: list[str] = []
        config = self._call.config
        request = FactsRequest(
            scope=self._engine.scope,
            kinds=tuple(self._call.kinds or ()),
            vector=self._vector,
            max_weight=config.explore.max_weight,
            until=self._until,
        )
        count = len(seeds.seeds)
        in_one_session = group_size(config.explore, count) >= count
        found = Found(
            self._engine.store,
            request,
            hits=[hit.id for hit in seeds.runners_up],
            at_once=in_one_session and hydrate_at == "group_end" and config.relevance is not None,
        )
        with self._timed("explore"):
            explorations = await self._explore(seeds, hydrate_at, on_path, found)
            reading = self._clock()
            reached = {id_ for each in explorations for path in each.paths for id_ in path.ids}
            await found.complete(reached, notes, facts=config.relevance is not None)
            hydrate_s = self._clock() - reading
        hydrate_s += max((each.stats.hydrate_s for each in explorations), default=0.0)
        self._timings_s["hydrate"] = hydrate_s
        with self._timed("rank"):
            hits = _paths_of_hits(seeds, found)
            ranked = await self._rank(explorations, hits, found)
        with self._timed("pack"):  # a large result takes a while: not on the event loop
            near = await self._near(ranked, hits, notes)
            context = await asyncio.to_thread(self._pack, explorations, hits, ranked, near)
        return Recall(
            seeds=seeds,
            explorations=explorations,
            ranked=ranked,
            context=context,
            trace=self._trace(seeds, explorations, notes),
            hits=hits,
        )

    def _trace(
        self, seeds: Seeds, explorations: tuple[Exploration, ...], notes: list[str]
    ) -> Trace:
        failed = [each for each in explorations if each.error is not None]
        return Trace(
            query=self._call.query,
            query_tags=tuple(self._call.query_tags),
            scope=self._engine.scope,
            started_at=self._started_at,
            timings_s=self._timings_s,
            degraded=(
                *seeds.degraded,
                *notes,
                *(f"exploration from {each.seed.id} failed: {each.error}" for each in failed),
            ),
            seeds=seeds,
            explorations=explorations,
            config=settings_of(self._call.config),
            vector=None if self._vector is None else tuple(self._vector),
        )

    def _pack(
        self,
        explorations: tuple[Exploration, ...],
        hits: tuple[Path, ...],
        ranked: tuple[RankedMemory, ...],
        near: list[tuple[str, str]],
    ) -> ContextPack:
        config = self._call.config
        builder = ContextBuilder(
            config.budget_tokens, config=config.context, count_tokens=self._engine.count_tokens
        )
        for path in (*(path for found in explorations for path in found.paths), *hits):
            builder.add(path)
        worth = {entry.memory.id: entry.score for entry in ranked}
        return builder.build(near=near, worth=worth if config.relevance else None)

    async def _rank(
        self, explorations: tuple[Exploration, ...], hits: tuple[Path, ...], found: Found
    ) -> tuple[RankedMemory, ...]:
        """Order what was found; what the database did not tell in time weighs nothing."""
        call = self._call
        if call.config.relevance is None:
            return await asyncio.to_thread(rank_by_energy, explorations)
        candidates = gather(explorations, hits, None if call.kinds is None else tuple(call.kinds))
        return await asyncio.to_thread(
            rank_by_relevance, call.query, candidates, found.facts, call.config.relevance
        )

    async def _near(
        self, ranked: tuple[RankedMemory, ...], hits: tuple[Path, ...], notes: list[str]
    ) -> list[tuple[str, str]]:
        """Ask for the pairs that are duplicates by vector, where the settings want it."""
        min_cosine = self._call.config.context.duplicate_cosine
        if min_cosine is None:
            return []
        # A relevance model ranks the hits too, on a scale of its own.
        hits = () if self._call.config.relevance else hits
        scores = {path.seed_id: path.energy for path in hits}
        for entry in ranked:
            scores[entry.memory.id] = max(entry.score, scores.get(entry.memory.id, 0.0))
        ids = sorted(scores, key=lambda node: (-scores[node], node))
        engine = self._engine
        try:
            return await near_pairs(
                engine.store, ids, scope=engine.scope, min_cosine=min_cosine, until=self._until
            )
        except MemoriaError as exc:
            notes.append(f"duplicates by vector could not be asked for ({exc})")
            return []

    async def _embed(self, notes: list[str]) -> list[float] | None:
        """Make the query's vector; one that fails or is late leaves the search by words."""
        embedder = self._engine.embedder
        if embedder is None:
            notes.append("no embedder: searched by words only")
            return None
        now = self._clock()
        late = now + _EMBED_SHARE * (self._until - now)
        try:
            async with asyncio.timeout_at(late) as limit:
                vector = await embedder.embed_query(self._call.query)
        except MemoriaError:
            raise
        except Exception as exc:  # noqa: BLE001  # foreign code, such as the client of a service
            reason = "took too long" if limit.expired() else f"failed ({type(exc).__name__})"
            log.warning("the embedder %s: searching by words", reason)
            notes.append(f"the embedder {reason}: searched by words only")
            return None
        name, dimensions = embedder.name, embedder.dimensions
        return check_vectors([vector], name=name, count=1, dimensions=dimensions)[0]

    async def _explore(
        self,
        seeds: Seeds,
        hydrate_at: HydrateAt,
        on_path: Callable[[Path], None],
        found: Found,
    ) -> tuple[Exploration, ...]:
        """Explore from all seeds; in the order of the seeds.

        Raises
        ------
        MemoriaError
            Every exploration failed; the error of the first.
        """
        if not seeds.seeds:
            return ()
        config = self._call.config
        done: dict[str, Exploration] = {}
        request = ExploreRequest(
            seeds=seeds.seeds,
            scope=self._engine.scope,
            query_tags=tuple(self._call.query_tags),
            config=config.explore,
            started=self._clock(),
            until=self._until,
            hydrate_at=hydrate_at,
            memories=lambda: found,
            vector=None if self._vector is None else tuple(self._vector),
            now=self._started_at,
        )
        listener = Listener(
            on_exploration=lambda each: done.update({each.seed.id: each}), on_path=on_path
        )
        await explore(self._engine.store, request, listener)
        explorations = tuple(done[seed.id] for seed in seeds.seeds)
        errors = [each.error for each in explorations if each.error is not None]
        if len(errors) == len(explorations):
            raise errors[0]
        return explorations

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = self._clock()
        yield
        self._timings_s[stage] = self._clock() - start


def _paths_of_hits(seeds: Seeds, found: Found) -> tuple[Path, ...]:
    """Make a path of each hit that is no seed; one that could not be read is left out."""
    return tuple(
        Path(
            seed_id=hit.id,
            hops=(),
            memories=(found.known[hit.id],),
            end_reason="not_explored",
            energy=hit.score,
        )
        for hit in seeds.runners_up
        if hit.id in found.known
    )
