"""What a run consists of: which graphs, how many cases, how long.

In: options of the command line. Out: a `Plan`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.race.files import read_graph
from benchmarks.race.graphs import MEAN_DEGREE, Graph, power_law, sparse
from benchmarks.race.race import Limits
from benchmarks.race.serve import Memory
from benchmarks.race.special import FEW

QUICK_HUBS = (3_900, 10_000)
HUBS = (25_000, 39_000, 100_000)
LARGEST_HUB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One graph to measure on; ``make`` generates or reads it."""

    family: str
    make: Callable[[], Graph]
    hub_score: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that a run is about to do.

    Attributes
    ----------
    race, hubs
        Limits of each race, and of each race from a hub alone.
    query_s
        Limit of one run of an alternative; seconds.
    profile_s
        Time for which the client's stack is sampled; seconds.
    trips
        Cases whose messages are counted, and whose levels are profiled.
    recalls, at_once_s, at_once_rounds
        Questions that each number of recalls at once answers in a round, the limit of the time for
        them, and rounds; seconds.
    varied, varied_s
        Recalls whose plans are counted, those of the first `FEW` apart, and the time for them;
        seconds.
    pagerank_edges
        Largest graph that PageRank loads into memory.
    """

    parts: tuple[Part, ...]
    memory: Memory
    race: Limits
    hubs: Limits
    query_s: float
    profile_s: float
    trips: int
    recalls: int
    at_once_s: float
    at_once_rounds: int
    varied: int
    varied_s: float
    pagerank_edges: int = 20_000_000


def quick() -> Plan:
    """Everything once, small: does it work, and roughly where does it stand."""
    return Plan(
        parts=(
            Part(
                family="power law",
                make=partial(power_law, 60_000, hubs=QUICK_HUBS),
                hub_score=0.316,  # the bound lies at 3,994 edges, not 40,000
            ),
            Part(family="sparse", make=partial(sparse, 6_000)),
            Part(family="recall", make=partial(recall_graph, 6_000)),
        ),
        memory=Memory(heap_mb=1_024, page_cache_mb=256),
        race=Limits(cases=5, contender_s=0.3, warm_up=1),
        hubs=Limits(cases=2, contender_s=0.1, warm_up=1),
        query_s=0.6,
        profile_s=1,
        trips=3,
        recalls=100,
        at_once_s=0.4,
        at_once_rounds=1,
        varied=100,
        varied_s=2,
    )


def full(edges: int, data: tuple[Path, ...]) -> Plan:
    """All sizes up to ``edges``, and the real graphs of ``data``."""
    sizes = [size for size in (10_000, 100_000, 1_000_000, 10_000_000) if size <= edges]
    hubs = {1_000_000: HUBS, 10_000_000: (*HUBS, LARGEST_HUB)}
    return Plan(
        parts=(
            *(
                Part(family="power law", make=partial(power_law, size, hubs=hubs.get(size, ())))
                for size in sizes
            ),
            Part(family="sparse", make=partial(sparse, 60_000)),
            Part(family="recall", make=partial(recall_graph, min(500_000, edges))),
            *(Part(family="real", make=partial(read_graph, folder)) for folder in data),
        ),
        memory=Memory(page_cache_mb=4_096),  # the store of the largest graph fits
        race=Limits(cases=150, contender_s=15, warm_up=30),
        hubs=Limits(cases=60, contender_s=8, warm_up=3),
        query_s=10,
        profile_s=6,
        trips=20,
        recalls=120,
        at_once_s=20,
        at_once_rounds=6,
        varied=FEW + 10_000,
        varied_s=1_200,
    )


def recall_graph(edges: int) -> Graph:
    """Memories with words and vectors, for whole recalls: 100,000 with 500,000 edges."""
    nodes = 2 * edges // MEAN_DEGREE
    return power_law(edges, embedded=nodes, name=f"whole recalls, {nodes:,} memories")
