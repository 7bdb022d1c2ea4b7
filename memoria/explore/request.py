"""What one call explores, and who takes the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from memoria.strategies import RunInput
from memoria.types import Exploration, Path

#: When to read texts that the strategy's own queries did not return: as soon as a branch has ended,
#: or as soon as its exploration has. A path whose texts are known is handed over at once.
HydrateAt = Literal["branch_end", "exploration_end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreRequest:
    """What one call explores.

    Attributes
    ----------
    input
        What the strategy starts from: all seeds of the call, its scope, tags and settings.
    started
        Time of the loop's clock at the start; seconds.
    until
        Time of the loop's clock at which everything must be delivered; seconds.
    hydrate_at
        When missing texts are read. None: never, for a caller who reads them or needs none; then
        the ``memories`` of a path are those of its beginning that the strategy's queries returned.
    """

    input: RunInput
    started: float
    until: float
    hydrate_at: HydrateAt | None = None


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
