"""Where the weight stands among the properties of an edge, as the server stores them.

In: a server. Out: a `Lever`. Writes scopes of its own.
"""

from __future__ import annotations

from scripts.benchmark.lever_queries import HUB_CASES, Asked, Lever, first_level
from scripts.benchmark.queries import text_of
from scripts.benchmark.serve import DATABASE, Served

HUB = "hub"
DEGREE = 25_000
BATCH = 5_000
WARM_UP = 20


async def layout_lever(served: Served, ask: Asked) -> Lever:
    """Go the first level from a hub whose edges got their weight first, or after all else."""
    for weight_first in (True, False):
        for text in (text_of("star"), text_of("star_rest")):
            for start in range(0, DEGREE, BATCH):
                parameters = {
                    "scope": _scope(weight_first=weight_first),
                    "hub": HUB,
                    "from": start,
                    "to": start + BATCH,
                    "weight_first": weight_first,
                }
                await served.driver.execute_query(text, parameters, database_=DATABASE)
    return Lever(
        kept=f"the weight stored after an edge's other properties, hub of {DEGREE:,} edges",
        against="the weight stored first",
        cases=[None] * (WARM_UP + HUB_CASES),
        ours=first_level(ask, _scope(weight_first=False), HUB),
        other=first_level(ask, _scope(weight_first=True), HUB),
        warm_up=WARM_UP,
    )


def _scope(*, weight_first: bool) -> str:
    return "weight-first" if weight_first else "weight-last"
