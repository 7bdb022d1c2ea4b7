"""How fast a `GraphWriter` writes, with batches of several sizes.

In: an empty server. Out: rows for a table. Writes scopes of their own.

Batch sizes take turns. The server's compiler needs half a minute of writing before the rates stop
growing, so the first round stands apart.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memoria._support.progress import ProgressCallback
from memoria.ingest import GraphWriter
from memoria.store import Store
from memoria.store.config import StoreConfig
from memoria.types import Memory, Relation
from scripts.benchmark.figures import percentile
from scripts.benchmark.graphs import power_law
from scripts.benchmark.load import NOW, memories, relations
from scripts.benchmark.serve import DATABASE, Served

BATCHES = (1_000, 100, 5_000)
MEMORIES, VECTORS = "memories without vectors", "memories with vectors of 384 numbers"
EDGES = "edges"


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What each round writes."""

    plain: Sequence[Memory]
    embedded: Sequence[Memory]
    edges: Sequence[Relation]


def make_load(edges: int) -> Load:
    """Make a fifth as many memories as edges, and of these a half once more with vectors."""
    plain = power_law(edges)
    half = len(plain.ids) // 2
    embedded = power_law(edges, embedded=half)
    return Load(
        plain=[memory for chunk in memories(plain) for memory in chunk],
        embedded=[memory for chunk in memories(embedded) for memory in chunk][:half],
        edges=[edge for chunk in relations(plain) for edge in chunk],
    )


async def ingest_rates(
    served: Served, load: Load, limit_s: float, progress: ProgressCallback
) -> list[dict[str, Any]]:
    """Write the same again and again, each time into a new scope, two rounds at least."""
    config = StoreConfig(query_timeout_s=600)
    store = Store(served.driver, database=DATABASE, config=config)
    rates: dict[tuple[str, int], list[float]] = {}
    started, rounds = time.perf_counter(), 0
    while rounds < 2 or time.perf_counter() - started < limit_s:
        for batch in BATCHES:
            for what, rate in (await _round(store, load, batch, rounds)).items():
                rates.setdefault((what, batch), []).append(rate)
        rounds += 1
        progress("ingest, s", int(time.perf_counter() - started), int(limit_s))
    return [
        {
            "what": what,
            "batch": batch,
            "first": found[0],
            "per_s": percentile(found[1:], 50),
            "best": float(np.max(found)),
            "rounds": rounds,
        }
        for (what, batch), found in sorted(rates.items())
    ]


async def _round(store: Store, load: Load, batch: int, number: int) -> dict[str, float]:
    """Write all of it once; per second."""
    rates = {}
    for what, written, edges in (
        (MEMORIES, load.plain, ()),
        (EDGES, (), load.edges),
        (VECTORS, load.embedded, ()),
    ):
        scope = f"ingest-{number}-{batch}{'-vectors' if what == VECTORS else ''}"
        writer = GraphWriter(store, scope=scope, batch_size=batch, clock=lambda: NOW)
        started = time.perf_counter()
        await writer.write(written, edges)
        rates[what] = (len(written) + len(edges)) / (time.perf_counter() - started)
    return rates
