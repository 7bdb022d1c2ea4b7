"""What one call explores, and who takes the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from memoria.strategies import RunInput, Strategy
from memoria.types import Exploration, Path

#: When to read texts that the strategy's own queries did not return: as soon as a branch has ended,
#: or as soon as its exploration has. A path whose texts are known is handed over at once.
HydrateAt = Literal["branch_end", "exploration_end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreRequest:
    """What one call explores.

    Attributes
    ----------
    strategy
        How energy moves.
    input
        What the strategy starts from: all seeds of the call, its scope and tags.
    started
        Time of the loop's clock at the start; seconds.
    until
        Time of the loop's clock at which everything must be delivered; seconds.
    hydrate_at
        When missing texts are read. None: never, for a caller who reads them or needs none; then
        the ``memories`` of a path are those of its beginning that the strategy's queries returned.
    seeds_per_session
        Seeds that share a session and a run, where their energy does not meet; None: all.
    """

    strategy: Strategy
    input: RunInput
    started: float
    until: float
    hydrate_at: HydrateAt | None = None
    seeds_per_session: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """Who takes the results.

    Attributes
    ----------
    on_exploration
        Called with each exploration when it is over.
    on_path
        Called with each path when its texts are there.
    """

    on_exploration: Callable[[Exploration], None]
    on_path: Callable[[Path], None] = lambda _: None
