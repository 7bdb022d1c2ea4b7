"""Settings that stay a choice of the user, each beside the other way, and slow networks.

In: the command line. Out: ``levers.json`` and ``levers.md``. Starts a server of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.environment import OUT, environment, load, without_folder
from benchmarks.levers.clients import measure_codecs, measure_turns
from benchmarks.levers.embedding import embedding_levers
from benchmarks.levers.lever import WARM_UP, pull
from benchmarks.levers.network import recalls_over_delays
from benchmarks.levers.page import markdown
from benchmarks.levers.settings import settings_levers
from benchmarks.race.cases import make_questions
from benchmarks.race.graphs import Graph
from benchmarks.race.plan import recall_graph
from benchmarks.race.serve import Memory, serve
from memoria._support.progress import ProgressCallback, progress_bars

# Edges of the graph, and questions of each lever.
QUICK, FULL = (10_000, 40), (500_000, 100)


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench levers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small graph, fewer questions")
    parser.add_argument(
        "--out", type=Path, default=OUT, help="where to write (default build/benchmarks)"
    )
    parser.add_argument(
        "--work", type=Path, help="where the server keeps its data meanwhile; default: temporary"
    )
    return parser.parse_args(arguments)


async def measure_levers(
    graph: Graph, count: int, folder: Path, progress: ProgressCallback
) -> dict[str, Any]:
    """Pull every lever."""
    async with serve(graph, folder, Memory(), progress) as served:
        questions = make_questions(graph, count + WARM_UP)
        levers = settings_levers(served, questions)
        levers += await embedding_levers(served, questions)
        found = [await pull(lever, progress) for lever in levers]
        found.append(await measure_codecs(served))
        found += await measure_turns(served, questions)
        delays = await recalls_over_delays(served, questions[: count // 2], progress)
    return {
        "graph": graph.name,
        "levers": [
            {
                "kept": each.kept,
                "against": each.against,
                "ours_ms": each.ours_ms,
                "other_ms": each.other_ms,
                "ratio": str(each.times),
                "each_ms": [each.each_ours_ms, each.each_other_ms],
            }
            for each in found
        ],
        "delays": delays,
    }


async def run(options: argparse.Namespace) -> dict[str, Any]:
    """Measure on a server in a folder that is gone afterwards."""
    edges, count = QUICK if options.quick else FULL
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="memoria-bench-", dir=options.work) as folder,
        progress_bars() as progress,
    ):
        return await measure_levers(recall_graph(edges), count, Path(folder) / "server", progress)


def main(arguments: Sequence[str]) -> None:
    """Run, write, and say where."""
    options = parsed(arguments)
    facts, started = environment(), time.perf_counter()
    measured = asyncio.run(run(options))
    took_s = round(time.perf_counter() - started, 1)
    record = {
        "environment": {**facts, "load_end": load()},
        "settings": {"arguments": " ".join(map(without_folder, arguments)), "took_s": took_s},
        **measured,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "levers.json").write_text(json.dumps(record) + "\n", encoding="utf-8")
    (options.out / "levers.md").write_text(markdown(record), encoding="utf-8")
    print(options.out / "levers.md")
