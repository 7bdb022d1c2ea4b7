"""Move memories that stand alone in a text into the trees of the text that also reach them.

In: the places of a text. Out: the moves that can be made at once. Touches the places only.

A hit of the search costs the fewest tokens if it stands alone. But if a tree of the text reaches
the same memory, the memory says more there: the line shows how it relates to the memory above it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from memoria.context.tree import Place


class Move(NamedTuple):
    """The move of a memory's text from one place to another."""

    old: Place
    new: Place

    def back(self) -> Move:
        """Return the move that undoes this one."""
        return Move(self.new, self.old)


def find_moves(places: Sequence[Place], included: Collection[Place]) -> list[Move]:
    """Find memories that stand alone, and for each a place below a memory with its text.

    Returns
    -------
    list
        At most one move per memory, to its place with the most energy (ties: the first in
        ``places``); the move with the most energy first. No move takes away a text below which
        another move places a memory.
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
    """Make the moves; return the places that changed, with those of duplicates."""
    new_homes = {move.old: move.new for move in moves}
    changed = {place for place in places if place.home in new_homes}
    for place in changed:
        place.home = new_homes[place.home]
    return changed
