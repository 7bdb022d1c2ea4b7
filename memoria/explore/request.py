"""What one call explores, and who takes the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Literal

from memoria.graph.memories import Memories
from memoria.strategies.config import ExploreConfig
from memoria.types import Exploration, Path, Seed

# When texts are read that no step of the strategy brings: as soon as a branch has ended, an
# exploration has, or all of a group have. A path whose texts are there never waits.
HydrateAt = Literal["branch_end", "exploration_end", "group_end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreRequest:
    """What one call explores.

    Attributes
    ----------
    seeds
        Where to start; distinct ids.
    scope
        Scope that no path leaves.
    query_tags
        Distinct tags of the query.
    config
        Settings; ``seeds_per_session`` set.
    started
        Time of the loop's clock at the start; seconds.
    until
        Time of the loop's clock at which everything must be delivered; seconds.
    hydrate_at
        When texts are read.
    memories
        Makes the `Memories` that one session's explorations share, those included that later go
        on alone.
    vector
        Embedding of the query, for strategies that compare with it; None where there is none.
    now
        The present, for strategies to which ages matter; aware.
    """

    seeds: tuple[Seed, ...]
    scope: str
    query_tags: tuple[str, ...]
    config: ExploreConfig
    started: float
    until: float
    hydrate_at: HydrateAt
    memories: Callable[[], Memories]
    vector: tuple[float, ...] | None = None
    now: datetime = field(default_factory=partial(datetime.now, UTC))


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
