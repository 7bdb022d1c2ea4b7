"""Move trees of a text below lines of the text that also lead to where they begin.

In: places, and which of them are in the text. Out: moves, to be made or undone. Touches the places.

A seed or a hit of the search costs the fewest tokens if its tree stands by itself. But if another
tree of the text reaches the same memory, the memory says more there: its line shows how it relates
to the one above it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from memoria.context.tree import Place, has_text

#: A move leaves no line with more lines above it than this: each costs two spaces.
MOST_DEPTH = 10


class Move(NamedTuple):
    """The move of a memory's text, and of what stands below it, from one place to another."""

    old: Place
    new: Place


class Trees:
    """The trees of a text while they move."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._below: dict[Place, list[Place]] = defaultdict(list)
        self._referring: dict[Place, list[Place]] = defaultdict(list)  # home -> its places
        self._spots: dict[str, list[Place]] = defaultdict(list)  # id -> places within trees
        for place in places:
            self._referring[place.home].append(place)
            if place.parent is not None:
                self._below[place.parent].append(place)
                self._spots[place.id].append(place)
        self._hung: dict[Move, list[tuple[Place, Place]]] = {}  # who hung where before

    def below(self, place: Place) -> list[Place]:
        """Return a place and all places below it."""
        found = [place]
        for each in found:  # the list grows while it is read
            found += self._below[each]
        return found

    def moves(self, included: Collection[Place]) -> Iterator[Move]:
        """Propose a move for each tree that can move; the caller makes it, or goes on without.

        The trees of the best memories come first, and each goes below the line of the memory with
        the most worth that leads to it now (ties: the most energy). At first trees only move below
        memories that are worth at least as much as the one with which they begin.
        """
        inside = set(included)
        roots = [place for place in included if place.parent is None and has_text(place)]
        roots.sort(key=lambda place: (-place.worth, place.id))
        for is_first in (True, False):
            for root in roots:
                if root.home is not root:
                    continue
                height = max(each.depth for each in self.below(root) if each in inside)
                spots = [
                    (parent.worth, spot.energy, -spot.number, spot)
                    for spot in self._spots[root.id]
                    if (parent := spot.parent) in inside
                    and parent is not None
                    and (parent.worth >= root.worth or not is_first)
                    and _leads_to(spot, root, MOST_DEPTH - height)
                ]
                if spots:
                    move = Move(root, max(spots)[-1])
                    yield move
                    if root.home is move.new:
                        inside.remove(root)
                        inside.add(move.new)

    def make(self, move: Move) -> None:
        """Make a move; where both places lead to the same memory, its places become one."""
        self._go_home(move.old, move.new)
        self._hung[move] = self._merge(move.old, move.new)

    def undo(self, move: Move) -> None:
        """Undo the last move that was made and not undone."""
        for place, parent in reversed(self._hung.pop(move)):
            self._hang(place, parent)
        self._go_home(move.new, move.old)

    def _go_home(self, old: Place, new: Place) -> None:
        """Let all places that refer to a text refer to its new place."""
        for place in self._referring[old]:
            place.home = new
        self._referring[new] += self._referring.pop(old)

    def _merge(self, old: Place, new: Place) -> list[tuple[Place, Place]]:
        """Hang what stands below one place of a memory below another; return who hung where."""
        hung: list[tuple[Place, Place]] = []
        same = [(old, new)]
        for source, target in same:  # the list grows while it is read
            there = {place.id: place for place in self._below[target]}
            for place in [*self._below[source]]:
                twin = there.get(place.id)
                if twin is not None and (twin.home is twin or place.home is not place):
                    same.append((place, twin))
                    continue
                if twin is not None:
                    same.append((twin, place))
                hung.append((place, source))
                self._hang(place, target)
        return hung

    def _hang(self, place: Place, parent: Place) -> None:
        if place.parent is not None:
            self._below[place.parent].remove(place)
        place.parent = parent
        self._below[parent].append(place)


def _leads_to(spot: Place, root: Place, most: int) -> bool:
    """Tell whether a line leads to a place that has few enough above it, none from the tree."""
    above = [*spot.above()]
    return (
        above[0].home is above[0]
        and len(above) <= most
        and all(each.home.root is not root for each in above)
    )
