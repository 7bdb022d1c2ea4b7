"""Move trees of a text below memories of the text that also lead to where they begin.

In: the places of a text. Out: the moves that were made. Touches the places only.

A seed or a hit of the search costs the fewest tokens if its tree stands by itself. But if another
tree of the text reaches the same memory, the memory says more there: its line shows how it relates
to the one above it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from memoria.context.tree import Place


class Move(NamedTuple):
    """The move of a memory's text, and of the places below it, from one place to another."""

    old: Place
    new: Place
    below: tuple[Place, ...]

    def back(self) -> Move:
        """Return the move that undoes this one."""
        return Move(self.new, self.old, self.below)


def move_all(places: Sequence[Place], included: Collection[Place]) -> list[Move]:
    """Move each tree that can move, one after the other.

    Each step makes the move below the memory with the most worth; of several, the one to the place
    with the most energy (ties: the first in ``places``). So a tree comes below the best memory that
    leads to it, even if that memory has moved itself.

    Returns
    -------
    list
        The moves in the order in which they were made.
    """
    roots = {
        place.id: place
        for place in included
        if place.parent is None and place.home is place and place.text
    }
    spots = [place for place in places if place.id in roots and place.parent is not None]
    inside = set(included)
    moves: list[Move] = []
    while fitting := [spot for spot in spots if _leads_to(spot, roots[spot.id], inside)]:
        spot = max(fitting, key=_fit)
        old = roots[spot.id]
        below = tuple(place for place in places if place.parent is old)
        moves.append(Move(old, spot, below))
        make(places, moves[-1])
        inside.remove(old)
        inside.add(spot)
    return moves


def make(places: Iterable[Place], move: Move) -> None:
    """Make a move; duplicates of the memory refer to its new place."""
    for place in places:
        if place.home is move.old:
            place.home = move.new
    for place in move.below:
        place.parent = move.new


def touched(places: Iterable[Place], moves: Iterable[Move]) -> list[Place]:
    """Return the places whose lines differ before and after these moves."""
    ends = {end for move in moves for end in (move.old, move.new)}
    return [
        place
        for place in places
        if place in ends
        or (place.lines and (place.home in ends or not ends.isdisjoint(place.above())))
    ]


def _leads_to(spot: Place, root: Place, inside: Collection[Place]) -> bool:
    """Tell whether a text above a place leads to it, and does not itself need the tree."""
    parent = spot.parent
    if root not in inside or parent not in inside or parent is None or parent.home is not parent:
        return False
    return all(above.home.root is not root for above in spot.above())


def _fit(spot: Place) -> tuple[float, float]:
    return spot.parent.worth if spot.parent else 0.0, spot.energy
