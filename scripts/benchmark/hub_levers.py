"""How the edges of a hub are stored: in which order, where the weight stands, and in a list.

In: a server. Out: `Lever`s. Writes scopes of its own.
"""

from __future__ import annotations

from memoria.queries import load
from scripts.benchmark.lever_queries import HUB_CASES, Asked, Lever, changed, first_level
from scripts.benchmark.load import SCOPE
from scripts.benchmark.queries import text_of
from scripts.benchmark.serve import DATABASE, Served

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


def arranged_lever(ask: Asked, scattered: Asked, hub: str, degree: int) -> Lever:
    """Go the first level from a hub of one graph on two servers, imported in different orders."""
    return Lever(
        kept=f"edges imported by the busier of their ends, hub of {degree:,} edges",
        against="in the order in which they were made",
        cases=[None] * HUB_CASES,
        ours=first_level(ask, SCOPE, hub),
        other=first_level(scattered, SCOPE, hub),
    )


async def layout_levers(served: Served, ask: Asked) -> list[Lever]:
    """Go the first level from a hub, whose edges are stored in one way or another."""
    for scope, order in ((WEIGHT_FIRST, (True, False)), (WEIGHT_LAST, (False, True))):
        for weight in order:
            for start in range(0, DEGREE, BATCH):
                await served.driver.execute_query(
                    text_of("star"),
                    {"scope": scope, "hub": HUB, "from": start, "to": start + BATCH}
                    | {"weight": weight},
                    database_=DATABASE,
                )
    await served.driver.execute_query(
        text_of("star_list"), scope=WEIGHT_LAST, hub=HUB, size=STRONGEST, database_=DATABASE
    )
    ours = first_level(ask, WEIGHT_LAST, HUB)
    listed = changed(load("explore.level").text, _ALL_EDGES, _LISTED)
    return [
        Lever(kept=kept, against=against, cases=[None] * HUB_CASES, ours=ours, other=by)
        for kept, against, by in (
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
