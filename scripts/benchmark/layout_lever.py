"""Where the weight stands among the properties of an edge, as the server stores them.

In: a server. Out: a `Lever`. Writes scopes of its own.
"""

from __future__ import annotations

from typing import Any

from memoria.config import ExploreConfig
from memoria.queries import load
from memoria.strategies.levels import TransferExploration, level_parameters
from memoria.types import Seed
from scripts.benchmark.lever_queries import HUB_CASES, Asked, Lever, Run
from scripts.benchmark.queries import text_of
from scripts.benchmark.serve import DATABASE, Served

HUB = "hub"
FIRST, LAST = "weight-first", "weight-last"
DEGREE = 25_000
BATCH = 5_000
WARM_UP = 20


async def layout_lever(served: Served, ask: Asked) -> Lever:
    """Go the first level from a hub whose edges were written in one order, and in the other."""
    for start in range(0, DEGREE, BATCH):
        numbers = {"from": start, "to": start + BATCH}
        scopes = {"first": FIRST, "last": LAST, "hub": HUB}
        await served.driver.execute_query(
            text_of("star"), {**numbers, **scopes}, database_=DATABASE
        )
    return Lever(
        kept=f"the weight first among an edge's properties, hub of {DEGREE:,} edges",
        against="the weight last",
        cases=[None] * (WARM_UP + HUB_CASES),
        ours=_first_level(ask, FIRST),
        other=_first_level(ask, LAST),
        warm_up=WARM_UP,
    )


def _first_level(ask: Asked, scope: str) -> Run:
    level = load("explore.level").text
    config = ExploreConfig()
    spread = TransferExploration(Seed(id=HUB, score=1.0), config)
    parameters = level_parameters([spread], scope=scope, query_tags=(), config=config)

    async def run(_: None) -> Any:
        return (await ask(level, parameters))[0]

    return run
