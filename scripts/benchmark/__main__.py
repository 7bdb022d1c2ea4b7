"""Run the benchmark: ``scripts/bench --help``.

In: the command line. Out: ``results.json``, ``results.md`` and plots. Starts servers of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from memoria._support.progress import progress_bars
from memoria.local import NEO4J_VERSION
from scripts.benchmark.files import graph_folder
from scripts.benchmark.graphs import power_law
from scripts.benchmark.lever_report import save as save_levers
from scripts.benchmark.levers import Size, measure_levers
from scripts.benchmark.plan import HUBS, QUICK_HUBS, Plan, full, quick, recall_graph
from scripts.benchmark.plots import draw
from scripts.benchmark.report import markdown
from scripts.benchmark.scenario import measure

OUT = Path("docs/benchmarks")


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
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
        "--levers",
        action="store_true",
        help="instead, measure single decisions against the other way, and delays of the network",
    )
    parser.add_argument(
        "--out", type=Path, default=OUT, help="where to write (default %(default)s)"
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


async def levers(work: Path | None, out: Path, *, quick: bool) -> None:
    """Measure single decisions."""
    whole, hubs = (10_000, 100_000) if quick else (500_000, 1_000_000)
    size = Size(
        whole=recall_graph(whole),
        hubs=power_law(hubs, hubs=QUICK_HUBS if quick else HUBS),
        ingest=5_000 if quick else 20_000,
        count=40 if quick else 100,
        ingest_s=10 if quick else 60,
    )
    with (
        tempfile.TemporaryDirectory(prefix="memoria-bench-", dir=work) as folder,
        progress_bars() as progress,
    ):
        record = await measure_levers(size, Path(folder), progress)
    save_levers(record, out)


def environment() -> dict[str, Any]:
    """Where it ran."""
    return {
        "neo4j": NEO4J_VERSION,
        "driver": version("neo4j"),
        "memoria": version("memoria-graph"),
        "neo4j_graphrag": version("neo4j-graphrag"),
        "igraph": version("igraph"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load_start": _load(),
    }


def _without_folder(argument: str) -> str:
    """Show of a path its last part: the rest says more of the machine than of the run."""
    return Path(argument).name if "/" in argument else argument


def _load() -> str:
    return ", ".join(f"{value:.1f}" for value in os.getloadavg())


def main() -> None:
    """Run, write, and say where."""
    arguments = sys.argv[1:]
    options = parsed(arguments)
    plan = quick() if options.quick else full(options.edges, tuple(options.data))
    if options.work:
        options.work.mkdir(parents=True, exist_ok=True)
    if options.levers:
        asyncio.run(levers(options.work, options.out, quick=options.quick))
        print(options.out / "levers.md")
        return
    facts, started = environment(), time.perf_counter()

    def save(graphs: list[dict[str, Any]]) -> None:
        took_s = round(time.perf_counter() - started, 1)
        settings = {"arguments": " ".join(map(_without_folder, arguments)), "took_s": took_s}
        record = {
            "environment": {**facts, "load_end": _load()},
            "settings": settings,
            "graphs": graphs,
        }
        options.out.mkdir(parents=True, exist_ok=True)
        draw(record, options.out)
        (options.out / "results.json").write_text(json.dumps(record) + "\n", encoding="utf-8")
        (options.out / "results.md").write_text(markdown(record), encoding="utf-8")

    asyncio.run(run(plan, options.work, options.only, save))
    print(options.out / "results.md")


if __name__ == "__main__":
    main()
