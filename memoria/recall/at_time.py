"""Find memories from the time that a question is about.

In: a call, and the result of the search. Out: the window, and further seeds or hits. Reads only.
Queries: ``seeds.window``, and those of the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memoria._support.checks import is_id
from memoria.errors import MemoriaError
from memoria.recall.call import RecallCall
from memoria.recall.seeds import SeedRequest, joined, search_seeds
from memoria.recall.when import is_future, tense_of, window_of
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import MemoryFilter, Seed, Seeds
from memoria.types.window import ANY_TIME, TimeWindow, When

#: Most memories to read from a window if the question asks for nothing but a time.
MOST = 200
# Score of a hit that was not compared with the question.
_SCORE = 0.01
# The longest a day may be, where clocks are set back.
_DAY = timedelta(hours=25)


@dataclass(frozen=True, slots=True, kw_only=True)
class Windowed:
    """The result of a search, with memories from a time window.

    Attributes
    ----------
    seeds
        The result of the search. If the question asks for nothing but a time, and the window is not
        empty, only memories from the window.
    window
        The window; `TimeWindow.only` is false if the window is empty.
    where
        Which memories the recall is about.
    notes
        Notes for the reader, in sentences.
    empty
        Whether the scope is known to have no memories from the window.
    """

    seeds: Seeds
    window: TimeWindow | None
    where: MemoryFilter
    notes: tuple[str, ...] = ()
    empty: bool = False


def when_for(call: RecallCall, now: datetime) -> When:
    """Return the time of a question; without a window if a filter by time is given.

    No rule tells "Where do I live today?", which is about the present, from "What meetings do I
    have today?", which is about this day. So both count, and memories of this day are only
    preferred.
    """
    config, where = call.config, call.where
    if not config.time_phrases:
        return ANY_TIME
    tense, now = tense_of(call.query), config.as_of or now
    window = None
    if not (where.created_from or where.created_before):
        window = window_of(call.query, now=now, zone=config.zone)
    if window is None:
        return When(tense=tense)
    # "How has my rent changed this year?" asks for a course, and prefers that of this year.
    if tense == "course" or (tense == "present" and _is_today(window, now)):
        return When(window=replace(window, only=False), tense=tense)
    # "Where will I live in December?" also asks for the newest plan.
    if tense == "present" and not window.only and is_future(call.query):
        return When(window=window, tense=tense)
    return When(window=window)


def _is_today(window: TimeWindow, now: datetime) -> bool:
    starts, ends = window.starts, window.ends
    return starts is not None and ends is not None and window.has(now) and ends - starts <= _DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class InWindow:
    """Result of a search within a time window; empty without a window.

    Attributes
    ----------
    ids
        The newest memories of the window, up to one more than `MOST`, if the question asks for
        nothing but a time.
    hits
        Otherwise, the memories found there.
    empty
        Whether the scope is known to have no memories from the window, where ``hits`` are given.
    error
        The error if the search failed.
    """

    ids: Sequence[str] = ()
    hits: Seeds | None = None
    empty: bool = False
    error: MemoriaError | None = None


async def search_window(store: Store, request: SeedRequest, when: When) -> InWindow:
    """Search within the time window of a question, if it has one.

    If the question asks for nothing but a time, these are all memories of the window, up to `MOST`;
    otherwise, the hits of a search within the window.

    Notes
    -----
    No round trip without a window; otherwise one, or those of a search, and one more if that search
    finds nothing.
    """
    if when.window is None:
        return InWindow()
    where = _inside(request.where, when.window)
    narrow = replace(request, where=where, counts_pending=False)
    try:
        if when.window.only:
            return InWindow(ids=await _newest(store, narrow, MOST + 1))
        hits = await search_seeds(store, narrow)
        # "Where do I live today?" asks for no memories of this day.
        is_now = when.tense == "present"
        empty = not is_now and not hits.seeds and not await _newest(store, narrow, MOST)
    except MemoriaError as exc:
        return InWindow(error=exc)
    return InWindow(hits=hits, empty=empty)


def at_time(found: Seeds, inside: InWindow, request: SeedRequest, when: When) -> Windowed:
    """Add what `search_window` found to the result of the search.

    If the database did not answer, the result of the search stays as it is, and `Seeds.degraded`
    says so.

    Parameters
    ----------
    request
        The search, without the window.
    """
    where, window = request.where, when.window
    if window is None:
        return Windowed(seeds=found, window=None, where=where)
    if inside.error is not None:
        note = f"memories from the time of {window.phrase!r} could not be searched ({inside.error})"
        found = replace(found, degraded=(*found.degraded, note))
        return Windowed(seeds=found, window=replace(window, only=False), where=where)
    if inside.hits is None:
        return _all_inside(found, inside.ids, window, request)
    seeds = joined(found, inside.hits)
    return Windowed(seeds=seeds, window=window, where=where, empty=inside.empty)


def _inside(where: MemoryFilter, window: TimeWindow) -> MemoryFilter:
    return replace(where, created_from=window.starts, created_before=window.ends)


async def _newest(store: Store, request: SeedRequest, limit: int) -> list[str]:
    """Return the ids of the newest memories that fit the filter of a request."""
    parameters = {
        **request.where.parameters,
        "held": request.validity.held,
        "limit": limit,
        "scope": request.scope,
    }
    record = (await store.run(load("seeds.window"), parameters, until=request.until))[0]
    return [id_ for id_ in record["ids"] if is_id(id_)]


def _all_inside(
    found: Seeds, newest: Sequence[str], window: TimeWindow, request: SeedRequest
) -> Windowed:
    echoes = {seed.id for seed in found.echoes}
    ids = [id_ for id_ in newest if id_ not in echoes]
    if not ids:
        without = replace(window, only=False)
        return Windowed(seeds=found, window=without, where=request.where, empty=True)
    notes = (f"only the newest {MOST} memories of {window.phrase!r} were read",)
    known = {seed.id: seed for seed in (*found.seeds, *found.runners_up)}
    seeds = [known.get(id_) or Seed(id=id_, score=_SCORE) for id_ in ids[:MOST]]
    seeds.sort(key=lambda seed: (-seed.score, seed.id))
    number = request.config.max_seeds
    return Windowed(
        seeds=replace(found, seeds=tuple(seeds[:number]), runners_up=tuple(seeds[number:])),
        window=window,
        where=_inside(request.where, window),
        notes=notes if len(ids) > MOST else (),
    )
