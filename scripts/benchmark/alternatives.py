"""What people write instead of memoria's exploration, on the same graph and seeds.

In: a server. Out: `Contender`s. Reads only.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any

import neo4j
from neo4j import exceptions as driver_errors

from memoria.config import ExploreConfig
from memoria.strategies.transfer import Child, LevelRow, TransferEnergy
from memoria.types import Path, Seed
from scripts.benchmark.cases import Case
from scripts.benchmark.contender import (
    Contender,
    Outcome,
    TooSlowError,
    reaches_as_much,
    same_paths,
)
from scripts.benchmark.explorers import Run
from scripts.benchmark.names import LOOP, PRINTED, VARIABLE
from scripts.benchmark.queries import text_of
from scripts.benchmark.serve import DATABASE, Served

DEPTHS = (2, 3)


def alternatives(served: Served, config: ExploreConfig, limit_s: float) -> list[Contender]:
    """Explore as others do; a run that takes longer than ``limit_s`` is ended."""
    asking = _Asking(served.driver, config, limit_s)
    return [
        Contender(name=PRINTED, run=asking.run(_printed), agrees=same_paths),
        Contender(name=LOOP, run=asking.run(_looped), agrees=same_paths),
        *(
            Contender(
                name=VARIABLE.format(depth),
                run=asking.variable_length(depth),
                agrees=reaches_as_much(depth),
            )
            for depth in DEPTHS
        ),
    ]


_Explored = tuple[TransferEnergy, list[Path]]


class _Asking:
    """Runs other people's queries, each exploration in a session and a task of its own."""

    def __init__(self, driver: neo4j.AsyncDriver, config: ExploreConfig, limit_s: float) -> None:
        self.driver = driver
        self.config = config
        self.limit_s = limit_s

    def run(self, explore: Callable[[_Asking, Seed, Case], Coroutine[Any, Any, _Explored]]) -> Run:
        """Explore from all seeds at once; the first path is there with the first exploration."""

        async def run(case: Case) -> Outcome:
            started = time.perf_counter()
            first_s = None
            found: dict[str, dict[tuple[str, ...], float]] = {}
            levels = 0
            async with self.in_time():
                tasks = [asyncio.create_task(explore(self, seed, case)) for seed in case.seeds]
                try:
                    for ended in asyncio.as_completed(tasks):
                        spread, paths = await ended
                        first_s = first_s or time.perf_counter() - started
                        found[spread.seed.id] = {path.ids: path.energy for path in paths}
                        levels = max(levels, spread.levels)
                finally:
                    await _end(tasks)
            return Outcome(found=found, first_s=first_s, levels=levels)

        return run

    def variable_length(self, depth: int) -> Run:
        """Ask for all paths of up to ``depth`` hops in one query for each seed."""

        async def explore(seed: Seed, case: Case) -> tuple[str, dict[tuple[str, ...], float]]:
            async with self.driver.session(database=DATABASE) as session:
                rows = await self.ask(
                    session,
                    f"variable_length_{depth}",
                    {"node_id": seed.id, "activation": seed.score, **self.shared(case)},
                )
            return seed.id, {(seed.id, row["neighbor_id"]): row["transfer_energy"] for row in rows}

        async def run(case: Case) -> Outcome:
            async with self.in_time():
                tasks = [asyncio.create_task(explore(seed, case)) for seed in case.seeds]
                try:
                    found = await asyncio.gather(*tasks)
                finally:
                    await _end(tasks)
            return Outcome(found=dict(found), levels=depth)

        return run

    def shared(self, case: Case) -> dict[str, Any]:
        """Parameters that are the same for every query of a case."""
        return {
            "query_tags": list(case.tags),
            "tag_sim_floor": self.config.tag_sim_floor,
            "min_threshold": self.config.min_activation,
        }

    async def ask(
        self, session: neo4j.AsyncSession, name: str, parameters: dict[str, Any]
    ) -> list[neo4j.Record]:
        """Run a query as its author would: in a managed read transaction."""

        @neo4j.unit_of_work(timeout=self.limit_s)
        async def work(transaction: neo4j.AsyncManagedTransaction) -> list[neo4j.Record]:
            result = await transaction.run(text_of(name), parameters)
            return [record async for record in result]

        return await session.execute_read(work)

    def in_time(self) -> _InTime:
        """End what takes too long, and say so."""
        return _InTime(self.limit_s)


async def _end(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel what still runs, and see every exception: the first one has been raised."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


class _InTime:
    """``async with``: a time limit on both sides."""

    def __init__(self, limit_s: float) -> None:
        self._limit = asyncio.timeout(limit_s + 1)

    async def __aenter__(self) -> None:
        await self._limit.__aenter__()

    async def __aexit__(self, kind: Any, value: Any, trace: Any) -> None:
        try:
            await self._limit.__aexit__(kind, value, trace)
        except TimeoutError as exc:
            raise TooSlowError from exc
        if isinstance(value, driver_errors.Neo4jError) and "TimedOut" in (value.code or ""):
            raise TooSlowError from value


async def _printed(asking: _Asking, seed: Seed, case: Case) -> _Explored:
    """Do as source 001 says: fetch the seed, then send one query for each level."""
    async with asking.driver.session(database=DATABASE) as session:
        await asking.ask(session, "printed_seed", {"node_id": seed.id})

        async def expand(spread: TransferEnergy) -> Iterable[tuple[str, str, float]]:
            rows = await asking.ask(
                session,
                "printed_level",
                {
                    "frontier": [
                        {"node_id": branch.id, "activation": branch.energy}
                        for branch in spread.frontier
                    ],
                    "visited_ids": spread.visited,
                    "query_tags_count": len(case.tags),
                    **asking.shared(case),
                },
            )
            return [(row["parent_id"], row["neighbor_id"], row["transfer_energy"]) for row in rows]

        return await _spread(TransferEnergy(seed, asking.config), expand)


async def _looped(asking: _Asking, seed: Seed, case: Case) -> _Explored:
    """Do what comes to mind first: send one query for each node of the frontier."""
    async with asking.driver.session(database=DATABASE) as session:

        async def expand(spread: TransferEnergy) -> Iterable[tuple[str, str, float]]:
            found = []
            for branch in spread.frontier:
                rows = await asking.ask(
                    session,
                    "one_node",
                    {
                        "node_id": branch.id,
                        "activation": branch.energy,
                        "visited_ids": spread.visited,
                        **asking.shared(case),
                    },
                )
                found += [(branch.id, row["neighbor_id"], row["transfer_energy"]) for row in rows]
            return found

        return await _spread(TransferEnergy(seed, asking.config), expand)


async def _spread(
    spread: TransferEnergy,
    expand: Callable[[TransferEnergy], Awaitable[Iterable[tuple[str, str, float]]]],
) -> _Explored:
    """Select as memoria does, from candidates (parent, neighbour, energy) of another query."""
    paths: list[Path] = []
    while spread.frontier:
        children: dict[str, list[Child]] = {branch.id: [] for branch in spread.frontier}
        for parent, neighbour, energy in await expand(spread):
            children[parent].append(_child(neighbour, energy))
        rows = {
            parent: LevelRow(degree=0, any_above=bool(found), children=tuple(found))
            for parent, found in children.items()
        }
        paths += spread.absorb(rows)
    return spread, paths


def _child(neighbour: str, energy: float) -> Child:
    """Make a candidate of which nothing but its energy is known."""
    return Child(
        id=neighbour,
        energy=energy,
        relation="",
        direction="out",
        tags=(),
        weight=0.0,
        tag_similarity=0.0,
    )
