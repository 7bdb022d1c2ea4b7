"""memoria as a contender, in each of its settings, and the floor below it: its bare queries.

In: a server. Out: `Contender`s. Reads only.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import neo4j

from benchmarks.queries import text_of
from benchmarks.race.cases import Case
from benchmarks.race.contender import Contender, Outcome, Run, TooSlowError, same_paths
from benchmarks.race.load import SCOPE
from benchmarks.race.names import BARE, EACH, MANAGED, MEMORIA, ROUND_TRIP, STREAMED
from benchmarks.race.serve import DATABASE, Served
from memoria.errors import BudgetError, DeadlineError, OverloadedError
from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import RunInput, TransferEnergy
from memoria.recall.strategies._levels import TransferExploration, level_rows
from memoria.recall.strategies.transfer import level_parameters
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.store.queries import load
from memoria.types import Exploration, Path, Seed

TOGETHER = 100  # seeds in one session: all


def memoria_contenders(served: Served, strategy: TransferEnergy) -> list[Contender]:
    """Memoria in every setting of sessions and transactions; the first one is the reference."""
    retriever = GraphRetriever(served.driver, scope=SCOPE, database=DATABASE)
    managing = GraphRetriever(
        Store(served.driver, database=DATABASE, config=StoreConfig(transactions="managed")),
        scope=SCOPE,
    )
    together = RetrieverConfig(strategy=strategy, seeds_per_session=TOGETHER)
    apart = RetrieverConfig(strategy=strategy, seeds_per_session=1)
    runs = {
        MEMORIA: _whole(retriever, together),
        EACH: _whole(retriever, apart),
        MEMORIA + MANAGED: _whole(managing, together),
        EACH + MANAGED: _whole(managing, apart),
        STREAMED: _streamed(retriever, together),
    }

    def outcome(answer: _Answer) -> Outcome:
        return _outcome(answer, strategy, served.degrees)

    return [
        *(
            Contender(name=name, run=run, outcome=outcome, agrees=same_paths)
            for name, run in runs.items()
        ),
        Contender(
            name=BARE, run=_bare(served, strategy), outcome=_outcome_of_bare, agrees=same_paths
        ),
    ]


def round_trip(served: Served) -> Contender:
    """Make the smallest query there is: what everything is stated in."""

    async def run(_case: Case) -> Outcome:
        async with served.session() as session:
            result = await session.run(text_of("return_1"))
            _ = [record async for record in result]
        return Outcome()

    return Contender(name=ROUND_TRIP, run=run)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What memoria gave back, and when the first of it was there; seconds after the start."""

    explorations: Sequence[Exploration]
    first_s: float | None


def _outcome(answer: _Answer, strategy: TransferEnergy, degree_of: Mapping[str, int]) -> Outcome:
    """Put explorations into the form in which contenders are compared."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    steps: dict[str, dict[tuple[str, int], float]] = {}
    reasons: dict[str, int] = {}
    levels = 0
    for exploration in answer.explorations:
        seed = exploration.seed.id
        found[seed] = {path.ids: path.energy for path in exploration.paths}
        steps[seed] = {
            (hop.target, place): hop.energy_out
            for path in exploration.paths
            for place, hop in enumerate(path.hops, 1)
        }
        for path in exploration.paths:
            reasons[path.end_reason] = reasons.get(path.end_reason, 0) + 1
        levels = max(levels, exploration.stats.levels)
    notes = {
        "steps": steps,
        "reasons": reasons,
        "nodes": sum(len(reached) for reached in steps.values()),
        "edges_read": _edges_read(answer.explorations, degree_of, strategy),
    }
    return Outcome(found=found, first_s=answer.first_s, levels=levels, notes=notes)


def _edges_read(
    explorations: Iterable[Exploration], degree_of: Mapping[str, int], strategy: TransferEnergy
) -> int:
    """Count the edges at all memories that were expanded."""
    found = 0
    for exploration in explorations:
        degrees = {hop.source: hop.degree for path in exploration.paths for hop in path.hops}
        for path in exploration.paths:
            degree = degree_of[path.ids[-1]]
            hopeless = path.energy <= strategy.min_activation * degree**0.5  # by a weight of 1
            if path.end_reason != "max_depth" and not hopeless:
                degrees[path.ids[-1]] = degree
        found += sum(degrees.values())
    return found


def _answered(exploration: Exploration) -> Exploration:
    """Refuse an exploration that ran into a limit: it is no answer.

    Raises
    ------
    TooSlowError
        The limit was that of time or of the server's memory.
    MemoriaError
        Something else went wrong.
    """
    if isinstance(exploration.error, BudgetError | DeadlineError | OverloadedError):
        raise TooSlowError from exploration.error
    if exploration.error is not None:
        raise exploration.error
    if exploration.status == "truncated":
        raise TooSlowError
    return exploration


def _whole(retriever: GraphRetriever, config: RetrieverConfig) -> Run:
    async def run(case: Case) -> _Answer:
        started = time.perf_counter()
        first_s = None
        done: list[Exploration] = []
        stream = retriever.explore_seeds(
            case.seeds, query_tags=case.tags, config=config, deadline_s=60
        )
        async for exploration in stream:
            first_s = first_s or time.perf_counter() - started
            done.append(_answered(exploration))
        return _Answer(done, first_s)

    return run


def _streamed(retriever: GraphRetriever, config: RetrieverConfig) -> Run:
    async def run(case: Case) -> _Answer:
        started = time.perf_counter()
        first_s = None
        stream = retriever.stream_paths(
            case.seeds, query_tags=case.tags, config=config, deadline_s=60
        )
        async for _ in stream:
            first_s = first_s or time.perf_counter() - started
        return _Answer([_answered(each) for each in stream.result], first_s)

    return run


@dataclass(frozen=True, slots=True)
class _Bare:
    """What the bare queries gave, and how long each took; seconds."""

    levels: int
    paths: Mapping[str, Sequence[Path]]
    took_s: list[float]


def _bare(served: Served, strategy: TransferEnergy) -> Run:
    """Send the same queries with nothing around them, and note how long each one takes."""
    level, texts = load("strategies.level").text, load("graph.hydrate").text

    async def run(case: Case) -> _Bare:
        took_s: list[float] = []
        read: set[str] = set()
        async with served.session() as session:

            async def ask(text: str, parameters: Mapping[str, Any]) -> neo4j.Record:
                started = time.perf_counter()
                result = await session.run(text, p=dict(parameters))
                records = [record async for record in result]
                took_s.append(time.perf_counter() - started)
                return records[0]

            async def ask_level(parameters: Mapping[str, Any]) -> Any:
                record = await ask(level, parameters)
                read.update(row[0] for row in record["memories"])
                return record["level"]

            levels, paths = await spread_by(ask_level, case, strategy)
            ids = {node for ended in paths.values() for path in ended for node in path.ids}
            if missing := sorted(ids - read):
                await ask(texts, {"ids": missing, "scope": SCOPE})
        return _Bare(levels, paths, took_s)

    return run


def _outcome_of_bare(answer: _Bare) -> Outcome:
    return Outcome(
        found={
            seed: {path.ids: path.energy for path in ended} for seed, ended in answer.paths.items()
        },
        levels=answer.levels,
        notes={"took_s": answer.took_s},
    )


async def spread_by(
    ask: Callable[[Mapping[str, Any]], Awaitable[Any]], case: Case, strategy: TransferEnergy
) -> tuple[int, dict[str, list[Path]]]:
    """Explore from all seeds of a case together, by a caller who sends the level query himself.

    Returns
    -------
    tuple
        Levels of the deepest exploration, and the paths of each seed.
    """
    run_input = RunInput(seeds=case.seeds, scope=SCOPE, query_tags=case.tags)
    spreads = [exploration(seed, strategy) for seed in case.seeds]
    paths: dict[str, list[Path]] = {seed.id: [] for seed in case.seeds}
    while active := [spread for spread in spreads if spread.frontier]:
        parameters = level_parameters(active, run_input, strategy)
        rows = level_rows(await ask(parameters), len(active))
        for spread, found in zip(active, rows, strict=True):
            paths[spread.seed.id] += spread.absorb(found)
    return max(spread.levels for spread in spreads), paths


def exploration(seed: Seed, strategy: TransferEnergy) -> TransferExploration:
    """Begin an exploration for a caller who sends its queries himself."""
    return TransferExploration(
        seed, max_depth=strategy.max_depth, max_branches=strategy.max_branches
    )
