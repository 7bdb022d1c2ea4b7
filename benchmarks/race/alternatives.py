"""What people write instead of memoria's exploration, on the same graph and seeds.

In: a server. Out: `Contender`s. Reads only.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

import neo4j
from neo4j import exceptions as driver_errors

from benchmarks.queries import text_of
from benchmarks.race.cases import Case
from benchmarks.race.contender import (
    Contender,
    Outcome,
    Run,
    TooSlowError,
    reaches_as_much,
    same_paths,
)
from benchmarks.race.explorers import exploration
from benchmarks.race.names import LOOP, PRINTED, VARIABLE
from benchmarks.race.serve import Served
from memoria.recall.strategies import TransferEnergy
from memoria.recall.strategies._levels import Child, LevelRow, TransferExploration
from memoria.types import Path, Seed

DEPTHS = (2, 3)


def alternatives(served: Served, strategy: TransferEnergy, limit_s: float) -> list[Contender]:
    """Explore as others do; a run that takes longer than ``limit_s`` is ended."""
    asking = _Asking(served, strategy, limit_s)
    return [
        Contender(name=PRINTED, run=asking.run(_printed), agrees=same_paths),
        Contender(name=LOOP, run=asking.run(_looped), agrees=same_paths),
        *(
            Contender(
                name=VARIABLE.format(depth),
                run=asking.run(_variable_length(depth)),
                agrees=reaches_as_much(depth),
            )
            for depth in DEPTHS
        ),
    ]


# The seed's id, every path with its energy, and the levels it took.
_Explored = tuple[str, dict[tuple[str, ...], float], int]
Explore = Callable[["_Asking", Seed, Case], Coroutine[Any, Any, _Explored]]


class _Asking:
    """Runs other people's queries, each exploration in a session and a task of its own."""

    def __init__(self, served: Served, strategy: TransferEnergy, limit_s: float) -> None:
        self.served = served
        self.strategy = strategy
        self.limit_s = limit_s

    def run(self, explore: Explore) -> Run:
        """Explore from all seeds at once; the first path is there with the first exploration."""

        async def run(case: Case) -> Outcome:
            started = time.perf_counter()
            first_s = None
            found: dict[str, dict[tuple[str, ...], float]] = {}
            deepest = 0
            async with _in_time(self.limit_s), asyncio.TaskGroup() as group:
                tasks = [group.create_task(explore(self, seed, case)) for seed in case.seeds]
                for ended in asyncio.as_completed(tasks):
                    seed_id, paths, levels = await ended
                    first_s = first_s or time.perf_counter() - started
                    found[seed_id] = paths
                    deepest = max(deepest, levels)
            return Outcome(found=found, first_s=first_s, levels=deepest)

        return run

    def shared(self, case: Case) -> dict[str, Any]:
        """Parameters that are the same for every query of a case."""
        return {
            "query_tags": list(case.tags),
            "tag_sim_floor": self.strategy.tag_sim_floor,
            "min_threshold": self.strategy.min_activation,
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


@asynccontextmanager
async def _in_time(limit_s: float) -> AsyncIterator[None]:
    """Limit the time on this side, and say so where the server has ended a query at its limit."""
    try:
        async with asyncio.timeout(limit_s + 1):
            yield
    except TimeoutError as exc:
        raise TooSlowError from exc
    except BaseExceptionGroup as group:
        if group.subgroup(_is_time_limit) is None:
            raise
        raise TooSlowError from group


def _is_time_limit(error: BaseException) -> bool:
    return isinstance(error, driver_errors.Neo4jError) and "TimedOut" in (error.code or "")


def _variable_length(depth: int) -> Explore:
    """Ask for all paths of up to ``depth`` hops in one query."""

    async def explore(asking: _Asking, seed: Seed, case: Case) -> _Explored:
        async with asking.served.session() as session:
            rows = await asking.ask(
                session,
                f"variable_length_{depth}",
                {"node_id": seed.id, "activation": seed.score, **asking.shared(case)},
            )
        paths: dict[tuple[str, ...], float] = {
            (seed.id, row["neighbor_id"]): row["transfer_energy"] for row in rows
        }
        return seed.id, paths, depth

    return explore


async def _printed(asking: _Asking, seed: Seed, case: Case) -> _Explored:
    """Fetch the seed, then send one query without pruning for each level."""
    async with asking.served.session() as session:
        await asking.ask(session, "printed_seed", {"node_id": seed.id})

        async def expand(spread: TransferExploration) -> Iterable[tuple[str, str, float]]:
            rows = await asking.ask(
                session,
                "printed_level",
                {
                    "frontier": [
                        {"node_id": branch.id, "activation": branch.energy}
                        for branch in spread.frontier
                    ],
                    "visited_ids": list(spread.visited),
                    "query_tags_count": len(case.tags),
                    **asking.shared(case),
                },
            )
            return [(row["parent_id"], row["neighbor_id"], row["transfer_energy"]) for row in rows]

        return await _spread(exploration(seed, asking.strategy), expand)


async def _looped(asking: _Asking, seed: Seed, case: Case) -> _Explored:
    """Do what comes to mind first: send one query for each node of the frontier."""
    async with asking.served.session() as session:

        async def expand(spread: TransferExploration) -> Iterable[tuple[str, str, float]]:
            found = []
            for branch in spread.frontier:
                rows = await asking.ask(
                    session,
                    "one_node",
                    {
                        "node_id": branch.id,
                        "activation": branch.energy,
                        "visited_ids": list(spread.visited),
                        **asking.shared(case),
                    },
                )
                found += [(branch.id, row["neighbor_id"], row["transfer_energy"]) for row in rows]
            return found

        return await _spread(exploration(seed, asking.strategy), expand)


async def _spread(
    spread: TransferExploration,
    expand: Callable[[TransferExploration], Awaitable[Iterable[tuple[str, str, float]]]],
) -> _Explored:
    """Select as memoria does, from candidates (parent, neighbour, energy) of another query."""
    paths: list[Path] = []
    while spread.frontier:
        children: dict[str, list[Child]] = {branch.id: [] for branch in spread.frontier}
        for parent, neighbour, energy in await expand(spread):
            children[parent].append(_child(neighbour, energy))
        rows = {
            parent: LevelRow(degree=0, any_above=bool(found), children=found)
            for parent, found in children.items()
        }
        paths += spread.absorb(rows)
    return spread.seed.id, {path.ids: path.energy for path in paths}, spread.levels


def _child(neighbour: str, energy: float) -> Child:
    """Make a candidate of which nothing but its energy is known."""
    return Child(
        id=neighbour,
        negative_energy=-energy,
        relation="",
        direction="out",
        tags=(),
        weight=0.0,
        tag_similarity=0.0,
    )
