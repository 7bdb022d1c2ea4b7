"""Find a memory outside a full text that may be worth more than what has to go for it.

In: the chains of the memories that have a text, and the places in the text. Out: one exchange, and
which of two texts is worth more. Touches nothing.

Filling takes whatever brings the most for its tokens, so a good memory that is too long for what is
left stays out, and worse ones that are short fill the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from memoria.context.tree import Place


class Exchange(NamedTuple):
    """A memory that comes in, and the places in the text afterwards."""

    coming: Place
    included: set[Place]


def find_exchange(
    chains: Mapping[Place, list[Place]],
    included: Collection[Place],
    room: int,
    refused: Collection[Place],
) -> Exchange | None:
    """Find what the best memory that was left out may take the place of.

    Parameters
    ----------
    chains
        Each place that has a text, and the places that it needs, itself included; their lines are
        counted.
    included
        The places in the text.
    room
        Tokens that are left.
    refused
        Places that need not be tried.

    Returns
    -------
    Exchange or None
        The worst memories that nothing in the text needs go, until there is room for the best one
        outside. If there is no such room, the places stay as they are. None: nothing is left to
        try.
    """
    outside = [place for place in chains if place not in included and place not in refused]
    if not outside:
        return None
    coming = max(outside, key=lambda place: (place.worth, place.id))
    inside = [place for place in chains if place in included]
    needed = {place for held in (*inside, coming) for place in chains[held] if place is not held}
    new = [place for place in chains[coming] if place not in included]
    missing = sum(place.tokens for place in new) - room
    going: set[Place] = set()
    for place in sorted(inside, key=lambda place: (place.worth, place.id)):
        if missing <= 0:
            break
        if place not in needed:
            going.add(place)
            missing -= place.tokens
    if missing > 0:
        return Exchange(coming, set(included))
    kept = (place for place in inside if place not in going)
    return Exchange(coming, {each for place in (*kept, coming) for each in chains[place]})


def is_worth_more(
    chains: Mapping[Place, list[Place]], now: Collection[Place], before: Collection[Place]
) -> bool:
    """Tell whether the places of one text are worth more than those of another.

    Notes
    -----
    They must be worth more by both measures: each memory counts once, and each counts for each of
    its characters. By the first measure alone, short memories crowd out the long ones that hold the
    evidence of conversations; by the second, long ones crowd out the short.
    """
    new = [place for place in chains if place in now and place not in before]
    gone = [place for place in chains if place in before and place not in now]
    return all(worth(new) > worth(gone) for worth in (_for_each, _by_length))


def _for_each(places: Iterable[Place]) -> float:
    return sum(place.worth for place in places)


def _by_length(places: Iterable[Place]) -> float:
    return sum(place.worth * len(place.text) for place in places)
