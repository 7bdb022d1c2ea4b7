"""Transfer energy: the strongest branches of each memory, level by level (source: 001).

In: seeds, then the rows of one query after the other. Out: the paths that ended.
Touches nothing: the caller runs the query. Queries: ``strategies.level``; with
``round_trips="single"`` ``strategies.levels`` before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from memoria._support.settings_check import SettingsCheck
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies._levels import TransferExploration, level_rows
from memoria.recall.strategies.base import Outcome, RunInput, Step, StrategyRun
from memoria.types import Path

# What the query of all levels may leave to Python: children of one parent beyond its branches,
# which it loses to stronger parents, and candidates of one exploration and level.
_SPARE_CHILDREN = 8
_MOST_CANDIDATES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferEnergy:
    """Energy falls with weight, degree and tag similarity; the strongest branches go on.

    Each seed is explored for itself; explorations of one session share their level queries.

    Attributes
    ----------
    max_depth
        Greatest number of hops from a seed; 1 to 20.
    min_activation
        A memory is reached only with more energy than this; >= 0.
    tag_sim_floor
        Tag similarity of an edge that shares no tag with the query; 0 to 1.
    max_branches
        Greatest number of neighbours to which a memory passes energy; 1 to 100.
    seed_branches
        The same for a seed, 1 to 100; None for ``max_branches``, and in a recall for 20 if the
        question names a type of edges (see ``docs/your-graph.md``).
    round_trips
        ``level``: one query for each level. ``single``: one query for all levels, for a database
        that is far away. The result is the same, but if the deadline ends that query, only the
        seeds are left. Neo4j 5 can't run it and is asked level by level.
    """

    name: ClassVar[str] = "transfer"
    together: ClassVar[bool] = False
    seeds: ClassVar[SeedConfig | None] = None

    max_depth: int = 5
    min_activation: float = 0.005
    tag_sim_floor: float = 0.15
    max_branches: int = 3
    seed_branches: int | None = None
    round_trips: Literal["level", "single"] = "level"

    def __post_init__(self) -> None:
        check = SettingsCheck(self)
        check.whole("max_depth", 1, 20)
        check.within("min_activation", 0.0, math.inf)
        check.within("tag_sim_floor", 0.0, 1.0)
        check.whole("max_branches", 1, 100)
        if self.seed_branches is not None:
            check.whole("seed_branches", 1, 100)
        check.one_of("round_trips", ("level", "single"))

    def start(self, run_input: RunInput) -> TransferRun:
        """Begin one exploration for each seed."""
        explorations = [
            TransferExploration(
                seed,
                max_depth=self.max_depth,
                max_branches=self.max_branches,
                seed_branches=self.seed_branches,
            )
            for seed in run_input.seeds
        ]
        # The query of all levels has one number of branches for all of them.
        is_single = self.round_trips == "single" and self.seed_branches is None
        return (SingleTripRun if is_single else TransferRun)(run_input, self, explorations)


class TransferRun:
    """Explorations that share their level queries."""

    def __init__(
        self,
        run_input: RunInput,
        settings: TransferEnergy,
        explorations: Sequence[TransferExploration],
    ) -> None:
        self._input = run_input
        self._settings = settings
        self._explorations = {one.seed.id: one for one in explorations}

    def ask(self) -> Step | None:
        """Ask for one hop from every branch."""
        active = self._active()
        if not active:
            return None
        parameters = level_parameters(active, self._input, self._settings)
        return Step(query="strategies.level", parameters=parameters)

    def absorb(self, record: Mapping[str, Any]) -> list[Path]:
        """Take one level; return the paths that ended with it."""
        active = self._active()
        rows = level_rows(record["level"], len(active))
        return [
            path
            for exploration, found in zip(active, rows, strict=True)
            for path in exploration.absorb(found)
        ]

    def cut(self) -> list[Path]:
        """End every branch where it stands."""
        return [path for exploration in self._active() for path in exploration.cut()]

    def parts(self) -> dict[str, StrategyRun]:
        """Let every exploration that is not over go on alone, if there are several."""
        active = self._active()
        return self._alone(active) if len(active) > 1 else {}

    def outcome(self, seed_id: str) -> Outcome:
        """Say how far an exploration has come."""
        one = self._explorations[seed_id]
        return Outcome(
            found=one.found,
            over=not one.frontier,
            steps=one.levels,
            nodes=len(one.visited) if one.found else 0,
        )

    def _active(self) -> list[TransferExploration]:
        return [one for one in self._explorations.values() if one.frontier]

    def _alone(self, explorations: Sequence[TransferExploration]) -> dict[str, StrategyRun]:
        return {
            one.seed.id: TransferRun(self._input, self._settings, [one]) for one in explorations
        }


class SingleTripRun(TransferRun):
    """Explorations that ask for all their levels at once, and check what they are told.

    The query foresees what each exploration chooses. An exploration chooses for itself, and takes a
    level only where it is based on the frontier that was expanded and the children that were left
    out change nothing: that keeps it exact. From the first level that it can't take, it continues
    level by level, and so it does where the query fails.
    """

    _has_asked = False

    @property
    def _cap(self) -> int:
        return self._settings.max_branches + _SPARE_CHILDREN

    def ask(self) -> Step | None:
        """Ask for all hops of every branch; after that for what is missing."""
        step = super().ask()
        if self._has_asked or step is None:
            return step
        parameters = {
            **step.parameters,
            "cap": self._cap,
            "levels": self._settings.max_depth,
            "max_branches": self._settings.max_branches,
            "most": _MOST_CANDIDATES,
        }
        del parameters["visited"]  # the query itself keeps track of what it reaches
        return Step(query="strategies.levels", parameters=parameters)

    def absorb(self, record: Mapping[str, Any]) -> list[Path]:
        """Take every level that an exploration would have asked for; return the ended paths."""
        if self._has_asked:
            return super().absorb(record)
        self._has_asked = True
        active = self._active()
        going = dict(enumerate(active))
        ended: list[Path] = []
        for frontier, level in record["levels"]:
            rows = level_rows(level, len(active))
            for index, exploration in [*going.items()]:
                assumed = [(id_, energy) for owner, id_, energy, *_ in frontier if owner == index]
                if (
                    exploration.frontier
                    and exploration.stands_on(assumed)
                    and exploration.can_choose(rows[index], self._cap)
                ):
                    ended += exploration.absorb(rows[index])
                else:
                    del going[index]
        return ended

    def parts(self) -> dict[str, StrategyRun]:
        """Let every exploration go on alone, level by level, where all levels at once failed."""
        return super().parts() if self._has_asked else self._alone(self._active())


def level_parameters(
    explorations: Sequence[TransferExploration],
    run_input: RunInput,
    settings: TransferEnergy,
) -> dict[str, Any]:
    """Build the parameters of ``strategies.level`` for explorations that share it.

    ``cap`` follows the largest frontier: before a taken candidate of a parent stand at most
    ``branches - 1`` taken by itself and ``branches * (F - 1)`` claimed by the others.
    A memory that several explorations stand on is wanted once.
    """
    branches = [
        (index, branch)
        for index, exploration in enumerate(explorations)
        for branch in exploration.frontier
    ]
    first = {branch.id: index for index, branch in reversed(branches)}
    most = max(len(exploration.frontier) * exploration.branches for exploration in explorations)
    return {
        "cap": most,
        "frontier": [
            [index, branch.id, branch.energy, first[branch.id] == index]
            for index, branch in branches
        ],
        "held": run_input.validity.held,
        "max_weight": float(run_input.max_weight),
        "min_activation": float(settings.min_activation),
        "query_tags": list(run_input.query_tags),
        "scope": run_input.scope,
        "tag_sim_floor": float(settings.tag_sim_floor),
        "visited": [exploration.visited for exploration in explorations],
    }
