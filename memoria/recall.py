"""One recall from end to end: embed, find seeds, explore, rank, pack.

In: a checked `RecallCall`. Out: `Recall`. Reads only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from memoria.config import RetrieverConfig
from memoria.context import pack
from memoria.embed import Embedder
from memoria.errors import DeadlineError, InvalidInputError
from memoria.explore import ExploreRequest, HydrateAt, Listener, explore
from memoria.rank import rank_by_energy
from memoria.schema import ServerFacts
from memoria.seeds import SeedRequest, search_seeds
from memoria.store import Store
from memoria.types import Exploration, Path, Recall, Seeds, Trace
from memoria.validation import check_kind, check_string, check_strings


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallCall:
    """What a caller asks of one recall; see `GraphRetriever.recall`."""

    query: str
    query_tags: tuple[str, ...]
    kinds: tuple[str, ...]
    config: RetrieverConfig

    def __post_init__(self) -> None:
        """Check every argument once."""
        check_string(self.query, "query")
        if not self.query.strip():
            raise InvalidInputError("query is blank: say what to recall", field="query")
        object.__setattr__(self, "query_tags", check_strings(self.query_tags, "query_tags"))
        object.__setattr__(self, "kinds", tuple(check_kind(kind, "kinds") for kind in self.kinds))


class Recaller:
    """The stages of one recall, with its clock and its notes for the trace.

    Parameters
    ----------
    facts
        What the server is; asked for within the recall's time.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        facts: Callable[[], Awaitable[ServerFacts]],
        *,
        scope: str,
        call: RecallCall,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._facts = facts
        self._scope = scope
        self._call = call
        self._clock = asyncio.get_running_loop().time
        self._started = self._clock()
        self._until = self._started + call.config.deadline_s
        self._timings_s: dict[str, float] = {}

    async def find_seeds(self) -> Seeds:
        """Embed the query and search for it.

        Raises
        ------
        DeadlineError
            The time was up before.
        """
        call = self._call
        try:
            async with asyncio.timeout_at(self._until):
                facts = await self._facts()
                with self._timed("embed"):
                    vector = await self._embed()
        except TimeoutError as exc:
            raise DeadlineError("the time was up before the query was embedded") from exc
        with self._timed("seeds"):
            return await search_seeds(
                self._store,
                SeedRequest(
                    text=" ".join(
                        [call.query, *(tag.replace("_", " ") for tag in call.query_tags)]
                    ),
                    vector=vector,
                    scope=self._scope,
                    kinds=call.kinds,
                    dialect=facts.vector_dialect,
                    config=call.config.seeds,
                    until=self._until,
                ),
            )

    async def run(
        self, hydrate_at: HydrateAt, on_path: Callable[[Path], None] = lambda _: None
    ) -> Recall:
        """Do all stages; hand over each path as it ends."""
        started_at = datetime.now(UTC)
        seeds = await self.find_seeds()
        with self._timed("explore"):
            explorations = await self._explore(seeds, hydrate_at, on_path)
        hydrate_s = max((found.stats.hydrate_s for found in explorations), default=0.0)
        self._timings_s["hydrate"] = hydrate_s
        self._timings_s["explore"] -= hydrate_s
        with self._timed("pack"):
            ranked = rank_by_energy(explorations)
            context = pack(explorations, budget_tokens=self._call.config.budget_tokens)
        errors = [found for found in explorations if found.error is not None]
        trace = Trace(
            query=self._call.query,
            query_tags=self._call.query_tags,
            scope=self._scope,
            started_at=started_at,
            timings_s=self._timings_s,
            degraded=(
                *seeds.degraded,
                *(f"exploration from {found.seed.id} failed: {found.error}" for found in errors),
            ),
        )
        return Recall(
            seeds=seeds, explorations=explorations, ranked=ranked, context=context, trace=trace
        )

    async def _embed(self) -> list[float] | None:
        if self._embedder is None:
            return None
        return [float(value) for value in await self._embedder.embed_query(self._call.query)]

    async def _explore(
        self, seeds: Seeds, hydrate_at: HydrateAt, on_path: Callable[[Path], None]
    ) -> tuple[Exploration, ...]:
        """Explore from all seeds; in the order of the seeds.

        Raises
        ------
        MemoriaError
            Every exploration failed; the error of the first.
        """
        if not seeds.seeds:
            return ()
        done: dict[str, Exploration] = {}
        request = ExploreRequest(
            seeds=seeds.seeds,
            scope=self._scope,
            query_tags=self._call.query_tags,
            config=self._call.config.explore,
            started=self._clock(),
            until=self._until,
            hydrate_at=hydrate_at,
        )
        listener = Listener(
            on_exploration=lambda found: done.update({found.seed.id: found}), on_path=on_path
        )
        await explore(self._store, request, listener)
        explorations = tuple(done[seed.id] for seed in seeds.seeds)
        if all(found.error is not None for found in explorations):
            raise explorations[0].error or DeadlineError("unreachable")
        return explorations

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        start = self._clock()
        yield
        self._timings_s[stage] = self._clock() - start
