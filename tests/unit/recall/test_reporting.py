"""What the trace says of explorations that came back short."""

from __future__ import annotations

from dataclasses import replace

from memoria.recall.reporting import missed
from memoria.types import Exploration, ExplorationStats, Seed

WHOLE = Exploration(
    seed=Seed(id="a", score=1.0),
    status="complete",
    paths=(),
    error=None,
    stats=ExplorationStats(levels=3, nodes=4, elapsed_s=0.1, hydrate_s=0.0),
)


def short(levels: int, elapsed_s: float) -> Exploration:
    stats = replace(WHOLE.stats, levels=levels, elapsed_s=elapsed_s)
    return replace(WHOLE, status="truncated", stats=stats)


def test_nothing_is_said_of_whole_explorations() -> None:
    assert missed([]) == []
    assert missed([WHOLE, replace(WHOLE, status="seed_not_found")]) == []


def test_how_many_were_cut_short_and_how_far_they_had_come() -> None:
    (note,) = missed([short(0, 9.5), WHOLE, short(2, 9.25)])
    assert note == "the deadline cut short 2 of 3 explorations, after 0 to 2 levels and 9.5 s"
