"""What one call explores, and the callbacks that take the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from memoria._support.wording import kind_of
from memoria.errors import InvalidInputError
from memoria.recall.strategies import RunInput, Strategy
from memoria.types import Exploration, Path, Seed, Seeds

#: When to read texts that the strategy's own queries did not return: as soon as a branch has ended,
#: or as soon as its exploration has. A path whose texts are known is handed over at once.
HydrateAt = Literal["branch_end", "exploration_end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreRequest:
    """What one call explores.

    Attributes
    ----------
    input
        Start of the strategy: all seeds of the call, its scope and its tags.
    started
        Time of the loop's clock at the start; seconds.
    until
        Time of the loop's clock at which everything must be delivered; seconds.
    hydrate_at
        When missing texts are read. None means never, for a caller who reads them or needs no
        texts; then a path has only the ``memories`` of its beginning that the strategy's queries
        returned.
    seeds_per_session
        Number of seeds that share a session and a run; None for all. A strategy in which the energy
        of the seeds meets always runs with all seeds together.
    """

    strategy: Strategy
    input: RunInput
    started: float
    until: float
    hydrate_at: HydrateAt | None = None
    seeds_per_session: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Callbacks that take the results.

    Attributes
    ----------
    on_exploration
        Called with each exploration when it is over.
    on_path
        Called with each path when its texts are known or could not be read; with ``hydrate_at``
        None, when the path has ended.
    """

    on_exploration: Callable[[Exploration], None]
    on_path: Callable[[Path], None] = lambda _: None


def distinct(seeds: Iterable[Seed] | Seeds) -> tuple[Seed, ...]:
    """Return the seeds as a tuple, checked: each is a `Seed`, and no memory comes twice."""
    given = seeds.seeds if isinstance(seeds, Seeds) else seeds
    if not isinstance(given, Iterable):
        raise InvalidInputError(f"seeds must be a list of Seed, got {kind_of(given)}")
    known: dict[tuple[str, str], Seed] = {}
    for seed in given:
        if not isinstance(seed, Seed):
            raise InvalidInputError(f"seeds must contain Seed, got {kind_of(seed)}")
        if (seed.scope, seed.id) in known:
            raise InvalidInputError(f"two seeds have the id {seed.id!r}: keep the better one")
        known[seed.scope, seed.id] = seed
    return tuple(known.values())
