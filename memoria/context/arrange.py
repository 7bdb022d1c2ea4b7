"""Find memories that stand alone in a text although what leads to them stands there too.

In: the places of a text. Out: a better place for one of them. Touches nothing.

A hit of the search is cheapest to pack by itself. Where a tree of the text reaches it as well, it
says more there: what it is to the memory above it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memoria.context.tree import Place


def better_place(
    places: Sequence[Place], included: Collection[Place], refused: Collection[Place]
) -> tuple[Place, Place] | None:
    """Find a home without parent and children, and a place below a text where it can move.

    Returns
    -------
    tuple
        The home, and the place with most energy that is not ``refused``; ties in the order of
        ``places``. None when no memory can move.
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
        if place.parent is not None
        and place.id in alone
        and place.parent in included
        and place.parent.home is place.parent
        and place not in refused
    ]
    if not spots:
        return None
    best = max(spots, key=lambda place: place.energy)
    return alone[best.id], best
