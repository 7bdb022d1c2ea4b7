"""Grow the trees of places that paths form.

In: paths. Out: places, the best first; the places of a text in its order. Touches nothing.

The paths of one seed form a tree of *places*. If several places reach a memory, its text stands at
one of them, its *home*: where a tree begins with it, else where it has the most energy. The other
places refer to it. A memory is packed only with its *chain*: the places that lead to it, and the
homes to which those places refer.

A connector has no place. The memories behind it stand below the memory before it, and the reason
names it: both memories speak of the same topic.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from memoria.graph.connectors import is_connector
from memoria.types import Hop, MemoryNode, Path

# Energies are far below the scores of hits, because each hop divides by the root of the degree; so
# energies are scaled to this highest value. Measured with 0, 0.25, 0.5, 0.75 and with energies that
# are not scaled: 0.5 kept the most evidence of conversations, and for multi-hop questions it was
# within one point of the best.
REACHED_WORTH = 0.5

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True, eq=False)
class Place:
    """A memory where paths of one seed reach it; ``path`` is the best path through here."""

    id: str
    parent: Place | None
    steps: int  # hops from the seed
    since: int  # hops from the seed to the parent on these paths
    through: tuple[str, ...]  # names of the connectors passed since the parent
    energy: float
    path: Path
    number: int  # in the order in which the best paths come to the places
    rank: tuple[Any, ...] = ()  # sort key for the order of the text
    memory: MemoryNode = field(init=False)
    home: Place = field(init=False)  # the place with this memory's text; may be this place
    worth: float = 0.0  # worth of the memory, the same at all its places
    value: float = 0.0  # by this trees and branches stand in order
    text: str = ""
    note: str = "no text"  # why the text is empty, if it is
    lines: str = ""
    tokens: int = 0

    @property
    def hops(self) -> tuple[Hop, ...]:
        """The hops from the parent, or from a connector that is the seed, to here."""
        return self.path.hops[self.since : self.steps]

    def above(self) -> Iterator[Place]:
        """Yield the places above, the nearest first."""
        place = self
        while place.parent is not None:
            yield (place := place.parent)

    @property
    def depth(self) -> int:
        """How many places stand above."""
        return len([*self.above()])

    @property
    def root(self) -> Place:
        """The place at which the tree begins."""
        return [self, *self.above()][-1]


def grow(paths: Iterable[Path], worth: Mapping[str, float] | None = None) -> list[Place]:
    """Return the places of ``paths`` (best first), the best trees and branches first.

    Notes
    -----
    Without ``worth``, the worth of a memory is its score as a hit of the search, plus the most
    energy that reached it over hops, scaled so that the strongest memory gets `REACHED_WORTH`. They
    are added because a memory that both the search and the exploration found is likelier to answer.
    """
    found: dict[str, float] = defaultdict(float)
    reached: dict[str, float] = defaultdict(float)
    planted: dict[Place, None] = {}  # in the order in which the paths come to them
    given = list(paths)
    memories = _memories_of(given)
    for place, energy in _places_on(given, memories):
        planted[place] = None
        came = reached if place.steps else found
        came[place.id] = max(came[place.id], energy)
    ranked = worth is not None
    if worth is None:
        strongest = max(reached.values(), default=0.0) or 1.0
        worth = {
            name: found[name] + REACHED_WORTH * reached[name] / strongest
            for name in found.keys() | reached.keys()
        }
    for place in planted:
        place.memory = memories.get(place.id) or MemoryNode(id=place.id, kind="", text="")
        place.text = place.memory.text.strip()
        place.worth = worth.get(place.id, 0.0)
        place.value = place.worth if ranked else place.energy
    places = _by_best({place: place.value for place in planted})
    homes: dict[str, Place] = {}
    # Ties: first in the text.
    for place in sorted(places, key=lambda place: (place.parent is not None, -place.energy)):
        homes.setdefault(place.id, place)
    for place in places:
        place.home = homes[place.id]
    return places


def in_order(included: Collection[Place], order: Literal["relevance", "time"]) -> list[Place]:
    """Return the places of a text in its order, by the texts that stand there; set their ranks.

    A tree that only refers to the best memory does not stand before the one with its text.
    """
    stands = {place: place.value if has_text(place) else 0.0 for place in included}
    best = _by_best(stands)
    return best if order == "relevance" else _by_time(best)


def has_text(place: Place) -> bool:
    """Tell whether the text of its memory stands at a place."""
    return place.home is place and bool(place.text)


def _memories_of(paths: Iterable[Path]) -> dict[str, MemoryNode]:
    """Return id -> memory, with a text if any path has it."""
    memories: dict[str, MemoryNode] = {}
    for path in paths:
        for memory in path.memories:
            if memory.id not in memories or not memories[memory.id].text.strip():
                memories[memory.id] = memory
    return memories


def _places_on(
    paths: Iterable[Path], memories: Mapping[str, MemoryNode]
) -> Iterator[tuple[Place, float]]:
    """Yield the places on each path, each with the energy that this path brought there.

    A place that several paths share is yielded for each of them.
    """
    tree: dict[tuple[str, ...], Place] = {}
    for path in paths:
        ids, place = path.ids, None
        through: tuple[str, ...] = ()
        for steps, energy in enumerate((path.start, *(hop.energy_out for hop in path.hops))):
            memory = memories.get(ids[steps])
            if memory is not None and is_connector(memory):
                through = (*through, memory.text)
                continue
            trunk = ids[: steps + 1]
            if trunk not in tree:
                since = place.steps if place else 0
                tree[trunk] = Place(
                    ids[steps], place, steps, since, through, energy, path, number=len(tree)
                )
            place, through = tree[trunk], ()
            if energy > place.energy:
                place.energy, place.path = energy, path
            yield place, energy


def _by_best(value: Mapping[Place, float]) -> list[Place]:
    """Order trees, and branches in a tree, by their highest value; then by energy and id."""
    most, downwards = dict(value), sorted(value, key=lambda place: place.depth)
    for place in reversed(downwards):
        if place.parent:
            most[place.parent] = max(most[place.parent], most[place])
    for place in downwards:
        above = place.parent.rank if place.parent else ()
        place.rank = (*above, (-most[place], -place.energy, place.id, place.number))
    return sorted(value, key=lambda place: place.rank)


def chain_of(target: Place) -> list[Place]:
    """Return the places that ``target`` needs in the text: those above it, and homes."""
    chain = [target]
    for place in chain:  # the list grows while it is read
        for needed in (place.parent, place.home):
            if needed and needed not in chain:
                chain.append(needed)
    return chain


def _by_time(places: list[Place]) -> list[Place]:
    """Order each tree oldest first; a memory without a date stands with its parent."""
    dates: dict[Place, datetime] = {}
    for place in places:  # a parent stands before its children
        date = place.memory.created_at
        if date is not None:
            dates[place] = date if date.tzinfo else date.replace(tzinfo=UTC)
        else:
            dates[place] = dates[place.parent] if place.parent else _LONG_AGO
    return sorted(places, key=lambda place: (place.rank[0], dates[place], place.rank))
