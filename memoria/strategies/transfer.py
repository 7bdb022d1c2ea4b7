"""Transfer energy: the strongest branches of each memory, level by level (source: 001).

In: seeds, then the rows of one query after the other. Out: the paths that ended.
Touches nothing: the caller runs the query. Queries: ``strategies.level``; with
``round_trips="single"`` ``strategies.levels`` before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from memoria.seeds.config import SeedConfig
from memoria.store.queries import load
from memoria.strategies._levels import TransferExploration, level_parameters, level_rows
from memoria.strategies.base import Outcome, RunInput, Step, StrategyRun
from memoria.types import Path

# What the query of all levels may leave to Python: children of one parent beyond its branches,
# which it loses to stronger parents, and candidates of one exploration and level.
_SPARE_CHILDREN = 8
_MOST_CANDIDATES = 1_000


@dataclass(frozen=True, slots=True)
class TransferEnergy:
    """Energy that falls with weight, degree and tag similarity; `ExploreConfig` has its settings.

    Each seed is explored for itself; explorations of one session share their level queries.
    """

    name: ClassVar[str] = "transfer"
    together: ClassVar[bool] = False
    seeds: ClassVar[SeedConfig | None] = None

    def start(self, run_input: RunInput) -> TransferRun:
        """Begin one exploration for each seed."""
        explorations = [TransferExploration(seed, run_input.config) for seed in run_input.seeds]
        single = run_input.config.round_trips == "single"
        return (SingleTripRun if single else TransferRun)(run_input, explorations)


class TransferRun:
    """Explorations that share their level queries."""

    def __init__(self, run_input: RunInput, explorations: Sequence[TransferExploration]) -> None:
        self._input = run_input
        self._explorations = {one.seed.id: one for one in explorations}

    def ask(self) -> Step | None:
        """Ask for one hop from every branch."""
        active, run_input = self._active(), self._input
        if not active:
            return None
        parameters = level_parameters(
            active, scope=run_input.scope, query_tags=run_input.query_tags, config=run_input.config
        )
        return Step(query=load("strategies.level"), parameters=parameters)

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
        return {one.seed.id: TransferRun(self._input, [one]) for one in explorations}


class SingleTripRun(TransferRun):
    """Explorations that ask for all their levels at once, and check what they are told.

    The query foresees what each exploration chooses. An exploration chooses for itself, and takes a
    level only where it stands on the frontier that was expanded and the children that were left
    out change nothing: that keeps it exact. From the first level that it can't take, it goes on
    level by level, and so it does where the query fails.
    """

    def __init__(self, run_input: RunInput, explorations: Sequence[TransferExploration]) -> None:
        super().__init__(run_input, explorations)
        self._has_asked = False
        self._cap = run_input.config.max_branches + _SPARE_CHILDREN

    def ask(self) -> Step | None:
        """Ask for all hops of every branch; after that for what is missing."""
        step = super().ask()
        if self._has_asked or step is None:
            return step
        config = self._input.config
        query = load("strategies.levels")
        parameters = {
            **step.parameters,
            "cap": self._cap,
            "levels": config.max_depth,
            "max_branches": config.max_branches,
            "most": _MOST_CANDIDATES,
        }
        return Step(query=query, parameters={name: parameters[name] for name in query.params})

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
