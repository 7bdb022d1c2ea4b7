"""A connection that takes its time: what a server far away would be like.

In: a server. Out: the same, behind a proxy on the loopback that holds back what it passes on.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from benchmarks.faults.proxy import FaultProxy
from benchmarks.race.cases import Question
from benchmarks.race.contender import DisagreementError
from benchmarks.race.explorers import round_trip
from benchmarks.race.load import SCOPE
from benchmarks.race.recalls import make_retriever
from benchmarks.race.serve import DATABASE, Served
from benchmarks.report.figures import percentile, ratio
from memoria._support.progress import ProgressCallback
from memoria.recall.config import RetrieverConfig
from memoria.recall.strategies import TransferEnergy
from memoria.retriever import GraphRetriever
from memoria.store import open_driver
from memoria.store.config import StoreConfig

DELAYS_MS = (0, 1, 5, 20)
SINGLE = RetrieverConfig(strategy=TransferEnergy(round_trips="single"))


@asynccontextmanager
async def delayed(served: Served, delay_s: float) -> AsyncIterator[Served]:
    """Add a delay to each round trip: half of it on the way there, half on the way back."""
    config = StoreConfig(query_timeout_s=600, max_sessions=50)
    with FaultProxy(served.target) as proxy:
        proxy.delay_s = delay_s / 2
        async with open_driver(proxy.target, config) as driver:
            yield replace(served, driver=driver, target=proxy.target)


async def recalls_over_delays(
    served: Served, questions: Sequence[Question], progress: ProgressCallback
) -> list[dict[str, Any]]:
    """Time bare round trips and whole recalls over connections that take their time.

    Raises
    ------
    DisagreementError
        Levels asked for one by one and at once gave different paths.
    """
    found = []
    for number, delay_ms in enumerate(DELAYS_MS):
        async with delayed(served, delay_ms / 1_000) as slow:
            embedder = make_retriever(served, questions).embedder
            retriever = GraphRetriever(
                slow.driver, scope=SCOPE, database=DATABASE, embedder=embedder
            )
            trip = round_trip(slow)
            times = _Times()
            for question in questions:
                started = time.perf_counter()
                await trip.run(question)
                times.bare_ms.append(1_000 * (time.perf_counter() - started))
                await times.take(retriever, question)
        found.append({"delay_ms": delay_ms, **times.report()})
        progress("delays", number + 1, len(DELAYS_MS))
    return found


class _Times:
    """Times over one connection; ms."""

    def __init__(self) -> None:
        self.bare_ms: list[float] = []
        self._level_ms: list[float] = []
        self._single_ms: list[float] = []
        self._trips: list[int] = []

    async def take(self, retriever: GraphRetriever, question: Question) -> None:
        """Recall both ways, which take turns in going first."""
        level, single = RetrieverConfig(), SINGLE
        ways = [(level, self._level_ms), (single, self._single_ms)]
        answers = []
        for config, took_ms in ways if len(self._trips) % 2 else ways[::-1]:
            started = time.perf_counter()
            recall = await retriever.recall(
                question.text, query_tags=question.tags, deadline_s=60, config=config
            )
            took_ms.append(1_000 * (time.perf_counter() - started))
            answers.append([each.paths for each in recall.explorations])
        if answers[0] != answers[1]:
            raise DisagreementError("levels one by one / at once: results differ")
        self._trips.append(max((each.stats.levels for each in recall.explorations), default=0) + 2)

    def report(self) -> dict[str, Any]:
        """Return medians."""
        return {
            "round_trip_ms": percentile(self.bare_ms, 50),
            "recall_ms": percentile(self._level_ms, 50),
            "single_ms": percentile(self._single_ms, 50),
            "ratio": str(ratio(self._single_ms, self._level_ms)),
            "trips": percentile(self._trips, 50),
        }
