"""Collect the memories that a recall found, and ask the database for the facts that rank them.

In: explorations and other paths. Out: `Candidate`s, `Facts`. Reads only.
Query: ``ranking.candidates``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from memoria._support import foreign
from memoria.graph.connectors import is_connector
from memoria.graph.hydrate import memory_node
from memoria.graph.vocabulary import CONFLICTS, NEXT, PLAIN_RELATIONS, USUAL_ORDER
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import Edge, Exploration, MemoryFilter, MemoryNode, Path
from memoria.types.validity import Validity

Cosine = TypeVar("Cosine", float, NDArray[np.float64])

#: `Likeness.spread` of the default embedder, for which weights and limits were chosen.
DEFAULT_SPREAD = 0.48655336468
# The least distance to 1 that a rise is measured by.
_LEAST_WIDTH = 0.02
# Support by a neighbour is divided by the root of its degree: from this degree on, less than a
# twentieth of it is left.
MAX_DEGREE = 400


def rise(cosines: Cosine, base: float) -> Cosine:
    """Return how much of the way from a base to 1 cosines cover: 0 to 1."""
    covered: Cosine = np.clip((cosines - base) / max(1.0 - base, _LEAST_WIDTH), 0.0, 1.0)
    return covered


@dataclass(slots=True, kw_only=True)
class Candidate:
    """A memory that was found, and how it was found.

    Attributes
    ----------
    memory
        The memory.
    path
        As `RankedMemory.path`.
    hybrid
        Score as a hit of the hybrid search, 0 to 1; 0 if the search did not find it.
    energy
        Seed id -> highest energy that reached the memory from that seed, over at least one hop.
    loose
        Whether it is an earlier question that is loose; see `Seeds`.
    """

    memory: MemoryNode
    path: Path
    hybrid: float = 0.0
    energy: dict[str, float] = field(default_factory=dict)
    loose: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What learning left on a memory.

    Attributes
    ----------
    uses
        How often it was used.
    age_hours
        Hours since it was made, or since the earliest use that is noted; None: neither is known.
    confirmed, overridden
        How often it proved right, and was contradicted.
    right_for, wrong_for
        The latest questions that it proved right, or wrong, for.
    """

    uses: int = 0
    age_hours: float | None = None
    confirmed: int = 0
    overridden: int = 0
    right_for: Sequence[str] = ()
    wrong_for: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How close a query is to examples of messages.

    Attributes
    ----------
    aside
        Mean cosine with messages that ask a memory for nothing, -1 to 1.
    leaning
        The same with short messages that need a memory, such as "Order my usual pizza.".
    spread
        How far apart the embedder puts two messages: 1 minus their mean cosine, above 0.
    unrelated
        Mean cosine with the nearer third of the messages that ask a memory for nothing, -1 to 1:
        that of a text in the query's language which has nothing to do with the query.
    """

    aside: float
    leaning: float
    spread: float
    unrelated: float

    def margin(self, cosine: float) -> float:
        """Return how much nearer to the query than small talk a text with this cosine is."""
        return (cosine - self.aside) / self.spread

    def rise(self, cosine: float) -> float:
        """Return how much of the way from an unrelated text to 1 a cosine covers: 0 to 1."""
        return float(rise(cosine, self.unrelated))

    def on_default_scale(self, cosine: Cosine) -> Cosine:
        """Return the cosine that the default embedder gives texts which are about as near.

        Some embedders place any two texts close together. So what is missing to 1 is stretched, by
        how much farther apart the default embedder places messages.
        """
        missing: Cosine = 1.0 - cosine
        return 1.0 - missing * (DEFAULT_SPREAD / self.spread)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the database knows about candidates.

    Attributes
    ----------
    cosines
        Id -> cosine with the query; memories without an embedding of the query's size are missing.
    degrees
        Id -> number of edges.
    neighbours
        Id -> the candidates that an edge joins it to, each as (id, weight of the strongest edge of
        this direction, whether the edge leads from the memory to the candidate).
    past
        Id -> what learning left on the memory; memories without a past are missing.
    needs
        Id -> id of each memory that it says it needs -> weight of the edge; see `with_needs`.
    adjacent
        Id -> the candidates right before and after it in one text; see `adjacent_of`. Memories that
        stand alone are missing.
    edges
        Of each pair of candidates the strongest edge whose relation says more than both texts.
    sessions
        Id -> id of the memory's session, and the session's number of edges; memories outside
        sessions are missing.
    opening
        Ids of the memories with which their session begins: they have its time, and none is known
        to come before them. Empty for sessions without a time.
    like
        How close the query is to examples of messages; None if it is not known.
    alike
        Id of a statement -> id of another one -> cosine of their vectors; see `replacements`.
    probed
        Id of a statement -> cosine with the probe, which is near to statements of the question's
        subject; see `about`. Empty if there is no probe.
    asks
        How surely the query asks for a fact of a subject, 0 to 1; 0 without a probe.
    asked
        Margin (`Likeness.margin`) of the example that asks for a fact most nearly like the query,
        above 0; infinite without a probe.
    usual
        Mean and standard deviation of the probe's cosines with examples of statements.
    wanted
        Id -> id of each memory to which an edge leads that the query asks for -> 1; see `followed`.
    """

    cosines: Mapping[str, float]
    degrees: Mapping[str, int]
    neighbours: Mapping[str, Sequence[tuple[str, float, bool]]]
    past: Mapping[str, Past] = field(default_factory=dict)
    needs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    adjacent: Mapping[str, Sequence[str]] = field(default_factory=dict)
    edges: tuple[Edge, ...] = ()
    sessions: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    opening: Collection[str] = frozenset()
    like: Likeness | None = None
    alike: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    probed: Mapping[str, float] = field(default_factory=dict)
    asks: float = 0.0
    asked: float = math.inf
    usual: tuple[float, float] = (0.0, 0.1)
    wanted: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def on_default_scale(self, cosine: Cosine) -> Cosine:
        """Return what the default embedder would give; the cosine itself if that is not known."""
        return cosine if self.like is None else self.like.on_default_scale(cosine)


NOTHING_KNOWN = Facts(cosines={}, degrees={}, neighbours={})


def gather(
    explorations: Iterable[Exploration], others: Iterable[Path], where: MemoryFilter
) -> list[Candidate]:
    """Collect each memory once, with the energies that reached it, in the order of the ids.

    ``others`` are the paths of no exploration: hits of the search, and chains of needs.
    Memories that don't fit are left out, and so are connectors, and memories whose texts could not
    be read.
    """
    found: dict[str, Candidate] = {}
    unfit: set[str] = set()
    every = where.is_empty
    of_seeds = ((path, each.seed.score) for each in explorations for path in each.paths)
    for path, score in (*of_seeds, *((path, path.energy) for path in others)):
        energies = (None, *[hop.energy_out for hop in path.hops])
        for memory, energy in zip(path.memories, energies, strict=False):
            known = found.get(memory.id)
            if known is None:
                if memory.id in unfit:
                    continue
                if is_connector(memory) or not (every or where.fits(memory)):
                    unfit.add(memory.id)
                    continue
                known = found[memory.id] = Candidate(memory=memory, path=path)
            if energy is None:
                known.hybrid = max(known.hybrid, score)
            elif energy > known.energy.get(path.seed_id, 0.0):
                if energy > max(known.energy.values(), default=0.0):
                    known.path = path
                known.energy[path.seed_id] = energy
    return [found[id_] for id_ in sorted(found)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsRequest:
    """Which facts ranking asks for.

    Attributes
    ----------
    scope
        Scope of the memories.
    where
        Which memories are ranked. The others are only read.
    vector
        Embedding of the query, or None.
    max_weight
        A larger weight of an edge counts as this one.
    until
        Time of the loop's clock at which the query must be over; seconds.
    now
        The present, from which ages are counted; aware.
    generation
        That of the vectors to compare ``vector`` with; see `ServerFacts`.
    order
        The relations between neighbours in a text or talk, in lower case.
    probe
        Vector near to statements of the question's subject, or None.
    validity
        When the edges of a mapped graph must hold; memoria's own edges hold at any time.
    """

    scope: str
    where: MemoryFilter = field(default_factory=MemoryFilter)
    vector: Sequence[float] | None = None
    max_weight: float = 1.0
    until: float | None = None
    now: datetime = field(default_factory=partial(datetime.now, UTC))
    generation: int = 1
    order: Sequence[str] = USUAL_ORDER
    probe: Sequence[float] | None = None
    validity: Validity = field(default_factory=Validity.now)


async def ask_facts(
    store: Store, request: FactsRequest, ids: Collection[str], *, known: Collection[str]
) -> tuple[Facts, dict[str, MemoryNode]]:
    """Read cosines, degrees, the edges among candidates, and the memories not read so far.

    Returns
    -------
    tuple
        The facts about all ``ids``; and, by id, the memories that are not among ``known``.

    Notes
    -----
    One round trip.
    """
    parameters = {
        **request.where.parameters,
        "conflicts": CONFLICTS,
        "held": request.validity.held,
        "ids": list(ids),
        "known": list(known),
        "max_degree": MAX_DEGREE,
        "max_weight": request.max_weight,
        "next": NEXT,
        "order": list(request.order),
        "plain": list(PLAIN_RELATIONS),
        "scope": request.scope,
        "vector": None if request.vector is None else list(request.vector),
    }
    query = load("ranking.candidates").at(request.generation)
    rows = (await store.run(query, parameters, until=request.until))[0]["candidates"]
    facts = Facts(
        cosines={
            id_: cosine for id_, cosine, *_ in rows if cosine is not None and math.isfinite(cosine)
        },
        degrees={id_: degree for id_, _, degree, *_ in rows},
        neighbours={
            id_: [(other, weight, outgoing) for other, weight, outgoing in neighbours]
            for id_, _, _, neighbours, *_ in rows
        },
        past={id_: _past(row, request.now) for id_, *_, row, _, _, _, _ in rows if row is not None},
        adjacent={id_: adjacent for id_, *_, adjacent, _, _, _ in rows if adjacent},
        edges=_edges(rows),
        sessions={id_: (session[0], session[1]) for id_, *_, session in rows if session},
        opening={id_ for id_, *_, session in rows if session and session[2]},
    )
    return facts, {row[0]: memory_node(row[4]) for row in rows if row[4] is not None}


def _edges(rows: Iterable[Sequence[Any]]) -> tuple[Edge, ...]:
    """Return a conflict, else the strongest edge, of each pair, whichever end it was read from."""
    best: dict[tuple[str, str], tuple[bool, float, str, str, str]] = {}
    for id_, *_, said, conflicting, _ in rows:
        edges = [(False, weight, name, other, leads) for other, (weight, name), leads in said]
        edges += [(True, 0.0, CONFLICTS, other, leads) for other, leads in conflicting]
        for is_conflict, weight, name, other, leads in edges:
            source, target = (id_, other) if leads else (other, id_)
            edge = (is_conflict, weight, name, source, target)
            pair = (min(id_, other), max(id_, other))
            best[pair] = max(best.get(pair, edge), edge)
    return tuple(
        Edge(source=source, target=target, relation=name)
        for _, _, name, source, target in best.values()
    )


def _past(row: Sequence[Any], now: datetime) -> Past:
    """Read the past of a memory; a property of another type reads as missing."""
    made_ms, use_count, use_times, confirmed, overridden, right_for, wrong_for = row
    times = foreign.numbers(use_times)
    since = min(times, default=None) if made_ms is None else made_ms / 1000
    return Past(
        uses=max(foreign.count(use_count), len(times)),
        age_hours=None if since is None else (now.timestamp() - since) / 3600,
        confirmed=foreign.count(confirmed),
        overridden=foreign.count(overridden),
        right_for=foreign.strings(right_for),
        wrong_for=foreign.strings(wrong_for),
    )
