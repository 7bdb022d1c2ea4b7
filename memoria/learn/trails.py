"""What a trace says about use: which edges led to memories, and which were active together.

In: a `Trace`. Out: edges, activations, pairs. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from memoria._support.checks import MAX_ID_BYTES, check_id, check_ids, check_string
from memoria._support.wording import number_of
from memoria.errors import InvalidInputError
from memoria.graph.connectors import connectors_on
from memoria.graph.vocabulary import AFFINITY
from memoria.types import Hop, Path, Trace


@dataclass(frozen=True, slots=True, order=True)
class EdgeKey:
    """An edge as it is stored: its ends, in the stored direction, and its relation."""

    source: str
    target: str
    relation: str


@dataclass(frozen=True, slots=True)
class CoActive:
    """Two memories that were active in one recall, ``one`` < ``other``.

    Attributes
    ----------
    earlier, later
        Activations, 0 to 1: of the memory that energy reached first, and of the other one.
    """

    one: str
    other: str
    earlier: float
    later: float


def checked_ids(ids: Iterable[str], field: str, trace: Trace | None = None) -> tuple[str, ...]:
    """Return ids sorted, each once; with a trace, check that the recall found them."""
    unique = check_ids(ids, field)
    if trace is not None:
        known = found_in(trace)
        if unknown := [id_ for id_ in unique if id_ not in known]:
            raise InvalidInputError(
                f"{field} names {number_of(len(unknown), 'id')} that the recall of the trace did "
                "not find: give ids of its memories",
                field=field,
            )
    return unique


def found_in(trace: Trace) -> set[str]:
    """Return the ids of all memories that a recall found; connectors are none."""
    seeds = (*trace.seeds.seeds, *trace.seeds.runners_up)
    paths = (*_paths(trace), *trace.needed)
    found = {seed.id for seed in seeds}.union(*(path.ids for path in paths))
    return found - connectors_on(paths)


def edges_to(trace: Trace, used: Iterable[str]) -> tuple[EdgeKey, ...]:
    """Return the edges by which used memories were found, each once, sorted.

    Energy came along them, or they say that a memory needs the next one.

    Each path counts from its seed to the last used memory on it, with the edges at connectors.
    Virtual edges between memories that share tags are left out: they are not stored, but each
    recall finds them again.

    Raises
    ------
    InvalidInputError
        A hop can't be an edge: a trace may come from a file.
    """
    wanted = frozenset(used)
    found: set[EdgeKey] = set()
    for path in (*_paths(trace), *trace.needed):
        reached = [n for n, hop in enumerate(path.hops, start=1) if hop.target in wanted]
        trail = path.hops[: max(reached, default=0)]
        found.update(_key(hop) for hop in trail if hop.relation != AFFINITY)
    return tuple(sorted(found))


def active(trace: Trace, limit: int) -> tuple[tuple[str, float, int], ...]:
    """Return the ``limit`` strongest memories: (id, activation, hops), the first reached first.

    The activation is the highest energy that reached the memory, at most 1; ``hops`` is its
    shortest distance from a seed. Of two memories at the same distance, the stronger one came
    first. Connectors are left out.
    """
    connectors = connectors_on(_paths(trace))
    energies: dict[str, float] = {}
    hops: dict[str, int] = {}

    def note(id_: str, energy: float, distance: int) -> None:
        energies[id_] = max(energies.get(id_, 0.0), min(energy, 1.0))
        hops[id_] = min(hops.get(id_, distance), distance)

    for path in _paths(trace):
        note(path.seed_id, path.start, 0)
        for distance, hop in enumerate(path.hops, start=1):
            note(hop.target, hop.energy_out, distance)
    memories = energies.keys() - connectors
    strongest = sorted(memories, key=lambda id_: (-energies[id_], id_))[:limit]
    order = sorted(strongest, key=lambda id_: (hops[id_], -energies[id_], id_))
    return tuple((id_, energies[id_], hops[id_]) for id_ in order)


def co_active(trace: Trace, limit: int) -> tuple[CoActive, ...]:
    """Return the pairs of memories that were active together, sorted by ids.

    Two seeds are not a pair: that the same question found both does not connect them.
    """
    seeds = {found.seed.id for found in trace.explorations}
    pairs = []
    for first, second in combinations(active(trace, limit), 2):
        if first[0] in seeds and second[0] in seeds:
            continue
        one, other = sorted((first[0], second[0]))
        pairs.append(CoActive(one=one, other=other, earlier=first[1], later=second[1]))
    return tuple(sorted(pairs, key=lambda pair: (pair.one, pair.other)))


def _paths(trace: Trace) -> Iterator[Path]:
    return (path for exploration in trace.explorations for path in exploration.paths)


def _key(hop: Hop) -> EdgeKey:
    ends = (hop.source, hop.target) if hop.direction == "out" else (hop.target, hop.source)
    for id_ in ends:
        check_id(id_, "trace")
    check_string(hop.relation, "trace", max_bytes=MAX_ID_BYTES)
    if hop.source == hop.target:
        raise InvalidInputError(
            f"the trace has a hop from {hop.source!r} to itself: give a trace as a recall made it",
            field="trace",
        )
    return EdgeKey(*ends, hop.relation)
