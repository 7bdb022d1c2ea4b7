"""Personalised PageRank in memory, as HippoRAG runs it.

In: a server, whose whole graph is read. Out: a `Contender`. Reads only.
"""

from __future__ import annotations

import time
from array import array
from dataclasses import dataclass

import igraph
import numpy as np

from benchmarks.queries import text_of
from benchmarks.race.cases import Case
from benchmarks.race.contender import Contender, Outcome
from benchmarks.race.meter import memory_mb
from benchmarks.race.names import PAGERANK
from benchmarks.race.serve import DATABASE, Served
from memoria._support.progress import ProgressCallback

DAMPING = 0.5
TOP = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """The contender, and what it took to load its graph."""

    contender: Contender
    load_s: float
    memory_mb: float


async def load_pagerank(served: Served, progress: ProgressCallback) -> Loaded:
    """Read all nodes and edges over Bolt, and build the graph."""
    started, before = time.perf_counter(), memory_mb() or 0.0
    number: dict[str, int] = {}
    ends, weights = array("q"), array("d")  # a tuple for each of ten million edges takes 1 GB
    after, nodes = "", len(served.graph.ids)
    seen = 0
    while True:
        records, _, _ = await served.driver.execute_query(
            text_of("edges_page"), after=after, database_=DATABASE, routing_="r"
        )
        if not records or records[0]["last"] is None:
            break
        after = records[0]["last"]
        for source, target, weight in records[0]["edges"]:
            ends.append(number.setdefault(source, len(number)))
            ends.append(number.setdefault(target, len(number)))
            weights.append(weight)
        seen += records[0]["nodes"]
        progress("PageRank's graph", seen, nodes)
    pairs = np.frombuffer(ends, dtype=np.int64).reshape(-1, 2)
    graph = igraph.Graph(n=len(number), edges=pairs, directed=False)
    graph.es["weight"] = weights
    del pairs, ends, weights
    names = list(number)

    async def run(case: Case) -> Outcome:
        reset = [0.0] * len(names)
        for seed in case.seeds:
            if seed.id in number:
                reset[number[seed.id]] = seed.score
        if not any(reset):  # all of them without edges: there is nothing to rank
            return Outcome()
        ranks = np.array(
            graph.personalized_pagerank(
                damping=DAMPING,
                directed=False,
                weights="weight",
                reset=reset,
                implementation="prpack",
            )
        )
        best = np.argpartition(-ranks, min(TOP, len(ranks) - 1))[:TOP]
        return Outcome(notes={"best": [names[place] for place in best]})

    return Loaded(
        contender=Contender(name=PAGERANK, run=run),
        load_s=time.perf_counter() - started,
        memory_mb=max(0.0, (memory_mb() or 0.0) - before),
    )
