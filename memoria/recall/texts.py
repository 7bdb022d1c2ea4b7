"""Read what explorations and the search left unread: texts, and the facts that ranking needs.

In: explorations whose paths may lack texts; hits; needs. Out: all with texts, and `Facts`.
Reads only.
Queries: ``ranking.candidates``; ``graph.hydrate`` if that fails, or without a relevance model.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence, Set
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from memoria._support.prefetch import Prefetch
from memoria._support.throttling import throttled_warning
from memoria.errors import MemoriaError
from memoria.graph.connectors import is_connector
from memoria.graph.hydrate import hydrate
from memoria.recall.explore import raise_if_all_failed, with_texts
from memoria.recall.explore.seed_run import TIMER_SLACK_S, texts_of
from memoria.recall.needs import NOTHING_NEEDED, Needed
from memoria.recall.ranking import NOTHING_KNOWN, Facts, FactsRequest, ask_facts
from memoria.store import Store
from memoria.types import Exploration, MemoryNode, Path, Seed, Seeds, path_order

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """Explorations, hits and chains of needs with their texts.

    Attributes
    ----------
    explorations
        In the order in which they were given; their paths have all their memories, or none.
    hits
        A path without hops for each hit; hits that could not be read are left out.
    needed
        Chains of needs; those that could not be read are left out.
    facts
        Facts about all these memories; empty if they were not asked for, or not answered.
    """

    explorations: tuple[Exploration, ...]
    hits: tuple[Path, ...]
    needed: tuple[Path, ...]
    facts: Facts

    @property
    def linked(self) -> list[Path]:
        """All paths over edges, by energy or by need."""
        return [*(path for each in self.explorations for path in each.paths), *self.needed]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What may still lack texts.

    Attributes
    ----------
    explorations
        Explorations whose paths may lack texts.
    hits
        Hits of the search that are not seeds.
    early
        Memories that were read while exploring was slow, in case later queries fail.
    unrelated
        Cosine of the query with texts that have nothing to do with it; None if it is not known.
    """

    explorations: Sequence[Exploration]
    hits: Sequence[Seed] = ()
    needed: Needed = NOTHING_NEEDED
    early: Mapping[str, MemoryNode] = field(default_factory=dict)
    unrelated: float | None = None

    @property
    def cosines(self) -> dict[str, float]:
        """Id -> cosine by which the search found it: its own, or in a mapped graph a fact's."""
        seeds = (*(each.seed for each in self.explorations), *self.hits)
        scores = ((one.id, one.vector_score) for one in seeds if one.vector_rank is not None)
        return {id_: score for id_, score in scores if score is not None}


@asynccontextmanager
async def read_early(
    store: Store, seeds: Seeds, *, scope: str, at: float, until: float
) -> AsyncIterator[Mapping[str, MemoryNode]]:
    """Read the hits if the block is still running at ``at``, and add them to the yielded map.

    Otherwise a recall that spends its time on exploring would have no texts to show.

    Parameters
    ----------
    at, until
        Times of the loop's clock at which to start and to end reading; seconds.

    Notes
    -----
    One round trip if the block is still running at ``at``; otherwise none.
    """
    found: dict[str, MemoryNode] = {}
    ids = [seed.id for seed in (*seeds.seeds, *seeds.runners_up)]

    async def read() -> None:
        await asyncio.sleep(at - asyncio.get_running_loop().time())
        with suppress(MemoriaError):  # missing texts are read, and reported, later
            found.update(await hydrate(store, ids, scope=scope, until=until))

    async with Prefetch[None]() as ahead:
        ahead.start(read())
        yield found


async def complete(
    store: Store, found: Found, request: FactsRequest, *, for_ranking: bool, notes: list[str]
) -> Completed:
    """Read the texts that explorations and hits lack, and the facts that ranking needs.

    Parameters
    ----------
    for_ranking
        Whether to ask for the facts, too; their query returns the texts as well.
    notes
        List to which the reasons are added why something is missing.

    Raises
    ------
    MemoriaError
        Every exploration failed because its texts could not be read.

    Notes
    -----
    One round trip, or none if nothing is missing; a second one if the query for facts fails.
    """
    known: dict[str, MemoryNode] = {}
    explored = [path for each in found.explorations for path in each.paths]
    for path in explored:
        for memory in path.memories:
            known.setdefault(memory.id, memory)  # the first read counts
    wanted = {id_ for path in (*explored, *found.needed.paths) for id_ in path.ids}
    wanted |= {hit.id for hit in found.hits}
    facts, failure = None, None
    request = replace(request, order=found.needed.order)
    if for_ranking and wanted:
        facts = await _ask(store, request, wanted, known, notes)
    if facts is None:
        known = {**found.early, **known}
        failure = await _read(store, request, wanted, known)
    if failure is not None and any(hit.id not in known for hit in found.hits):
        notes.append(f"the search's other hits could not be read ({failure})")
    if facts is None:
        facts = NOTHING_KNOWN
    elif store.translation is not None:
        facts = replace(facts, cosines=_with_found(facts.cosines, found, wanted))
    needed = _read_chains(found.needed.paths, known)
    if failure is not None and len(needed) < len(found.needed.paths):
        notes.append(f"what the seeds need could not be read ({failure})")
    completed = tuple(_completed(each, known, failure, request) for each in found.explorations)
    raise_if_all_failed(completed)
    return Completed(
        explorations=completed,
        hits=_paths_of(found.hits, known),
        needed=needed,
        facts=replace(facts, needs=found.needed.needs),
    )


def _with_found(own: Mapping[str, float], found: Found, ids: Set[str]) -> Mapping[str, float]:
    """Add the cosines of the facts that led the search to memories without a vector of their own.

    A memory to which none led counts as unrelated to the query, and at most as near as the last
    hit: where few facts are found, the last one may still be near.
    """
    led = found.cosines
    if led.keys() <= own.keys():
        return own
    least = min(led.values())
    if found.unrelated is not None:
        least = min(least, found.unrelated)
    return {id_: led.get(id_, least) for id_ in ids} | {**own}


async def _ask(
    store: Store,
    request: FactsRequest,
    ids: Set[str],
    known: dict[str, MemoryNode],
    notes: list[str],
) -> Facts | None:
    """Query the facts, and the memories that are not known yet; None if the query failed.

    If texts are missing, this query gets half of the time, to leave the rest for reading the texts
    alone.
    """
    if request.until is not None and not ids <= known.keys():
        now = asyncio.get_running_loop().time()
        request = replace(request, until=(now + request.until) / 2)
    try:
        facts, memories = await ask_facts(store, request, sorted(ids), known=sorted(known))
    except MemoriaError as exc:  # raised after all retries, so the query is not repeated
        throttled_warning(log, "ranked without cosines and edges (%s)", type(exc).__name__)
        notes.append(f"ranked without cosines and edges ({exc})")
        return None
    known |= memories
    return facts


async def _read(
    store: Store, request: FactsRequest, ids: Set[str], known: dict[str, MemoryNode]
) -> MemoriaError | None:
    """Read the memories that are not known yet; return the error if the query failed."""
    if missing := sorted(ids - known.keys()):
        try:
            known |= await hydrate(store, missing, scope=request.scope, until=request.until)
        except MemoriaError as exc:
            return exc
    return None


def _completed(
    exploration: Exploration,
    known: Mapping[str, MemoryNode],
    failure: MemoriaError | None,
    request: FactsRequest,
) -> Exploration:
    """Give an exploration its texts; its status says whether some could not be read.

    Two paths that end before the same deleted memory become one.
    """
    paths: dict[tuple[str, ...], Path] = {}
    lacks_texts = False
    for path in sorted(exploration.paths, key=path_order):
        kept: Path | None = path
        if failure is not None and not all(id_ in known for id_ in path.ids):
            lacks_texts = True
            # If no query has looked for the seed yet, the seed may not exist.
            looked_for = path.hops or exploration.stats.levels
            kept = replace(path, memories=()) if looked_for else None
        elif len(path.memories) <= len(path.hops):
            kept = with_texts(path, known)
        if kept is not None:
            paths.setdefault(kept.ids, kept)
    exploration = replace(exploration, paths=tuple(sorted(paths.values(), key=path_order)))
    if not lacks_texts:
        return exploration
    error = exploration.error or (None if _is_late(request.until) else failure)
    return replace(exploration, status="failed" if error else "truncated", error=error)


def _read_chains(chains: Sequence[Path], known: Mapping[str, MemoryNode]) -> tuple[Path, ...]:
    """Give chains their texts; one that could not be read to its end is left out."""
    read = (replace(chain, memories=texts_of(chain, known)) for chain in chains)
    return tuple(chain for chain in read if len(chain.memories) == len(chain.ids))


def _is_late(until: float | None) -> bool:
    now = asyncio.get_running_loop().time()
    return until is not None and now >= until - TIMER_SLACK_S


def _paths_of(hits: Sequence[Seed], known: Mapping[str, MemoryNode]) -> tuple[Path, ...]:
    """Make a path of each hit; a connector, or a hit that is not known, is left out."""
    found = ((known[hit.id], hit.score) for hit in hits if hit.id in known)
    return tuple(path_of(memory, score) for memory, score in found if not is_connector(memory))


def path_of(memory: MemoryNode, score: float) -> Path:
    """Return the path of a memory from which nothing was explored."""
    return Path(
        seed_id=memory.id,
        hops=(),
        memories=(memory,),
        end_reason="not_explored",
        energy=score,
    )
