"""One recall from end to end: embed, find seeds, explore, read, rank, pack.

In: a checked `RecallCall`. Out: `Recall`. Reads only.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar
from uuid import uuid4

from memoria._support import telemetry
from memoria._support.wording import MORE_TIME
from memoria.errors import DeadlineError, MemoriaError, OverloadedError
from memoria.recall.at_time import when_for
from memoria.recall.call import Engine, RecallCall
from memoria.recall.context import ContextBuilder, near_pairs
from memoria.recall.explore import HydrateAt
from memoria.recall.layer import Asked, Layer
from memoria.recall.limits import labels_for_ids
from memoria.recall.packing import contributed, flat, notes_of, pack, packed, worth_of
from memoria.recall.plain_settings import settings_of
from memoria.recall.ranked import ranked_of
from memoria.recall.ranking import Likeness
from memoria.recall.ranking.needs import followed
from memoria.recall.reporting import missed, outcome_of, recall_span, report
from memoria.recall.seeds import across, of_window
from memoria.recall.subjects import Probe, asks_alone
from memoria.recall.tags import fitting_tags, for_all_edges
from memoria.recall.texts import Completed
from memoria.recall.together import Together, in_scope, naming, part_of, part_of_trace
from memoria.recall.vector import query_vector
from memoria.store import Store
from memoria.store.facts import ServerFacts
from memoria.store.limiter import Limiter
from memoria.types import ContextPack, Path, RankedMemory, Recall, Seeds, Trace
from memoria.types.renaming import key_prefix

# Share of the time left in which the tags of edges must be read.
_TAGS_SHARE = 0.3
# If the embedder takes longer than this share of the time left, the recall searches by words only.
_EMBED_SHARE = 0.25
_NO_INDEX = "the graph has no vector index of those that its mapping names: searched by words only"
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

T = TypeVar("T")
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
        self._like: Likeness | None = None  # how close the query is to example messages
        self._probe: Probe | None = None  # to search for statements of its subject
        self._scopes = call.scopes or (engine.scope,)
        self._layers: Sequence[Layer] = ()  # those that memories come from
        self._tags: tuple[str, ...] = ()
        self._when = when_for(call, self._started_at)
        self._of_search: tuple[str, ...] = ()  # notes on the window, the filter and pending vectors

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
        # In a graph of another program, a question names a person and asks for films. A search for
        # seeds alone returns only what fits.
        mapped = self._store.translation is not None
        self._call = replace(self._call, starts_anywhere=mapped)
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
            graph, embedder = self._store.translation, self._engine.embedder
            if embedder is not None and graph is not None and not graph.has_vectors:
                notes.append(_NO_INDEX)
            else:
                self._vector = await query_vector(
                    embedder, self._call.query, until=late, notes=notes
                )
            asides = self._engine.asides
            if self._vector is not None and asides is not None:
                self._like = await asides.likeness(self._vector, until=late, notes=notes)
            counts = self._when.tense and self._call.config.relevance is not None
            asks_for_fact = counts and asks_alone(self._call.query)
            subjects = self._engine.subjects if asks_for_fact else None
            if subjects is not None and self._vector is not None and self._like is not None:
                # The first such question waits for the model, and has waited for the embedder. With
                # a slow embedder, an earlier one has waited.
                share = 0.0 if asides is not None and asides.were_late else 0.5
                self._probe = await subjects.probe(
                    self._vector, like=self._like, until=self._after(share), notes=notes
                )
        return facts, notes

    async def _search(self, facts: ServerFacts | None, notes: list[str]) -> Seeds:
        """Find seeds by vector and by words, in each scope."""
        asked = Asked(
            call=self._call,
            when=self._when,
            now=self._started_at,
            after=self._after,
            facts=facts,
            vector=self._vector,
            probe=self._probe,
            like=self._like,
        )
        layers = [
            Layer(store=self._store, engine=self._engine, scope=scope, asked=asked)
            for scope in self._scopes
        ]
        with self._timed("seeds"):
            if self._call.scopes:
                self._layers = [layer for layer, _ in await self._each(layers, Layer.search, notes)]
                seeds = self._seeds_of_all()
            else:
                [only] = self._layers = layers
                await only.search()
                seeds = only.seeds
        self._call, self._when = self._layers[0].asked.call, self._layers[0].asked.when
        labels = labels_for_ids(self._call.where)
        of_layers = [note for layer in self._layers for note in layer.notes]
        self._of_search = tuple(dict.fromkeys([*labels, *of_layers]))
        if all(layer.empty for layer in self._layers):
            fitting = "" if self._call.where.is_empty else " that fit the filter"
            note = f"there are no memories from that time{fitting}: {self._when.window}"
            self._of_search = (*self._of_search, note)
        return replace(seeds, degraded=(*notes, *seeds.degraded))

    async def _why_unfound(self) -> list[str]:
        """Say why nothing was found, if no scope has a memory that fits the limits of the call."""
        whys = await asyncio.gather(*(layer.why_unfound() for layer in self._layers))
        return [] if None in whys else [note for why in whys for note in why or ()]

    def _seeds_of_all(self) -> Seeds:
        """Choose seeds among those of all scopes, and leave each scope its own."""
        config = self._call.config.seed_search
        lost: list[str] = []
        if in_time := [layer for layer in self._layers if layer.asked.when.is_only]:
            # The others have no memories from that time, or could not be searched for them.
            others = [layer for layer in self._layers if not layer.asked.when.is_only]
            lost = [note for layer in others for note in layer.seeds.degraded]
            self._layers = in_time
        found = [in_scope(layer.seeds, layer.scope) for layer in self._layers]
        chosen = of_window(found, config) if in_time else across(found, config)
        for layer, its in zip(self._layers, found, strict=True):
            layer.seeds = part_of(chosen, its, layer.scope)
        return replace(chosen, degraded=tuple(dict.fromkeys((*chosen.degraded, *lost))))

    async def _each(
        self, layers: Sequence[Layer], work: Callable[[Layer], Awaitable[T]], notes: list[str]
    ) -> list[tuple[Layer, T]]:
        """Do the same in all scopes at the same time; a scope that fails is left out, and named.

        Raises
        ------
        MemoriaError
            It failed in all scopes; the error is that of the first.
        """
        if len(layers) == 1:
            return [(layers[0], await work(layers[0]))]
        ends = await asyncio.gather(*map(work, layers), return_exceptions=True)
        done: list[tuple[Layer, T]] = []
        for layer, end in zip(layers, ends, strict=True):
            if isinstance(end, MemoriaError) and not isinstance(end, OverloadedError):
                notes.append(f"scope {layer.scope!r} could not be read ({end})")
            elif isinstance(end, BaseException):
                raise end
            else:
                done.append((layer, end))
        if not done:
            raise next(end for end in ends if isinstance(end, MemoriaError))
        return done

    def _after(self, share: float) -> float:
        """Return the time when this share of the time left is over; seconds of the loop's clock."""
        now = self._clock()
        return now + share * (self._until - now)

    async def _follow(self, seeds: Seeds, hydrate_at: HydrateAt | None, on_path: _OnPath) -> Recall:
        """Explore from the seeds, then rank and pack the memories that were found."""
        notes: list[str] = []

        async def follow(layer: Layer) -> Completed:
            tell = naming(layer.scope, on_path)
            return await layer.follow(self._tags, hydrate_at, tell, notes)

        with self._timed("explore"):
            of_scopes = {layer.scope: layer.seeds for layer in self._layers}
            until = self._after(_TAGS_SHARE)
            self._tags = await fitting_tags(
                self._store, self._call, of_scopes, until=until, notes=notes
            )
            if self._tags and not self._call.has_tags:
                self._ask_for_all()
            if self._call.scopes:
                done = await self._each(self._layers, follow, notes)
            else:
                [only] = self._layers
                done = [(only, await only.follow(self._tags, hydrate_at, on_path, notes))]
            self._layers = [layer for layer, _ in done]
            self._timings_s["hydrate"] = max(layer.read_s for layer in self._layers)
            grace_s = max(_GRACE_S, _PACK_SHARE * self._call.config.deadline_s)
            self._limit.reschedule(self._until + grace_s)
        if self._call.scopes:
            together = Together.of({layer.scope: one for layer, one in done}, seeds.seeds)
            found = together.named
            ranked, context = await self._ranked(together.found, seeds, notes, together)
            ranked, context = together.ranked(ranked), together.context(context)
        else:
            [(_, found)] = done
            ranked, context = await self._ranked(found, seeds, notes)
        if not ranked:
            self._of_search = (*await self._why_unfound(), *self._of_search)
        return Recall(
            seeds=seeds,
            explorations=found.explorations,
            ranked=ranked,
            context=context,
            trace=self._trace(seeds, found, ranked, context, notes),
            hits=found.hits,
            needed=found.needed,
            edges=found.facts.edges,
        )

    def _ask_for_all(self) -> None:
        """Follow more branches; the trace holds the settings with which the recall was made."""
        self._call = replace(self._call, config=for_all_edges(self._call.config))
        for layer in self._layers:
            call = replace(layer.asked.call, config=self._call.config)
            layer.asked = replace(layer.asked, call=call)

    async def _ranked(
        self, found: Completed, seeds: Seeds, notes: list[str], together: Together | None = None
    ) -> tuple[tuple[RankedMemory, ...], ContextPack]:
        """Rank and pack; memories of several scopes have ids that tell the scope."""
        paths = (path for one in found.explorations for path in one.paths)
        wanted = followed(paths, () if self._call.has_tags else self._tags)
        facts = replace(found.facts, like=self._like, wanted=wanted)
        if self._probe is not None:
            probe = self._probe
            facts = replace(facts, asks=probe.share, asked=probe.margin, usual=probe.usual)
        found = replace(found, facts=facts)
        echoes, loose = {seed.id for seed in seeds.echoes}, {*seeds.loose}
        if together is not None:
            parts = [(layer.scope, layer.seeds) for layer in self._layers]
            echoes = together.keys((scope, one.id) for scope, its in parts for one in its.echoes)
            loose = together.keys((scope, id_) for scope, its in parts for id_ in its.loose)
        with self._timed("rank"):
            ranked = await asyncio.to_thread(
                ranked_of, self._call, found, self._when, echoes=echoes, loose=loose
            )
        with self._timed("pack"):
            return ranked, await self._pack(found, ranked, notes)

    async def _pack(
        self, found: Completed, ranked: tuple[RankedMemory, ...], notes: list[str]
    ) -> ContextPack:
        """Pack a context, off the event loop, because a large context takes a while."""
        config = self._call.config
        if self._when.is_only:
            found = flat(found, ranked)
        worth = await asyncio.to_thread(worth_of, found, ranked, config)
        near: list[tuple[str, str]] = []
        if config.context.duplicate_cosine is not None:
            best_first = sorted(worth, key=lambda id_: (-worth[id_], id_))
            pairs = await self._each(self._layers, partial(self._near, best_first, notes), notes)
            near = [pair for _, found_in in pairs for pair in found_in]
        builder = ContextBuilder(
            config.budget_tokens, config=config.context, count_tokens=self._engine.count_tokens
        )
        return await asyncio.to_thread(
            pack, found, ranked, worth, builder, query=self._call.query, near=near
        )

    async def _near(
        self, ids: Sequence[str], notes: list[str], layer: Layer
    ) -> list[tuple[str, str]]:
        """Return the pairs of memories of a scope whose vectors say that they are duplicates."""
        config = self._call.config.context
        prefix = key_prefix(self._layers.index(layer)) if self._call.scopes else ""
        own = [id_.removeprefix(prefix) for id_ in ids if id_.startswith(prefix)]
        try:
            pairs = await near_pairs(
                self._store,
                own,
                scope=layer.scope,
                min_cosine=config.duplicate_cosine or 0.0,
                until=self._after(0.5),
                generation=layer.generation,
            )
        except MemoriaError as exc:
            notes.append(f"duplicates by vector could not be searched for ({exc})")
            return []
        return [(prefix + one, prefix + other) for one, other in pairs]

    def _trace(
        self,
        seeds: Seeds,
        found: Completed,
        ranked: tuple[RankedMemory, ...],
        context: ContextPack,
        degraded: list[str],
    ) -> Trace:
        trace = Trace(
            id=self._id,
            query=self._call.query,
            query_tags=self._tags,
            scope=self._scopes[0],
            started_at=self._started_at,
            timings_s=self._timings_s,
            degraded=(*seeds.degraded, *degraded, *missed(found.explorations)),
            notes=(*self._of_search, *notes_of(ranked, self._call.config)),
            window=self._when.window,
            seeds=seeds,
            explorations=found.explorations,
            needed=found.needed,
            packed=packed(ranked, context),
            config=settings_of(self._call.config),
            vector=self._vector,
            vector_generation=self._layers[0].generation,
        )
        if not self._call.scopes:
            return replace(trace, contributed=contributed(seeds, found.explorations, context.items))
        read = {layer.scope: (layer.seeds, layer.generation) for layer in self._layers}
        layers = []
        for scope in self._scopes:  # also those that no memory comes from
            unread = part_of(seeds, Seeds(seeds=()), scope), trace.vector_generation
            its, generation = read.get(scope, unread)
            part = replace(trace, scope=scope, vector_generation=generation)
            layers.append(part_of_trace(part, its, ranked, context))
        counts = Counter[str]()
        for layer_trace in layers:
            counts.update(layer_trace.contributed)
        return replace(trace, layers=tuple(layers), contributed=counts)

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = self._clock()
        self._timings_s[stage] = 0.0  # stages stand in the order in which they begin
        with telemetry.stage_span(_SPANS.get(stage, stage)):
            yield
        self._timings_s[stage] = self._clock() - start
