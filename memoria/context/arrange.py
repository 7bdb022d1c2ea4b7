"""Move memories that stand alone in a text into the trees of it that reach them too.

In: the places of a text. Out: the moves that are possible at once. Touches the places only.

A hit of the search is cheapest to pack by itself. Where a tree of the text reaches it as well, it
says more there: what it is to the memory above it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from memoria.context.tree import Place


class Move(NamedTuple):
    """A memory's text goes from one place to another."""

    old: Place
    new: Place

    def back(self) -> Move:
        """Undo."""
        return Move(self.new, self.old)


def find_moves(places: Sequence[Place], included: Collection[Place]) -> list[Move]:
    """Find homes without parent and children, and for each a place below a text.

    Returns
    -------
    list
        At most one move per memory, to its place with most energy, ties in the order of
        ``places``; most energy first. No move takes away what another one goes to.
    """
    parents = {place.parent for place in included}
    alone = {
        place.id: place
        for place in included
        if place.parent is None and place not in parents and place.home is place and place.text
    }
    spots = [
        place
        for place in places
        if place.id in alone
        and place.parent is not None
        and place.parent in included
        and place.parent.home is place.parent
    ]
    moves: list[Move] = []
    moved: set[Place] = set()
    kept: set[Place] = set()
    for spot in sorted(spots, key=lambda place: -place.energy):
        old, parent = alone[spot.id], spot.parent
        if parent is not None and old not in moved | kept and parent not in moved:
            moves.append(Move(old, spot))
            moved.add(old)
            kept.add(parent)
    return moves


def settle(places: Sequence[Place], moves: Sequence[Move]) -> set[Place]:
    """Make the moves; return the places that now read otherwise: duplicates move along."""
    new_homes = {move.old: move.new for move in moves}
    changed = {place for place in places if place.home in new_homes}
    for place in changed:
        place.home = new_homes[place.home]
    return changed
