"""Ways to be faster, each against the way that memoria goes: what is kept, and what is not.

In: graphs, and how much to ask. Out: a record for `lever_report`. Starts servers of its own.

Both sides of a lever are asked in turns, the same questions, and their answers are compared.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memoria._support.progress import ProgressCallback
from scripts.benchmark.cases import make_questions
from scripts.benchmark.client_levers import measure_clients, measure_turns, measure_warm_up
from scripts.benchmark.contender import DisagreementError
from scripts.benchmark.delay import recalls_over_delays
from scripts.benchmark.embed_levers import embed_levers
from scripts.benchmark.figures import Measured, measured
from scripts.benchmark.graphs import Graph, power_law
from scripts.benchmark.hub_levers import (
    beside_hub_lever,
    hub_levers,
    hub_profile,
    layout_levers,
)
from scripts.benchmark.ingest_levers import ingest_rates, make_load
from scripts.benchmark.lever_queries import WARM_UP, Asked, Lever, query_levers
from scripts.benchmark.reading_levers import reading_levers, recall_profiles
from scripts.benchmark.seed_levers import vector_searches
from scripts.benchmark.serve import Memory, serve

# The older record format, deprecated by Neo4j; memoria runs on the default one.
STANDARD = {"db.format": "standard"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is measured.

    Attributes
    ----------
    whole, hubs, ingest
        Graphs for whole recalls, with hubs, and the edges of what is written again and again.
    count
        Questions of each lever.
    ingest_s
        Time for writing; seconds.
    """

    whole: Graph
    hubs: Graph
    ingest: int
    count: int
    ingest_s: float


async def pull(lever: Lever, progress: ProgressCallback) -> Measured:
    """Ask both sides in turns.

    Raises
    ------
    DisagreementError
        Their answers differ.
    """
    took: dict[str, list[float]] = {"ours": [], "other": []}
    for number, case in enumerate(lever.cases):
        answers = []
        sides = [("ours", lever.ours), ("other", lever.other)]
        for name, run in sides if number % 2 else sides[::-1]:
            started = time.perf_counter()
            answers.append(await run(case))
            if number >= lever.warm_up:
                took[name].append(1_000 * (time.perf_counter() - started))
        if answers[0] != answers[1]:
            raise DisagreementError(f"{lever.kept} / {lever.against}: results differ")
        progress(lever.kept, number + 1, len(lever.cases))
    return measured(lever.kept, lever.against, took["ours"], took["other"])


async def measure_levers(size: Size, folder: Path, progress: ProgressCallback) -> dict[str, Any]:
    """Pull every lever."""
    async with serve(size.whole, folder / "whole", Memory(), progress) as served:
        questions = make_questions(served.graph, size.count + WARM_UP)
        async with served.session() as session:
            ask = Asked(session)
            levers = await reading_levers(served, ask, questions)
            levers += await query_levers(served, ask, questions)
            levers += await embed_levers(served, questions)
            found = [await pull(lever, progress) for lever in levers]
        found += await measure_clients(served)
        found += await measure_warm_up(served, questions)
        found += await measure_turns(served, questions)
        delays = await recalls_over_delays(served, questions[: size.count // 2], progress)
        profiles = await recall_profiles(served, questions[:WARM_UP])
        searches = await vector_searches(served, questions, folder / "whole", progress)
    async with (
        serve(size.hubs, folder / "hubs", Memory(), progress) as served,
        serve(size.hubs, folder / "scattered", Memory(), progress, arrange=False) as scattered,
        served.session() as session,
        scattered.session() as other,
    ):
        for hub in served.graph.hubs[:2]:
            ask, seed = Asked(session), served.graph.ids[hub.node]
            levers = hub_levers(ask, Asked(other), seed, hub.degree)
            found += [await pull(lever, progress) for lever in levers]
            profiles.append(await hub_profile(session, seed, hub.degree))
        found.append(await pull(beside_hub_lever(served, served.graph.hubs[-1]), progress))
    tiny = power_law(1_000)
    async with serve(tiny, folder / "ingest", Memory(), progress) as served:
        rates = await ingest_rates(served, make_load(size.ingest), size.ingest_s, progress)
    async with (
        serve(tiny, folder / "aligned", Memory(), progress) as served,
        serve(tiny, folder / "standard", Memory(), progress, settings=STANDARD) as standard,
        served.session() as session,
        standard.session() as other,
    ):
        levers = await layout_levers(served, Asked(session), standard, Asked(other))
        found += [await pull(lever, progress) for lever in levers]
    return {
        "levers": [
            {
                "kept": each.kept,
                "against": each.against,
                "ours_ms": each.ours_ms,
                "other_ms": each.other_ms,
                "ratio": str(each.times),
                "each_ms": [each.each_ours_ms, each.each_other_ms],
            }
            for each in found
        ],
        "profiles": profiles,
        "searches": searches,
        "ingest": rates,
        "delays": delays,
    }
