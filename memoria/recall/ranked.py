"""Rank the memories that a recall found: by relevance, by energy, or by time.

In: a call, and its completed results. Out: `RankedMemory`s. Reads only. Query: ``ranking.alike``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from memoria.errors import MemoriaError
from memoria.recall.call import RecallCall
from memoria.recall.ranking import FactsRequest, ask_alike, gather, rank_by_relevance
from memoria.recall.ranking.alike import of_user
from memoria.recall.ranking.energy import rank_by_energy
from memoria.recall.ranking.within import in_order_of_time
from memoria.recall.texts import Completed
from memoria.store import Store
from memoria.types import MemoryFilter, RankedMemory
from memoria.types.window import When


async def with_alike(
    store: Store, found: Completed, request: FactsRequest, notes: list[str]
) -> Completed:
    """Add to the facts how alike the found statements are; without an answer, leave it out.

    Notes
    -----
    One round trip; none unless at least two statements have a vector and different times.
    """
    paths = (*found.linked, *found.hits)
    memories = {memory.id: memory for path in paths for memory in path.memories}
    try:
        alike, probed = await ask_alike(store, request, [*memories.values()], found.facts.cosines)
    except MemoriaError as exc:
        notes.append(f"older statements could not be told from newer ones ({exc})")
        return found
    return replace(found, facts=replace(found.facts, alike=alike, probed=probed))


def stated_only(found: Completed, by_probe: Collection[str]) -> Completed:
    """Leave out those hits that only the probe found, and that the user did not state."""
    if not by_probe:
        return found
    hits = [path for path in found.hits if path.seed_id in by_probe]
    stated = {one.id for one in of_user([path.memories[0] for path in hits])}
    kept = (one for one in found.hits if one.seed_id not in by_probe or one.seed_id in stated)
    return replace(found, hits=tuple(kept))


def ranked_of(
    call: RecallCall,
    found: Completed,
    when: When,
    *,
    echoes: Collection[str],
    loose: Collection[str],
) -> tuple[RankedMemory, ...]:
    """Rank the found memories; facts that the database did not return in time are ignored.

    If the question asks for nothing but a time, memories are in order of time.

    Parameters
    ----------
    echoes, loose
        Ids of these earlier questions; see `Seeds`.
    """
    where, in_time = call.where, when.is_only
    if call.config.relevance is None and not in_time:
        by_energy = rank_by_energy(found.explorations)
        return tuple(
            entry for entry in by_energy if where.fits(entry.memory) and entry.id not in echoes
        )
    candidates = [
        one
        for one in gather(found.explorations, (*found.hits, *found.needed), call.starts_where)
        if one.memory.id not in echoes
    ]
    if in_time or call.config.relevance is None:
        return in_order_of_time(one for one in candidates if where.fits(one.memory))
    for one in candidates:
        one.loose = one.memory.id in loose
    ranked = rank_by_relevance(
        call.query, candidates, found.facts, call.config.relevance, call.config.history, when
    )
    return _fitting(ranked, where) if call.starts_anywhere else ranked


def _fitting(ranked: tuple[RankedMemory, ...], where: MemoryFilter) -> tuple[RankedMemory, ...]:
    """Leave out what does not fit, and let the best that is left have the score 1."""
    fitting = [entry for entry in ranked if where.fits(entry.memory)]
    return tuple(replace(entry, score=entry.score / fitting[0].score) for entry in fitting)
