"""Settings of the exploration: one frozen object."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from memoria._support.settings import SettingsCheck

# The strategies that have a name; `memoria.strategies` holds them.
STRATEGY_NAMES = ("transfer", "lif", "anchor", "synapse")


class AnyStrategy(Protocol):
    """What these settings know of a `memoria.strategies.Strategy`, checked where it is used."""

    @property
    def name(self) -> str:
        """What reports call it."""

    @property
    def start(self) -> Any:
        """Begin a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreConfig:
    """Settings of the exploration (source: 001, section 2).

    Depth, activation, tags, branches and round trips are those of transfer energy; another strategy
    holds its own settings.

    Attributes
    ----------
    strategy
        How energy moves: ``transfer``, ``lif``, ``anchor``, ``synapse``, or an object such as
        ``LeakyIntegrateAndFire(fire_threshold=0.4)``.
    max_depth
        Hops from a seed, at most; 1 to 20.
    min_activation
        Energy a memory must exceed to be reached; >= 0.
    tag_sim_floor
        Tag similarity of an edge that shares no tag with the query; 0 to 1.
    max_branches
        Neighbours taken per memory and level, at most; 1 to 100.
    max_weight
        Larger weights count as this; > 0.
    seeds_per_session
        Explorations that share a session and its level queries; None: 1 when streaming
        explorations, all in ``recall``.
    round_trips
        ``level``: a query a level. ``single``: one for all levels, for a database far away; the
        same result, but a deadline that ends it leaves nothing but the seeds. Neo4j 5 can't, and is
        asked level by level.
    """

    strategy: str | AnyStrategy = "transfer"
    max_depth: int = 5
    min_activation: float = 0.005
    tag_sim_floor: float = 0.15
    max_branches: int = 3
    max_weight: float = 1.0
    seeds_per_session: int | None = None
    round_trips: Literal["level", "single"] = "level"

    def __post_init__(self) -> None:
        """Check every range."""
        check = SettingsCheck(self)
        if not callable(getattr(self.strategy, "start", None)):
            check.one_of("strategy", STRATEGY_NAMES)
        check.whole("max_depth", 1, 20)
        check.within("min_activation", 0.0, math.inf)
        check.within("tag_sim_floor", 0.0, 1.0)
        check.whole("max_branches", 1, 100)
        check.positive("max_weight")
        if self.seeds_per_session is not None:
            check.whole("seeds_per_session", 1, 1_000)
        check.one_of("round_trips", ("level", "single"))
