"""The run of one seed: its ended branches, and the paths that were handed over.

In: ended branches and their memories. Out: `Path`s, and the `Exploration`. Touches nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from memoria.errors import MemoriaError
from memoria.recall.strategies import Outcome, StrategyRun
from memoria.types import Exploration, ExplorationStats, MemoryNode, Path, Seed, Status, path_order

# A timer may fire early by as much as this; seconds.
TIMER_SLACK_S = 0.001


class SeedRun:
    """The exploration of one seed in progress: its part of a run, and its ended branches."""

    def __init__(self, seed: Seed, strategy_run: StrategyRun) -> None:
        self.seed = seed
        self.strategy_run = strategy_run  # the seeds of a group share it
        self.ended: list[Ended] = []
        self.paths: dict[tuple[str, ...], Path] = {}
        self.cut = False
        self.reported = False
        self.error: MemoriaError | None = None
        self.hydrate_s = 0.0

    @property
    def outcome(self) -> Outcome:
        """How far the exploration has come."""
        return self.strategy_run.outcome(self.seed.id)

    @property
    def over(self) -> bool:
        """Whether all branches have ended."""
        return self.outcome.over

    def report(self, started: float) -> Exploration:
        """Return the exploration as it stands now."""
        outcome = self.outcome
        status: Status = "truncated" if self.cut else "complete"
        if self.error is not None:
            status = "failed"
        elif outcome.found is False:
            status = "seed_not_found"
        now = asyncio.get_running_loop().time()
        return Exploration(
            seed=self.seed,
            status=status,
            paths=tuple(sorted(self.paths.values(), key=path_order)),
            error=self.error,
            stats=ExplorationStats(
                levels=outcome.steps,
                nodes=outcome.nodes,
                elapsed_s=now - started,
                hydrate_s=self.hydrate_s,
            ),
            activations=outcome.activations,
        )


class Ended(NamedTuple):
    """A branch that has ended and was not handed over yet; ``ids`` are the ids of its path."""

    run: SeedRun
    path: Path
    ids: tuple[str, ...]


def with_texts(path: Path, known: Mapping[str, MemoryNode]) -> Path | None:
    """Give a path its memories; every memory that still exists must be known.

    If a memory was deleted before it was read, the path ends before that memory. None if the seed
    itself was deleted.
    """
    memories = texts_of(path, known)
    if len(memories) == len(path.ids):
        return replace(path, memories=memories)
    if not memories:
        return None
    hops = path.hops[: len(memories) - 1]
    energy = hops[-1].energy_out if hops else path.start
    return replace(path, hops=hops, memories=memories, end_reason="truncated", energy=energy)


def texts_of(path: Path, known: Mapping[str, MemoryNode]) -> tuple[MemoryNode, ...]:
    """Return the memories of a path up to the first one that is not known."""
    return tuple(known[node] for node in takewhile(known.__contains__, path.ids))
