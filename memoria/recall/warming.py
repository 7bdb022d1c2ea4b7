"""Let the server plan the queries of a recall before the first one needs them.

In: a store. Out: nothing. Reads only, and finds nothing: no memory has the id that it asks for.
Writes are planned with EXPLAIN, which runs nothing.

A server that has just started plans each query when it first gets it, which takes seconds where the
machine is busy. Recalls of that time come back late, or cut short.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from memoria._support.prefetch import Prefetch
from memoria.errors import MemoriaError
from memoria.graph.hydrate import hydrate
from memoria.graph.server_facts import server_facts, was_set_up
from memoria.recall.config import RetrieverConfig
from memoria.recall.context import near_pairs
from memoria.recall.explore import ExploreRequest, explore_all
from memoria.recall.needs import NeedsRequest, follow_needs
from memoria.recall.ranking import FactsRequest, ask_facts
from memoria.recall.seeds import SeedRequest, search_seeds, with_unembedded
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies import RunInput, Synapse
from memoria.recall.validity import validity_of
from memoria.store import Store
from memoria.store.facts import ServerFacts
from memoria.store.queries import Query, load
from memoria.types import MemoryFilter, Seed
from memoria.types.validity import Validity

log = logging.getLogger(__name__)

# A cold and busy server may need this long for one plan; seconds.
_PLAN_S = 60.0
_NOTHING = "nothing has this id"


async def warm_plans(
    store: Store,
    *,
    scope: str,
    config: RetrieverConfig | None = None,
) -> None:
    """Send every query of a recall, with the texts and settings that recalls send.

    Parameters
    ----------
    scope
        Scope to read in; plans do not depend on it.
    config
        Settings of the recalls that are to come.

    Raises
    ------
    MemoriaError
        The server can't be reached, or an index is missing.
    """
    patient = store.patient(_PLAN_S)
    facts = await server_facts(patient)
    if was_set_up(facts) or patient.translation is not None:
        await _send_all(patient, scope, config or RetrieverConfig(), facts)


async def _send_all(store: Store, scope: str, config: RetrieverConfig, facts: ServerFacts) -> None:
    clock, now = asyncio.get_running_loop().time, datetime.now(UTC)
    validity = await validity_of(store, config, scope=scope, now=now, until=None)
    vector = None if facts.dimensions is None else (1.0,) * facts.dimensions
    # Last things first: a recall that comes meanwhile begins with the others, and no query is
    # planned twice at a time.
    if config.context.duplicate_cosine is not None:
        await near_pairs(
            store,
            [_NOTHING, f"{_NOTHING} either"],
            scope=scope,
            min_cosine=config.context.duplicate_cosine,
            until=None,
            generation=facts.generation,
        )
    await _send_for_time(store, scope, config, facts, validity)
    if config.relevance is not None:
        asked = FactsRequest(
            scope=scope, vector=vector, generation=facts.generation, max_weight=config.max_weight
        )
        await ask_facts(store, asked, [_NOTHING], known=[])
        needs = NeedsRequest(
            ids=[_NOTHING], scope=scope, validity=validity, max_weight=config.max_weight
        )
        await follow_needs(store, needs)
    await hydrate(store, [_NOTHING], scope=scope, until=None)
    if config.strategy.name == Synapse.name:  # it asks this only where it reached something
        times = {"ids": [_NOTHING], "now_ms": int(now.timestamp() * 1_000), "scope": scope}
        await store.run(load("strategies.situation"), times)
    request = ExploreRequest(
        strategy=config.strategy,
        input=RunInput(
            seeds=(Seed(id=_NOTHING, score=1.0),),
            scope=scope,
            query_tags=(),
            max_weight=config.max_weight,
            vector=vector,
            generation=facts.generation,
            now=now,
            validity=validity,
        ),
        started=clock(),
        until=clock() + _PLAN_S,
        seeds_per_session=config.seeds_per_session,
    )
    await explore_all(store, request)
    search = SeedRequest(
        text=_NOTHING,
        vector=vector,
        scope=scope,
        dialect=facts.vector_dialect,
        generation=facts.generation,
        config=config.seed_search,
        until=None,
        validity=validity,
    )
    seeds = await search_seeds(store, search)
    await with_unembedded(store, seeds, search)
    if config.seed_search.fusion == "cosine":  # it asks by words only where it found something
        await search_seeds(store, replace(search, config=SeedConfig()))


async def _send_for_time(
    store: Store, scope: str, config: RetrieverConfig, facts: ServerFacts, validity: Validity
) -> None:
    """Send the queries of questions about the present, the past, or a time."""
    if not config.time_phrases:
        return
    if config.relevance is not None:
        compared = {"ids": [_NOTHING], "others": [_NOTHING], "probe": None, "scope": scope}
        await store.run(load("ranking.alike").at(facts.generation), compared)
    if store.translation is not None:
        return  # the rest may pass over the whole of a mapped graph
    # This one passes over a whole scope, so it gets one without memories.
    windowed = {"held": validity.held, "limit": 1, "scope": _NOTHING}
    await store.run(load("seeds.window"), MemoryFilter().parameters | windowed)


@asynccontextmanager
async def warming(
    store: Store, *, scope: str, config: RetrieverConfig, then: Sequence[Query] = ()
) -> AsyncIterator[None]:
    """Warm the plans in the background, as long as the block lasts; a failure is only logged.

    A new database is warmed as soon as it is set up, which discards all plans.

    Parameters
    ----------
    then
        Further queries, which are planned after those of recalls, and not run.
    """

    async def warm() -> None:
        try:
            if store.translation is None and not was_set_up(await server_facts(store)):
                await store.facts.known()
            await warm_plans(store, scope=scope, config=config)
            patient = store.patient(_PLAN_S)
            generation = (await server_facts(patient)).generation
            for query in then:
                await patient.explain(query.at(generation))
        except MemoriaError as exc:
            log.info("the plans of recalls could not be warmed (%s)", type(exc).__name__)

    async with Prefetch[None]() as ahead:
        ahead.start(warm())
        yield
