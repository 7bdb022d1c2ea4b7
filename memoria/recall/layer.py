"""One scope of a recall: it is searched, explored and read here.

In: a checked `RecallCall`, and what is known of its question. Out: `Seeds`, then `Completed`.
Reads only, and only this scope. Most recalls have one layer; several run at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from memoria._support.prefetch import Prefetch
from memoria.errors import IndexNotReadyError, MemoriaError
from memoria.graph.server_facts import has_moved
from memoria.recall.at_time import InWindow, at_time, search_window
from memoria.recall.call import Engine, RecallCall
from memoria.recall.explore import ExploreRequest, HydrateAt, explore_all
from memoria.recall.limits import why_unfound
from memoria.recall.needs import NOTHING_NEEDED, Needed, NeedsRequest, follow_needs
from memoria.recall.probing import OfSubject, search_subject, with_subject
from memoria.recall.ranked import stated_only, with_alike
from memoria.recall.ranking import FactsRequest, Likeness
from memoria.recall.seeds import (
    SeedRequest,
    joined,
    pending_note,
    search_seeds,
    with_unembedded,
)
from memoria.recall.strategies import RunInput
from memoria.recall.subjects import Probe
from memoria.recall.texts import Completed, Found, complete, read_early
from memoria.recall.validity import validity_of
from memoria.store import Store
from memoria.store.facts import ServerFacts
from memoria.types import Path, Seeds
from memoria.types.validity import Validity
from memoria.types.window import When

# Shares of the time left for the search, exploring, and reading; the rest is for ranking and
# packing. From half of the time left on, one of the two searches is enough.
_SEARCH_SHARE, _EXPLORE_SHARE, _READ_SHARE = 0.8, 0.75, 0.6
# If exploring takes longer than the first share, the hits are read in the meantime, until the
# second share.
_EARLY_SHARE, _READ_EARLY_SHARE = 0.2, 0.85

# Results of the searches that run at the same time as that for the question itself.
_Further = tuple[OfSubject, InWindow, Seeds | MemoriaError | None]


@dataclass(slots=True, kw_only=True)
class Asked:
    """The question of a recall, as it is put to each of its scopes.

    Attributes
    ----------
    call
        The call; its filter gets the time that the question is about, if it is about that alone.
    when
        The time that the question is about.
    now
        When the recall began.
    after
        Returns the time when a share of the time left is over; seconds of the loop's clock.
    facts
        Facts about the server; None if they were late.
    vector, probe
        Embedding of the query; and what to search for statements of its subject with.
    like
        How close the query is to examples of messages; None if it is not known.
    """

    call: RecallCall
    when: When
    now: datetime
    after: Callable[[float], float]
    facts: ServerFacts | None = None
    vector: tuple[float, ...] | None = None
    probe: Probe | None = None
    like: Likeness | None = None


@dataclass(slots=True, kw_only=True)
class Layer:
    """One scope of a recall.

    Attributes
    ----------
    asked
        The question; the search may change its own copy.
    seeds
        Hits of the search there, or those that the recall starts from.
    generation
        Generation of the stored vectors.
    notes
        Notes on the window, the filter and pending vectors.
    empty
        Whether the scope has no memories from the time that the question names.
    read_s
        Time spent on reading texts and facts; seconds.
    """

    store: Store
    engine: Engine
    scope: str
    asked: Asked
    seeds: Seeds = field(default_factory=lambda: Seeds(seeds=()))
    generation: int = 1
    notes: tuple[str, ...] = ()
    empty: bool = False
    read_s: float = 0.0
    _validity: Validity = field(default_factory=Validity.now)
    _by_probe: frozenset[str] = frozenset()  # what was found with the probe alone
    _searched: SeedRequest | None = None

    async def search(self) -> None:
        """Find seeds by vector and by words.

        Raises
        ------
        DimensionError
            The live vectors are those of another embedder.
        MemoriaError
            As `search_seeds`.
        """
        asked, call = self.asked, self.asked.call
        until, enough_at = asked.after(_SEARCH_SHARE), asked.after(0.5)
        self._validity = await validity_of(
            self.store, call.config, scope=self.scope, now=asked.now, until=until
        )
        tags = (tag.replace("_", " ") for tag in call.query_tags)
        request = SeedRequest(
            text=" ".join([*tags, call.query]),  # a long query must not push the tags out
            vector=asked.vector,
            scope=self.scope,
            where=call.where,
            dialect="procedure" if asked.facts is None else asked.facts.vector_dialect,
            generation=self.generation if asked.facts is None else asked.facts.generation,
            config=call.config.seed_search,
            until=until,
            enough_at=enough_at,  # leaves time to explore
            query=call.query,
            validity=self._validity,
            counts_pending=self.store.translation is None,
        )
        async with Prefetch[_Further]() as ahead:
            ahead.start(self._search_further(request))
            live, found = await self._search_live(request)
            again = live is not request  # the vectors were replaced meanwhile
            seeds = await with_unembedded(self.store, found, self._in_half_the_time(live))
            further = self._search_further(live) if again else ahead.result()
            of_subject, inside, starts = await further
        seeds, self._by_probe = with_subject(_starting_from(seeds, starts), of_subject)
        windowed = at_time(seeds, inside, live, asked.when)
        self.seeds, self.notes, self.empty = windowed.seeds, windowed.notes, windowed.empty
        if found.pending and live.vector is not None:
            self.notes = (*self.notes, pending_note(found))
        self._searched = live
        self.generation = live.generation
        self.asked = replace(
            asked,
            call=replace(call, where=windowed.where),
            when=replace(asked.when, window=windowed.window),
        )

    async def _search_further(self, request: SeedRequest) -> _Further:
        """Search for statements of the question's subject, and in its time window."""
        request = self._in_half_the_time(request)
        return await asyncio.gather(
            search_subject(self.store, request, self.asked.probe),
            search_window(self.store, request, self.asked.when),
            self._search_starts(request),
        )

    async def _search_starts(self, request: SeedRequest) -> Seeds | MemoriaError | None:
        """Search for memories to start from, if the filter of the request is narrower."""
        where = self.asked.call.starts_where
        if where == request.where:
            return None
        try:
            return await search_seeds(self.store, replace(request, where=where))
        except MemoriaError as exc:
            return exc

    def _in_half_the_time(self, request: SeedRequest) -> SeedRequest:
        return replace(request, until=self.asked.after(0.5))

    async def _search_live(self, request: SeedRequest) -> tuple[SeedRequest, Seeds]:
        """Search; once more if the vectors of the request were deleted in the meantime.

        Vectors that are no longer live may be searched, by the embedder that made them, until they
        are deleted. Their index goes first, so the search fails before a vector is missing.
        """
        try:
            found = await search_seeds(self.store, request)
        except IndexNotReadyError:
            if not await self._is_outdated(request):
                raise
        else:
            if not found.degraded or not await self._is_outdated(request):
                return request, found
        live = await self.engine.facts(request.until)
        request = replace(request, dialect=live.vector_dialect, generation=live.generation)
        return request, await search_seeds(self.store, request)

    async def _is_outdated(self, request: SeedRequest) -> bool:
        """Tell whether the vectors were replaced; if the database does not tell, they were not."""
        now, enough_at = asyncio.get_running_loop().time(), request.enough_at
        late = enough_at is not None and now >= enough_at
        if request.vector is None or late:  # a dropped index fails at once
            return False
        try:
            return await has_moved(self.store, request.generation, until=request.until)
        except MemoriaError:
            return False

    async def why_unfound(self) -> tuple[str, ...] | None:
        """Say why the search found nothing, as `why_unfound`; without the time for it, None."""
        if self._searched is None:
            return None
        try:
            request = self._in_half_the_time(self._searched)
            return await why_unfound(self.store, request, self.asked.call.config)
        except MemoriaError:
            return None

    async def follow(
        self,
        tags: tuple[str, ...],
        hydrate_at: HydrateAt | None,
        on_path: Callable[[Path], None],
        notes: list[str],
    ) -> Completed:
        """Explore from the seeds, follow what they need, and read what ranking needs.

        Raises
        ------
        MemoriaError
            Every exploration failed.
        """
        asked, seeds = self.asked, self.seeds
        at, until = asked.after(_EARLY_SHARE), asked.after(_READ_EARLY_SHARE)
        texts = read_early(self.store, seeds, scope=self.scope, at=at, until=until)
        async with Prefetch[Needed]() as ahead, texts as early:
            ahead.start(self._needed(notes))
            request = self._request(tags, hydrate_at)
            explorations = await explore_all(self.store, request, on_path)
            found = Found(
                explorations=explorations,
                hits=seeds.runners_up,
                needed=await ahead.result(),
                early=early,
                unrelated=None if asked.like is None else asked.like.aside,
            )
            return await self._complete(found, notes)

    def _request(self, tags: tuple[str, ...], hydrate_at: HydrateAt | None) -> ExploreRequest:
        """Return what to explore: all seeds; its paths may lack texts."""
        asked, config = self.asked, self.asked.call.config
        return ExploreRequest(
            strategy=config.strategy,
            input=RunInput(
                seeds=self.seeds.seeds,
                scope=self.scope,
                query_tags=tags,
                max_weight=config.max_weight,
                vector=asked.vector,
                generation=self.generation,
                now=asked.now,
                validity=self._validity,
            ),
            started=asyncio.get_running_loop().time(),
            until=asked.after(_EXPLORE_SHARE),
            hydrate_at=hydrate_at,
            seeds_per_session=config.seeds_per_session,
        )

    async def _needed(self, notes: list[str]) -> Needed:
        """Follow what the seeds need; without a relevance model, energy alone says what counts."""
        config = self.asked.call.config
        if config.relevance is None or not self.seeds.seeds:
            return NOTHING_NEEDED
        request = NeedsRequest(
            ids=[seed.id for seed in self.seeds.seeds],
            scope=self.scope,
            validity=self._validity,
            max_weight=config.max_weight,
            roles=config.roles,
            until=self.asked.after(0.5),
        )
        found = await follow_needs(self.store, request)
        if found.error is not None:
            notes.append(f"what the seeds need could not be read to the end ({found.error})")
        return found

    async def _complete(self, found: Found, notes: list[str]) -> Completed:
        """Read the missing texts, and the facts that ranking needs, in one query."""
        asked, config = self.asked, self.asked.call.config
        request = FactsRequest(
            scope=self.scope,
            where=asked.call.starts_where,
            vector=asked.vector,
            generation=self.generation,
            max_weight=config.max_weight,
            until=asked.after(_READ_SHARE),
            now=asked.now,
            validity=self._validity,
            probe=None if asked.probe is None else asked.probe.vector,
        )
        clock = asyncio.get_running_loop().time
        reading, ranks = clock(), config.relevance is not None
        completed = await complete(self.store, found, request, for_ranking=ranks, notes=notes)
        completed = stated_only(completed, self._by_probe)
        if asked.when.tense:
            request = replace(request, until=asked.after(_READ_SHARE))
            completed = await with_alike(self.store, completed, request, notes)
        streamed_s = max((each.stats.hydrate_s for each in found.explorations), default=0.0)
        self.read_s = clock() - reading + streamed_s
        return completed


def _starting_from(fitting: Seeds, starts: Seeds | MemoriaError | None) -> Seeds:
    """Start from the best of all hits, and keep as the other hits those that fit the filter.

    If the database did not answer, the recall starts from those that fit, and `Seeds.degraded` says
    so.
    """
    if starts is None:
        return fitting
    if isinstance(starts, MemoriaError):
        note = f"only memories that fit the filter were searched for a start ({starts})"
        return replace(fitting, degraded=(*fitting.degraded, note))
    fits = {hit.id for hit in (*fitting.seeds, *fitting.runners_up)}
    others = tuple(hit for hit in starts.runners_up if hit.id in fits)
    return joined(replace(starts, runners_up=others), fitting)
