"""Measure one graph: load it, let the contenders race, count what can't be counted while racing.

In: a part of the plan. Out: plain values for the record. Starts and stops a server.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.race import special
from benchmarks.race.alternatives import alternatives
from benchmarks.race.cases import make_cases, make_questions
from benchmarks.race.contender import Contender
from benchmarks.race.explorers import memoria_contenders, round_trip
from benchmarks.race.meter import Meter, peak_mb
from benchmarks.race.pagerank import load_pagerank
from benchmarks.race.plan import Part, Plan
from benchmarks.race.profiles import client_profile, server_profile
from benchmarks.race.race import race
from benchmarks.race.recalls import graphrag_recalls, make_retriever, memoria_recalls
from benchmarks.race.record import recorded
from benchmarks.race.serve import Served, serve
from memoria._support.progress import ProgressCallback
from memoria.recall.strategies import TransferEnergy

MEASURED = "cases"


async def measure(
    part: Part, plan: Plan, folder: Path, progress: ProgressCallback
) -> dict[str, Any]:
    """Do everything there is to do on one graph."""
    graph = part.make()
    async with serve(graph, folder, plan.memory, progress) as served:
        found: dict[str, Any] = {"name": graph.name, "family": part.family, "load": served.load}
        work = _recalls if part.family == "recall" else _explorations
        found |= await work(served, part, plan, progress)
        found["server_mb"] = peak_mb(served.pid)
    return found


async def _explorations(
    served: Served, part: Part, plan: Plan, progress: ProgressCallback
) -> dict[str, Any]:
    strategy = TransferEnergy()
    cases = make_cases(served.graph, plan.race.cases + plan.race.warm_up)
    contenders: list[Contender] = [
        *memoria_contenders(served, strategy),
        *alternatives(served, strategy, plan.query_s),
        round_trip(served),
    ]
    found: dict[str, Any] = {}
    if len(served.graph.source) <= plan.pagerank_edges:
        loaded = await load_pagerank(served, progress)
        contenders.append(loaded.contender)
        found["pagerank"] = {"load_s": loaded.load_s, "memory_mb": loaded.memory_mb}
    results = await race(
        contenders,
        cases,
        limits=plan.race,
        meter=Meter(served.pid),
        progress=progress,
        label=MEASURED,
    )
    found["contenders"] = {name: recorded(result) for name, result in results.items()}
    found["client"] = await client_profile(contenders[0], cases, plan.profile_s)
    found["server"] = await server_profile(served, cases[: plan.trips], strategy)
    found["trips"] = await special.trips(served, cases[: plan.trips])
    found["hubs"] = await special.hubs(served, part.hub_score, plan.hubs, progress)
    return found


async def _recalls(
    served: Served, _part: Part, plan: Plan, progress: ProgressCallback
) -> dict[str, Any]:
    questions = make_questions(served.graph, max(plan.race.cases, plan.recalls, plan.varied))
    retriever = make_retriever(served, questions)
    ours = memoria_recalls(retriever)
    async with graphrag_recalls(served) as others:
        results = await race(
            [*ours, *others, round_trip(served)],
            questions,
            limits=plan.race,
            meter=Meter(served.pid),
            progress=progress,
            label=MEASURED,
        )
    client = await client_profile(ours[0], questions, plan.profile_s)
    cases = make_cases(served.graph, plan.trips)
    server = await server_profile(served, cases, TransferEnergy())
    at_once = await special.at_once(
        retriever,
        questions[: plan.recalls],
        rounds=plan.at_once_rounds,
        limit_s=plan.at_once_s,
        progress=progress,
    )
    plans = await special.plans(
        served, retriever, questions[: plan.varied], limit_s=plan.varied_s, progress=progress
    )
    return {
        "contenders": {name: recorded(result) for name, result in results.items()},
        "client": client,
        "server": server,
        "at_once": at_once,
        "plans": plans,
    }
