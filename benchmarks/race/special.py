"""Measures beside the race: hubs, round trips, many recalls at once, plans.

In: a server. Out: plain values for the record. Reads only; clears the server's plan cache.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.queries import text_of
from benchmarks.race.alternatives import alternatives
from benchmarks.race.cases import Case, Question
from benchmarks.race.explorers import memoria_contenders
from benchmarks.race.load import SCOPE
from benchmarks.race.meter import Meter, wiretap
from benchmarks.race.names import MEMORIA
from benchmarks.race.race import Limits, race
from benchmarks.race.record import recorded
from benchmarks.race.serve import DATABASE, Served
from memoria._support.progress import ProgressCallback
from memoria.errors import MemoriaError
from memoria.recall.config import RetrieverConfig
from memoria.recall.seeds.config import SeedConfig
from memoria.recall.strategies import TransferEnergy
from memoria.retriever import GraphRetriever
from memoria.types import Seed

LOWER = 0.0005
CONCURRENCIES = (1, 2, 4, 8, 16, 32, 64, 100)
PLAN_RECALLS_AT_ONCE = 4
FEW = 60


async def hubs(
    served: Served, seed_score: float, limits: Limits, progress: ProgressCallback
) -> list[dict[str, Any]]:
    """Explore from each planned hub alone, with the usual threshold and a tenth of it."""
    found = []
    for hub in served.graph.hubs:
        for threshold in (TransferEnergy().min_activation, LOWER):
            strategy = TransferEnergy(min_activation=threshold)
            printed = alternatives(served, strategy, limits.contender_s)[0]
            seed = Seed(id=served.graph.ids[hub.node], score=seed_score)
            results = await race(
                [memoria_contenders(served, strategy)[0], printed],
                [Case(seeds=(seed,))] * limits.cases,
                limits=limits,
                meter=Meter(served.pid),
                progress=progress,
                label=f"hub of {hub.degree:,}",
            )
            samples = results[MEMORIA].samples
            notes = next((s.outcome.notes for s in samples if s.outcome), {})
            found.append(
                {
                    "degree": hub.degree,
                    "score": seed_score,
                    "min_activation": threshold,
                    "below_bound": seed_score / hub.degree**0.5 > threshold,
                    "nodes": notes.get("nodes"),
                    "reasons": notes.get("reasons"),
                    "contenders": {name: recorded(r) for name, r in results.items()},
                }
            )
    return found


async def trips(served: Served, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Count, for each case, what goes over the wire for each level, and before the first path."""
    retriever = GraphRetriever(served.driver, scope=SCOPE, database=DATABASE)
    config = RetrieverConfig(seeds_per_session=100)
    found = []
    for case in cases:
        stream = retriever.stream_paths(case.seeds, query_tags=case.tags, config=config)
        first_hops = first_trips = None
        with wiretap() as wire:
            async for path in stream:
                if first_hops is None:
                    first_hops, first_trips = len(path.hops), wire.records
        found.append(
            {
                "levels": max(exploration.stats.levels for exploration in stream.result),
                "level_queries": wire.sent.count("RUN strategies.level"),
                "records": wire.records,
                "queries": wire.queries,
                "messages": len(wire.sent),
                "first_hops": first_hops,
                "first_trips": first_trips,  # answers that had come when it was there
            }
        )
    return found


async def at_once(
    retriever: GraphRetriever,
    questions: Sequence[Question],
    *,
    rounds: int,
    limit_s: float,
    progress: ProgressCallback,
) -> list[dict[str, Any]]:
    """Answer the same questions with fewer and more recalls at once, which take turns.

    ``per_s`` holds the recalls per second of each round; a burst ends after ``limit_s``.
    """
    found: dict[int, dict[str, Any]] = {
        concurrency: {"concurrency": concurrency, "per_s": [], "took_ms": [], "failed": []}
        for concurrency in CONCURRENCIES
    }
    rng = np.random.default_rng(11)
    for number in range(rounds):
        for concurrency in rng.permutation(CONCURRENCIES).tolist():
            await _burst(retriever, list(questions), found[concurrency], limit_s)
        progress("recalls at once", number + 1, rounds)
    return list(found.values())


async def _burst(
    retriever: GraphRetriever, waiting: list[Question], cell: dict[str, Any], limit_s: float
) -> None:
    """Answer questions with so many recalls at once, and add to what was found."""
    started = time.perf_counter()
    took_ms: list[float] = []

    async def worker() -> None:
        while waiting and time.perf_counter() < started + limit_s:
            question = waiting.pop()
            asked = time.perf_counter()
            try:
                recall = await retriever.recall(question.text, query_tags=question.tags)
            except MemoriaError as exc:
                cell["failed"].append(type(exc).__name__)
            else:
                cell["failed"] += recall.trace.degraded
            took_ms.append(round(1_000 * (time.perf_counter() - asked), 3))

    await asyncio.gather(*(worker() for _ in range(cell["concurrency"])))
    cell["took_ms"] += took_ms
    cell["per_s"].append(round(len(took_ms) / (time.perf_counter() - started), 3))


async def plans(
    served: Served,
    retriever: GraphRetriever,
    questions: Sequence[Question],
    *,
    limit_s: float,
    progress: ProgressCallback,
) -> dict[str, Any]:
    """Count the plans in the server's cache after varied recalls, and the query texts sent.

    Once after the first few, which say how many texts there are, and once after all the others.
    A server may keep a text that is run often more than once: `RETURN 1` says how many times.
    """
    few, rest = questions[:FEW], questions[FEW:]
    await _clear_caches(served)
    for _ in range(FEW):
        await served.driver.execute_query(text_of("return_1"), database_=DATABASE)
    of_one_text = await _clear_caches(served)
    with wiretap() as wire:
        await _vary(served, retriever, few, limit_s=limit_s, progress=progress)
    first = await _clear_caches(served)
    done = await _vary(served, retriever, rest, limit_s=limit_s, progress=progress)
    return {
        "recalls": done,
        "texts": sorted({message for message in wire.sent if message.startswith("RUN ")}),
        "plans_of_one_text": of_one_text,
        "plans_of_few": first,
        "plans": await _clear_caches(served),
    }


async def _vary(
    served: Served,
    retriever: GraphRetriever,
    questions: Sequence[Question],
    *,
    limit_s: float,
    progress: ProgressCallback,
) -> int:
    """Recall with settings that change each time, for so long at most; how many there were."""
    until = time.perf_counter() + limit_s
    waiting, done = list(questions), 0

    async def worker() -> None:
        nonlocal done
        while waiting and time.perf_counter() < until:
            number = len(waiting)
            question = waiting.pop()
            await retriever.recall(
                question.text,
                query_tags=question.tags[: number % 4],
                kinds=served.graph.kinds[: 1 + number % 6] if number % 3 == 0 else None,
                config=_varied(number),
            )
            done += 1
            progress("varied recalls", done, len(questions))

    await asyncio.gather(*(worker() for _ in range(PLAN_RECALLS_AT_ONCE)))
    return done


def _varied(number: int) -> RetrieverConfig:
    """Make settings that differ from one recall to the next."""
    return RetrieverConfig(
        seeds=SeedConfig(max_seeds=1 + number % 7, candidates=10 + number % 90),
        strategy=TransferEnergy(max_depth=1 + number % 5, max_branches=1 + number % 6),
        budget_tokens=100 + number % 4_000,
    )


async def _clear_caches(served: Served) -> int:
    """Empty the cache of plans; how many there were."""
    records, _, _ = await served.driver.execute_query(
        text_of("clear_query_caches"), database_=DATABASE
    )
    numbers = re.findall(r"\d+", str(records[0][0]))
    return int(numbers[0]) if numbers else 0
