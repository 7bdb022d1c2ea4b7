"""Ways to search vectors: how much of the true nearest five each finds, and in which time.

In: a server and questions. Out: rows for a table. Writes a small scope beside the large one, a
label, and a quantised index.

The true nearest are found by comparing all vectors, here and not in the server.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from memoria._support.progress import ProgressCallback
from memoria.graph.vocabulary import VECTOR_INDEX
from memoria.ingest import GraphWriter
from memoria.store import Store
from memoria.store.queries import load
from memoria.types import Memory
from scripts.benchmark.cases import Question
from scripts.benchmark.figures import percentile
from scripts.benchmark.graphs import CHUNK, DIMENSIONS
from scripts.benchmark.lever_queries import CANDIDATES, Asked, changed
from scripts.benchmark.load import NOW, SCOPE
from scripts.benchmark.nearest import TOP, nearest
from scripts.benchmark.queries import text_of
from scripts.benchmark.serve import DATABASE, IMPORTED, Served

SMALL = "benchmark-small"
SMALL_SHARE = 50
QUANTISED = "memory_quantised"
WARM_UP = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to search.

    Attributes
    ----------
    limit
        Hits asked of the index; of the comparison of all, hits returned.
    truth
        Ids of the true nearest of each question.
    """

    name: str
    text: str
    scope: str
    limit: int
    truth: Sequence[set[str]]
    took_ms: list[float] = field(default_factory=list)
    hits: list[int] = field(default_factory=list)
    found: list[float] = field(default_factory=list)

    def row(self) -> dict[str, Any]:
        """Say what came out."""
        return {
            "way": self.name,
            "limit": self.limit,
            "hits": float(np.mean(self.hits)),
            "found": float(np.mean(self.found)),
            "p50_ms": percentile(self.took_ms[WARM_UP:] or self.took_ms, 50),
        }


async def vector_searches(
    served: Served, questions: Sequence[Question], folder: Path, progress: ProgressCallback
) -> dict[str, Any]:
    """Search the large scope and a small one, with quantised vectors and without."""
    small = max(TOP, served.graph.embedded // SMALL_SHARE)
    await _write_small(served, small)
    await _make_quantised(served)
    large_truth = nearest(served.graph, questions, served.graph.embedded)
    small_truth = nearest(served.graph, questions, small)
    search, procedure = load("seeds.vector_search").text, load("seeds.vector_procedure").text
    exact = load("seeds.vector_exact").text
    quantised = changed(changed(search, VECTOR_INDEX, QUANTISED), "(m:Memory)", "(m:Quantised)")
    plain = Way(
        name="`SEARCH`, vectors as they are",
        text=search,
        scope=SCOPE,
        limit=TOP,
        truth=large_truth,
    )
    in_quantised = replace(plain, name="`SEARCH`, quantised", text=quantised)
    by_procedure = replace(plain, name="procedure, vectors as they are", text=procedure)
    hidden = replace(plain, name="`SEARCH`", scope=SMALL, limit=CANDIDATES, truth=small_truth)
    hidden_procedure = replace(hidden, name="procedure, filtered afterwards", text=procedure)
    large = [
        *(_with_limit(plain, limit) for limit in (TOP, 10, CANDIDATES, 100)),
        *(_with_limit(in_quantised, limit) for limit in (TOP, 10, CANDIDATES, 100)),
        _with_limit(by_procedure, CANDIDATES),
    ]
    hidden_ways = [
        _with_limit(hidden, CANDIDATES),
        *(_with_limit(hidden_procedure, CANDIDATES * factor) for factor in (1, 4, 40)),
        _with_limit(replace(hidden, name="all of the scope compared", text=exact), CANDIDATES),
    ]
    await _ask(served, [*large, *hidden_ways], questions, progress)
    return {
        "memories": served.graph.embedded,
        "small": small,
        "large_scope": [way.row() for way in large],
        "small_scope": [way.row() for way in hidden_ways],
        # What was written, and not imported, lies in memory until a checkpoint.
        "index_mb": await _sizes(served, folder) if served.load["way"] == IMPORTED else None,
    }


def _with_limit(way: Way, limit: int) -> Way:
    return replace(way, limit=limit, took_ms=[], hits=[], found=[])


async def _ask(
    served: Served, ways: Sequence[Way], questions: Sequence[Question], progress: ProgressCallback
) -> None:
    """Ask all ways each question, every time beginning with another one."""
    async with served.session() as session:
        ask = Asked(session)
        for number, question in enumerate(questions):
            first = number % len(ways)
            for way in (*ways[first:], *ways[:first]):
                case: Mapping[str, Any] = {
                    "kinds": [],
                    "limit": way.limit,
                    "scope": way.scope,
                    "vector": question.vector.tolist(),
                }
                started = time.perf_counter()
                near = (await ask(way.text, case))[0]
                way.took_ms.append(1_000 * (time.perf_counter() - started))
                best = sorted(near, key=lambda hit: (-hit[1], hit[0]))[:TOP]
                truth = way.truth[number]
                way.hits.append(len(near))
                way.found.append(len({hit[0] for hit in best} & truth) / len(truth))
            progress("vector searches", number + 1, len(questions))


async def _write_small(served: Served, count: int) -> None:
    """Write the first memories once more, into a scope of their own."""
    graph = served.graph
    chunk = min(CHUNK, graph.embedded)
    rows = zip(graph.texts(0, chunk), graph.vectors(0, chunk).tolist(), strict=True)
    store = Store(served.driver, database=DATABASE)
    writer = GraphWriter(store, scope=SMALL, kinds=graph.kinds, clock=lambda: NOW)
    await writer.write(
        Memory(id=graph.ids[node], kind=graph.kind_of(node), text=text, embedding=vector)
        for node, (text, vector) in zip(range(count), rows, strict=False)
    )


async def _make_quantised(served: Served) -> None:
    """Make a second index over the same vectors: of another label, with the server's default."""
    for name in ("label_quantised", "quantised_index", "await_indexes"):
        async with served.driver.session(database=DATABASE) as session:
            result = await session.run(text_of(name), dimensions=DIMENSIONS)
            await result.consume()


async def _sizes(served: Served, folder: Path) -> dict[str, float]:
    """MB on disk of both indexes; what is searched in them is mapped into memory."""
    records, _, _ = await served.driver.execute_query(text_of("index_ids"), database_=DATABASE)
    numbers = {record["name"]: str(record["id"]) for record in records}
    return {
        "plain": _size(folder, numbers[VECTOR_INDEX]),
        "quantised": _size(folder, numbers[QUANTISED]),
    }


def _size(folder: Path, number: str) -> float:
    """MB of the files of one index."""
    roots = [path for path in folder.rglob(number) if "index" in path.parts]
    return sum(file.stat().st_size for root in roots for file in root.rglob("*")) / 1e6
