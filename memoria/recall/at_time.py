"""Find what was made in the time that a question is about.

In: a call, and what the search found. Out: the window, and further seeds or hits. Reads only.
Query: ``seeds.window``, and those of the search.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from memoria._support.checks import is_id
from memoria.errors import MemoriaError
from memoria.recall.call import RecallCall
from memoria.recall.when import window_of
from memoria.seeds import SeedRequest, search_seeds
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import MemoryFilter, Seed, Seeds
from memoria.types.window import TimeWindow

#: Memories of a window that are read where a question asks for nothing else, at most.
MOST = 200
# Score of a hit that was compared with nothing.
_SCORE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Windowed:
    """What a search found, with what was made in a window.

    Attributes
    ----------
    seeds
        The result of the search. Where the question asks for nothing else, and something was made
        in the window, only that.
    window
        The window; `TimeWindow.only` is false where nothing was made in it.
    where
        Which memories the recall is about.
    notes
        What a reader should know, in sentences.
    """

    seeds: Seeds
    window: TimeWindow | None
    where: MemoryFilter
    notes: tuple[str, ...] = ()


def window_for(call: RecallCall, now: datetime) -> TimeWindow | None:
    """Return the time that a question is about; a filter by time says it itself."""
    config, where = call.config, call.where
    if not config.time_phrases or where.created_from or where.created_before:
        return None
    return window_of(call.query, now=config.as_of or now, zone=config.zone)


async def at_time(
    store: Store, request: SeedRequest, found: Seeds, window: TimeWindow | None
) -> Windowed:
    """Add what was made in a window to what the search found.

    Where the question asks for nothing else, all that was made then, up to `MOST`; otherwise what a
    search within the window finds. If the database does not answer, the search stays as it is, and
    `Seeds.degraded` says so.

    Notes
    -----
    None without a window; otherwise one round trip, or those of a second search.
    """
    where = request.where
    if window is None:
        return Windowed(seeds=found, window=None, where=where)
    inside = replace(where, created_from=window.starts, created_before=window.ends)
    narrow = replace(request, where=inside)
    try:
        if window.only:
            return await _all_inside(store, narrow, found, window, where)
        hits = await search_seeds(store, narrow)
    except MemoriaError as exc:
        note = f"what was made at the time of {window.phrase!r} could not be searched for ({exc})"
        found = replace(found, degraded=(*found.degraded, note))
        return Windowed(seeds=found, window=replace(window, only=False), where=where)
    return Windowed(seeds=_joined(found, hits), window=window, where=where)


async def _all_inside(
    store: Store, request: SeedRequest, found: Seeds, window: TimeWindow, where: MemoryFilter
) -> Windowed:
    parameters = {
        **request.where.parameters,
        "held": request.validity.held,
        "limit": MOST + 1,
        "scope": request.scope,
    }
    record = (await store.run(load("seeds.window"), parameters, until=request.until))[0]
    echoes = {seed.id for seed in found.echoes}
    ids = [id_ for id_ in record["ids"] if is_id(id_) and id_ not in echoes]
    if not ids:
        note = f"nothing was made then: {window}"
        return Windowed(seeds=found, window=replace(window, only=False), where=where, notes=(note,))
    notes = (f"only the newest {MOST} memories of {window.phrase!r} were read",)
    known = {seed.id: seed for seed in (*found.seeds, *found.runners_up)}
    seeds = [known.get(id_) or Seed(id=id_, score=_SCORE) for id_ in ids[:MOST]]
    seeds.sort(key=lambda seed: (-seed.score, seed.id))
    number = request.config.max_seeds
    return Windowed(
        seeds=replace(found, seeds=tuple(seeds[:number]), runners_up=tuple(seeds[number:])),
        window=window,
        where=request.where,
        notes=notes if len(ids) > MOST else (),
    )


def _joined(found: Seeds, hits: Seeds) -> Seeds:
    """Put the hits of a search within a window behind those of the search of everything."""
    if not found.seeds:
        return replace(hits, degraded=found.degraded)
    known = {seed.id for seed in (*found.seeds, *found.runners_up, *found.echoes)}
    least = min((seed.score for seed in (*found.seeds, *found.runners_up)), default=1.0)
    added = tuple(
        replace(seed, score=least * seed.score, vector_rank=None, text_rank=None)
        for seed in (*hits.seeds, *hits.runners_up)
        if seed.id not in known
    )
    echoes = {seed.id for seed in hits.echoes}
    return replace(
        found,
        runners_up=(*found.runners_up, *(seed for seed in added if seed.id not in echoes)),
        loose=tuple(dict.fromkeys((*found.loose, *hits.loose))),
    )
