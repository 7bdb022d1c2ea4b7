"""What becomes of a hub: what its first level reads, and how its edges are stored.

In: a server. Out: `Lever`s. `layout_levers` writes scopes of its own; the others only read.
"""

from __future__ import annotations

from typing import Any

import neo4j
import numpy as np

from memoria.store.queries import load
from memoria.strategies._levels import TransferExploration, level_parameters
from memoria.strategies.config import ExploreConfig
from memoria.types import Seed
from scripts.benchmark.alternatives import alternatives
from scripts.benchmark.cases import SEEDS, Case
from scripts.benchmark.explorers import memoria_contenders
from scripts.benchmark.graphs import Hub
from scripts.benchmark.lever_queries import WARM_UP, Asked, Lever, Parameters, Run, changed
from scripts.benchmark.load import SCOPE
from scripts.benchmark.profiles import Profiler
from scripts.benchmark.queries import text_of
from scripts.benchmark.serve import DATABASE, Served

CASES = WARM_UP + 40
BESIDE_CASES, BESIDE_WARM_UP, BESIDE_S = 13, 3, 60.0

HUB = "hub"
DEGREE = 25_000
BATCH = 5_000
STRONGEST = 64

WEIGHT_FIRST, WEIGHT_LAST = "weight-first", "weight-last"
_ALL_EDGES = "  MATCH (current)-[r:RELATES]-(neighbour)\n"
_LISTED = """\
  UNWIND current.strongest AS listed
  MATCH (start)-[r:RELATES]->(end)
  WHERE elementId(r) = listed
  WITH *, CASE WHEN start = current THEN end ELSE start END AS neighbour
"""


def hub_levers(ask: Asked, scattered: Asked, hub: str, degree: int) -> list[Lever]:
    """Go the first level from a hub; ``scattered`` asks a server with the same graph.

    Its edges were imported there in the order in which they were made.
    """
    level = load("strategies.level").text
    all_tags = changed(level, "  WHERE coalesce(r.weight, 0.01) >= least\n", "")
    ours, config = first_level(ask, SCOPE, hub), ExploreConfig()
    facts = {**first_parameters(SCOPE, hub), "least": config.min_activation * degree**0.5}

    async def silent(case: Any) -> None:
        await ours(case)

    async def least(_: Any) -> None:
        await ask(text_of("least_of_hub"), facts)

    return [
        Lever(kept=kept, against=against, cases=[None] * CASES, ours=mine, other=other)
        for kept, against, mine, other in (
            (
                f"the weight alone decides before tags are read, hub of {degree:,} edges",
                "tags of all edges are read",
                ours,
                first_level(ask, SCOPE, hub, all_tags),
            ),
            (
                f"the first level from a hub of {degree:,} edges",
                "the floor: its edges counted by their weight, nothing else read",
                silent,
                least,
            ),
            (
                f"edges imported by the busier of their ends, hub of {degree:,} edges",
                "in the order in which they were made",
                ours,
                first_level(scattered, SCOPE, hub),
            ),
        )
    ]


async def hub_profile(session: neo4j.AsyncSession, hub: str, degree: int) -> dict[str, Any]:
    """Profile the first level from a hub: ``query``, and ``operators`` as of `Profiler`."""
    profiler = Profiler(session)
    await profiler(load("strategies.level").text, first_parameters(SCOPE, hub))
    query = f"`strategies.level`, the first from a hub of {degree:,} edges"
    return {"query": query, "operators": profiler.operators()}


def beside_hub_lever(served: Served, hub: Hub) -> Lever:
    """Explore from five seeds that are joined to a hub, by memoria and as source 001 prints it."""
    graph, config = served.graph, ExploreConfig(seeds_per_session=SEEDS)
    joined = np.concatenate(
        [graph.target[graph.source == hub.node], graph.source[graph.target == hub.node]]
    )
    rng = np.random.default_rng(13)
    cases = [
        Case(
            seeds=tuple(
                Seed(id=graph.ids[node], score=1.0 - place / 10)
                for place, node in enumerate(rng.choice(joined, SEEDS, replace=False))
            )
        )
        for _ in range(BESIDE_CASES)
    ]
    memoria, printed = (
        memoria_contenders(served, config)[0],
        alternatives(served, config, BESIDE_S)[0],
    )

    async def ours(case: Case) -> Any:
        return memoria.outcome(await memoria.run(case)).found

    async def other(case: Case) -> Any:
        return (await printed.run(case)).found

    return Lever(
        kept=f"explorations from five memories joined to a hub of {hub.degree:,} edges",
        against="the query as source 001 prints it",
        cases=cases,
        ours=ours,
        other=other,
        warm_up=BESIDE_WARM_UP,
    )


async def layout_levers(
    served: Served, ask: Asked, standard: Served, ask_standard: Asked
) -> list[Lever]:
    """Go the first level from a hub, whose edges are stored in one way or another.

    ``standard`` stores everything in the older record format. Both have just started, so their
    lever comes first.
    """
    for each in (served, standard):
        await _write_star(each, WEIGHT_FIRST, weight_first=True)
        await _write_star(each, WEIGHT_LAST, weight_first=False)
    await served.driver.execute_query(
        text_of("star_list"), scope=WEIGHT_LAST, hub=HUB, size=STRONGEST, database_=DATABASE
    )
    ours = first_level(ask, WEIGHT_LAST, HUB)
    listed = changed(load("strategies.level").text, _ALL_EDGES, _LISTED)
    return [
        Lever(kept=kept, against=against, cases=[None] * CASES, ours=ours, other=by)
        for kept, against, by in (
            (
                f"record format `aligned`, the server's default, hub of {DEGREE:,} edges",
                "`standard`",
                first_level(ask_standard, WEIGHT_LAST, HUB),
            ),
            (
                f"the weight stored after an edge's other properties, hub of {DEGREE:,} edges",
                "the weight stored first",
                first_level(ask, WEIGHT_FIRST, HUB),
            ),
            (
                f"all edges of a hub read, hub of {DEGREE:,} edges",
                f"the {STRONGEST} strongest, by a list on the hub that nothing keeps true",
                first_level(ask, WEIGHT_LAST, HUB, listed),
            ),
        )
    ]


async def _write_star(served: Served, scope: str, *, weight_first: bool) -> None:
    """Write a hub and its edges, the weights before or after all else."""
    for weight in (weight_first, not weight_first):
        for start in range(0, DEGREE, BATCH):
            await served.driver.execute_query(
                text_of("star"),
                {"scope": scope, "hub": HUB, "from": start, "to": start + BATCH}
                | {"weight": weight},
                database_=DATABASE,
            )


def first_parameters(scope: str, hub: str) -> Parameters:
    """Ask for the first level from a hub, with all the energy there can be."""
    config = ExploreConfig()
    spread = TransferExploration(Seed(id=hub, score=1.0), config)
    return level_parameters([spread], scope=scope, query_tags=(), config=config)


def first_level(ask: Asked, scope: str, hub: str, text: str | None = None) -> Run:
    """Return what asks for the first level from a hub, by memoria's query or another."""
    level, parameters = text or load("strategies.level").text, first_parameters(scope, hub)

    async def run(_: None) -> Any:
        return (await ask(level, parameters))[0]

    return run
