"""What the query of a level costs: frontier, degree, and number of memories, fitted to a sum.

    scripts/bench scale
    scripts/bench scale --edges 100000 1000000 10000000

Starts a throw-away server for each graph. Its memories have planned degrees; the query of a level
is sent for frontiers of several sizes and degrees, with a threshold so low that every edge counts.

    time = once + frontier * per memory + frontier * degree * per edge

The sum has no term for the number of memories. It is fitted without the largest graph, and then
predicts that graph: the error is what the number of memories adds. Prints Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.race.graphs import Graph, power_law
from benchmarks.race.load import SCOPE
from benchmarks.race.serve import DATABASE, Memory, Served, serve
from benchmarks.server import parser_of
from memoria._support.progress import progress_bars
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.store.queries import load
from memoria.types.validity import Validity

DEGREES = (3, 10, 30, 100, 300, 1_000)
FRONTIERS = (1, 5, 15, 45)
CAP = 3
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The median time of one query: a graph, a frontier, and the degree of its memories; ms."""

    memories: int
    frontier: int
    degree: int
    took_ms: float

    @property
    def terms(self) -> tuple[float, float, float]:
        """What the terms of the sum are multiplied with."""
        return 1.0, float(self.frontier), float(self.frontier * self.degree)


def parameters(ids: Sequence[str]) -> dict[str, Any]:
    """Return the parameters of a level from these memories, at which every edge passes."""
    return {
        "cap": CAP,
        "frontier": [[0, id_, 1.0, True] for id_ in ids],
        "held": Validity.now().held,
        "max_weight": 1.0,
        "min_activation": 1e-12,
        "query_tags": ["topic-001", "topic-002"],
        "scope": SCOPE,
        "tag_sim_floor": 0.15,
        "visited": [dict.fromkeys(ids, True)],
    }


def nodes_by_degree(graph: Graph) -> dict[int, list[str]]:
    """Return the memories that were made with each degree."""
    found: dict[int, list[str]] = {degree: [] for degree in DEGREES}
    for hub in graph.hubs:
        found[hub.degree].append(graph.ids[hub.node])
    return found


async def measure(served: Served, rounds: int) -> list[Point]:
    """Send every kind of query so often, in a random order, and return the medians."""
    rng = random.Random(7)  # noqa: S311  # test data
    nodes, query = nodes_by_degree(served.graph), load("strategies.level")
    patient = StoreConfig(query_timeout_s=600.0)
    store = Store(served.driver, database=DATABASE, config=patient)
    kinds = list(itertools.product(FRONTIERS, DEGREES))
    took: dict[tuple[int, int], list[float]] = {kind: [] for kind in kinds}
    for number in range(rounds + 3):
        rng.shuffle(kinds)
        for frontier, degree in kinds:
            asked = parameters(rng.sample(nodes[degree], frontier))
            async with store.session() as session:
                started = time.perf_counter()
                rows = await session.run(query, asked)
                spent_ms = 1_000 * (time.perf_counter() - started)
            if len(rows[0]["level"]) != frontier or any(
                row[2] != degree for row in rows[0]["level"]
            ):
                raise SystemExit(f"frontier {frontier}, degree {degree}: another level came back")
            if number >= 3:
                took[frontier, degree].append(spent_ms)
    return [
        Point(
            memories=len(served.graph.ids),
            frontier=frontier,
            degree=degree,
            took_ms=statistics.median(values),
        )
        for (frontier, degree), values in took.items()
    ]


def fitted(points: Sequence[Point]) -> Floats:
    """Fit the sum by least squares of the relative errors; ms."""
    terms = np.array([point.terms for point in points])
    walls = np.array([point.took_ms for point in points])
    found: Floats = np.linalg.lstsq(terms / walls[:, None], np.ones(len(walls)), rcond=None)[0]
    return found


def off(sums: Floats, points: Sequence[Point]) -> Floats:
    """Return how far the sum is off at each point, as a share of the measured time, with sign."""
    found: Floats = np.array(
        [float(np.dot(point.terms, sums)) / point.took_ms - 1 for point in points]
    )
    return found


def report(points: Sequence[Point]) -> None:
    """Print the times, the sums and their errors."""
    sizes = sorted({point.memories for point in points})
    by_kind = {(p.memories, p.frontier, p.degree): p.took_ms for p in points}
    print(f"| frontier | degree | {' | '.join(f'{size:,} memories' for size in sizes)} |")
    print("|---" * (len(sizes) + 2) + "|")
    for frontier, degree in itertools.product(FRONTIERS, DEGREES):
        times = " | ".join(f"{by_kind[size, frontier, degree]:.1f}" for size in sizes)
        print(f"| {frontier} | {degree:,} | {times} |")
    print("\n| fitted to | once, ms | a memory, µs | an edge, µs | off at | median | 95 % | mean |")
    print("|---" * 8 + "|")
    smaller = [point for point in points if point.memories < sizes[-1]]
    largest = [point for point in points if point.memories == sizes[-1]]
    for name, given, asked_of, asked in (
        ("all", points, "all", points),
        ("without the largest", smaller, "the largest", largest),
    ):
        sums = fitted(given)
        errors = off(sums, asked)
        absolute = np.abs(errors)
        once, memory, edge = sums
        print(
            f"| {name} | {once:.2f} | {1_000 * memory:.1f} | {1_000 * edge:.2f} | {asked_of} "
            f"| {np.median(absolute):.0%} | {np.percentile(absolute, 95):.0%} "
            f"| {errors.mean():+.0%} |"
        )


async def run(options: argparse.Namespace) -> None:
    """Measure one graph after the other, each on a server of its own."""
    hubs = tuple(degree for degree in DEGREES for _ in range(max(FRONTIERS)))
    points: list[Point] = []
    memory = Memory(heap_mb=1_024, page_cache_mb=options.page_cache_mb)
    with progress_bars() as progress:
        for edges in options.edges:
            graph = power_law(edges, hubs=hubs)
            with tempfile.TemporaryDirectory(prefix="memoria-bench-") as folder:
                async with serve(graph, Path(folder) / "server", memory, progress) as served:
                    points += await measure(served, options.rounds)
    report(points)


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = parser_of("scale", __doc__)
    parser.add_argument(
        "--edges", type=int, nargs="+", default=[100_000, 300_000, 1_000_000], metavar="N"
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--page-cache-mb", type=int, default=512)
    asyncio.run(run(parser.parse_args(arguments)))
