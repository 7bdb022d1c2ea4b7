"""memoria beside its alternatives, graph after graph.

In: the command line. Out: ``results.json``, ``results.md`` and plots. Starts servers of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.environment import OUT, environment, load, without_folder
from benchmarks.race.files import graph_folder
from benchmarks.race.plan import Plan, full, quick
from benchmarks.race.scenario import measure
from benchmarks.report.page import markdown
from benchmarks.report.plots import draw
from memoria._support.progress import progress_bars


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench race", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small graphs; under three minutes")
    parser.add_argument(
        "--edges",
        type=int,
        default=10_000_000,
        help="largest generated graph (default %(default)s)",
    )
    parser.add_argument(
        "--data",
        type=graph_folder,
        action="append",
        default=[],
        metavar="DIR",
        help="a real graph, nodes.jsonl.gz and edges.jsonl.gz; may be repeated",
    )
    parser.add_argument(
        "--only",
        action="append",
        choices=("power law", "sparse", "recall", "real"),
        help="graphs of this family only; may be repeated",
    )
    parser.add_argument(
        "--out", type=Path, default=OUT, help="where to write (default build/benchmarks)"
    )
    parser.add_argument(
        "--work", type=Path, help="where servers keep their data meanwhile; default: temporary"
    )
    return parser.parse_args(arguments)


async def run(
    plan: Plan,
    work: Path | None,
    families: Sequence[str] | None,
    save: Callable[[list[dict[str, Any]]], None],
) -> None:
    """Measure graph after graph, each on a server of its own; ended, stop that server.

    What was measured so far is saved after each graph: a long run may be ended at any time.
    """
    if task := asyncio.current_task():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    found: list[dict[str, Any]] = []
    parts = [part for part in plan.parts if not families or part.family in families]
    for number, part in enumerate(parts, 1):
        with (
            tempfile.TemporaryDirectory(prefix="memoria-bench-", dir=work) as folder,
            progress_bars() as progress,
        ):
            progress(f"graph {number} of {len(parts)}", 0, None)
            found.append(await measure(part, plan, Path(folder) / "server", progress))
        save(found)
        print(f"{found[-1]['name']}: measured", file=sys.stderr)


def main(arguments: Sequence[str]) -> None:
    """Run, write, and say where."""
    options = parsed(arguments)
    plan = quick() if options.quick else full(options.edges, tuple(options.data))
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
    facts, started = environment(), time.perf_counter()
    facts |= {"neo4j_graphrag": version("neo4j-graphrag"), "igraph": version("igraph")}

    def save(graphs: list[dict[str, Any]]) -> None:
        took_s = round(time.perf_counter() - started, 1)
        settings = {"arguments": " ".join(map(without_folder, arguments)), "took_s": took_s}
        record = {
            "environment": {**facts, "load_end": load()},
            "settings": settings,
            "graphs": graphs,
        }
        options.out.mkdir(parents=True, exist_ok=True)
        draw(record, options.out)
        (options.out / "results.json").write_text(json.dumps(record) + "\n", encoding="utf-8")
        (options.out / "results.md").write_text(markdown(record), encoding="utf-8")

    asyncio.run(run(plan, options.work, options.only, save))
    print(options.out / "results.md")
