"""Which paths lead to what is in a context; every surface shows these, and folds the others.

In: explorations, the items of a context. Out: `Leading`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from memoria._support.wording import number_of
from memoria.types.paths import Path, path_order


class Reached(Protocol):
    """A memory with the way to it; a `ContextItem` is one."""

    @property
    def id(self) -> str:
        """Id of the memory."""

    @property
    def path(self) -> Path:
        """The path with the way to it."""


class Explored(Protocol):
    """The paths from one seed; an `Exploration` is one."""

    @property
    def paths(self) -> Sequence[Path]:
        """The paths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leading:
    """The paths that lead to a context.

    Attributes
    ----------
    paths
        The paths, in the order of the context, cut after its last memory; the reason of their
        end is that of the whole path. None of them is the beginning of another one.
    others
        How many paths of the explorations lead to no memory of the context.
    """

    paths: tuple[Path, ...]
    others: int

    def __str__(self) -> str:
        """Return the counts in words.

        >>> str(Leading(paths=(), others=2))
        'no path leads to a memory of the context, 2 lead elsewhere'
        """
        if not self.paths:
            elsewhere = f"{self.others} lead{'s' if self.others == 1 else ''} elsewhere"
            return f"no path leads to a memory of the context, {elsewhere}"
        more = f", {self.others} more" if self.others else ""
        count = number_of(len(self.paths), "path leads", "paths lead")
        return f"{count} to it{more}"


def leading(explorations: Iterable[Explored], items: Iterable[Reached]) -> Leading:
    """Return the paths that lead to the items of a context, and how many others there are."""
    ways = {way.place: way for way in (_way_to(item) for item in items)}
    begun = {place[:end] for place in ways for end in range(1, len(place))}
    ranks = {place: rank for rank, place in enumerate(ways)}

    def order(path: Path) -> tuple[int, tuple[float, tuple[str, ...]]]:
        on_it = (path.place[:end] for end in range(1, len(path.place) + 1))
        return min(ranks[place] for place in on_it if place in ranks), path_order(path)

    paths = sorted((way for place, way in ways.items() if place not in begun), key=order)
    kept = {path.place for path in paths}
    found = [path.place for each in explorations for path in each.paths]
    begins = {place[:end] for place in found for end in range(1, len(place) + 1)} & kept
    return Leading(paths=tuple(paths), others=len(found) - len(begins))


def _way_to(item: Reached) -> Path:
    """Return the part of a path that leads to its item."""
    path = item.path
    if item.id not in path.ids[:-1]:
        return path
    steps = path.ids.index(item.id)
    hops = path.hops[:steps]
    energy = hops[-1].energy_out if hops else path.start
    return replace(path, hops=hops, memories=path.memories[: steps + 1], energy=energy)
