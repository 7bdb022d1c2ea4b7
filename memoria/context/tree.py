"""Grow the tree of places that paths share.

In: paths. Out: places, in the order in which they stand in a text.
Touches nothing.

The paths of one seed form a tree of *places*. A memory that several places reach keeps its text
at the place with most energy, its *home*; the others refer to it. No memory is packed without
its *chain*: the places that lead to it, and the homes of the memories they refer to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from memoria.types import MemoryNode, Path

# Energies are far below the scores of hits: each hop divides by the root of the degree. Of 0,
# 0.25, 0.5, 0.75 and energies as they are, 0.5 kept most evidence of conversations, and of
# multi-hop questions within a point of the best.
REACHED_WORTH = 0.5

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True, eq=False)
class Place:
    """A memory where the paths of one seed reach it; ``path`` is the best one through here."""

    id: str
    parent: Place | None
    depth: int
    energy: float
    path: Path
    rank: tuple[Any, ...] = ()  # sorts into the order of the text
    memory: MemoryNode = field(init=False)
    home: Place = field(init=False)  # where this memory's text stands; may be this place
    worth: float = 0.0  # of the memory, wherever it stands
    text: str = ""
    lines: str = ""
    tokens: int = 0


def grow(
    paths: Iterable[Path],
    order: Literal["relevance", "time"],
    worth: Mapping[str, float] | None = None,
) -> list[Place]:
    """Places of ``paths`` (best first) in the order of the text, with their memories and homes.

    Notes
    -----
    Without ``worth``, a memory is worth its score as a hit of the search, plus the most energy that
    reached it over hops, on a scale that gives the strongest of them `REACHED_WORTH`: what both
    found is likelier to be what was asked for.
    """
    tree: dict[tuple[str, ...], Place] = {}
    memories: dict[str, MemoryNode] = {}
    found: dict[str, float] = defaultdict(float)
    reached: dict[str, float] = defaultdict(float)
    for path in paths:
        for memory in path.memories:
            if memory.id not in memories or not memories[memory.id].text.strip():
                memories[memory.id] = memory
        ids, place = path.ids, None
        for depth, energy in enumerate((path.start, *(hop.energy_out for hop in path.hops))):
            trunk = ids[: depth + 1]
            if trunk not in tree:
                tree[trunk] = Place(ids[depth], place, depth, energy, path)
            place = tree[trunk]
            if energy > place.energy:
                place.energy, place.path = energy, path
            came = reached if depth else found
            came[place.id] = max(came[place.id], energy)
    ranked = worth is not None
    if worth is None:
        strongest = max(reached.values(), default=0.0) or 1.0
        worth = {
            name: found[name] + REACHED_WORTH * reached[name] / strongest
            for name in found.keys() | reached.keys()
        }
    for place in tree.values():
        place.memory = memories.get(place.id) or MemoryNode(id=place.id, kind="", text="")
        place.text = place.memory.text.strip()
        place.worth = worth.get(place.id, 0.0)
    value = {place: place.worth if ranked else place.energy for place in tree.values()}
    places = _by_best(value)
    homes: dict[str, Place] = {}
    for place in sorted(places, key=lambda place: -place.energy):  # ties: first in the text
        homes.setdefault(place.id, place)
    for place in places:
        place.home = homes[place.id]
    return places if order == "relevance" else _by_time(places)


def _by_best(value: Mapping[Place, float]) -> list[Place]:
    """Order trees, and their branches, by the highest value in them; then by energy and id."""
    places, most = list(value), dict(value)
    for place in sorted(places, key=lambda place: -place.depth):
        if place.parent:
            most[place.parent] = max(most[place.parent], most[place])
    for place in sorted(places, key=lambda place: place.depth):
        above = place.parent.rank if place.parent else ()
        place.rank = (*above, (-most[place], -place.energy, place.id))
    return sorted(places, key=lambda place: place.rank)


def chain_of(target: Place) -> list[Place]:
    """All that must be in the text for ``target`` to be: trunks and homes, up to the seeds."""
    chain = [target]
    for place in chain:  # grows on the way
        for needed in (place.parent, place.home):
            if needed and needed not in chain:
                chain.append(needed)
    return chain


def _by_time(places: list[Place]) -> list[Place]:
    """Oldest first within each tree; what has no date stands with what led to it."""
    dates: dict[Place, datetime] = {}
    for place in places:  # a parent stands before its children
        date = place.memory.created_at
        if date is not None:
            dates[place] = date if date.tzinfo else date.replace(tzinfo=UTC)
        else:
            dates[place] = dates[place.parent] if place.parent else _LONG_AGO
    return sorted(places, key=lambda place: (place.rank[0], dates[place], place.rank))
