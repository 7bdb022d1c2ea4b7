"""Measure datasets one after the other, each on the same throw-away or given server.

In: the arguments of a command. Out: a table in Markdown. Writes to the server.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from benchmarks.server import add_server, opened
from memoria import OnnxEmbedder
from memoria.embed import Embedder
from memoria.evaluation import Dataset, prepare, read_dataset
from memoria.store import Store
from memoria.store.config import StoreConfig

Measure = Callable[[Store, Dataset, Embedder, int], Awaitable[None]]


def measure_sets(
    arguments: Sequence[str],
    *,
    name: str,
    description: str | None,
    limit: int,
    columns: Sequence[str],
    measure: Measure,
) -> None:
    """Read each dataset, and call ``measure`` with store, dataset, embedder and limit.

    Parameters
    ----------
    limit
        Questions of a set, at most, if the command line doesn't say.
    columns
        Heads of the table whose rows ``measure`` prints.
    """
    parser = argparse.ArgumentParser(prog=f"scripts/bench {name}", description=description)
    parser.add_argument("data", type=Path, nargs="+", metavar="DATASET_DIR")
    parser.add_argument("--limit", type=int, default=limit, help="questions of a set, at most")
    add_server(parser)
    options = parser.parse_args(arguments)

    async def run() -> None:
        embedder = OnnxEmbedder()
        async with opened(options, StoreConfig()) as driver:
            store = Store(driver, database=options.database)
            await prepare(store, embedder)
            print(f"| {' | '.join(columns)} |")
            print("|---" * len(columns) + "|")
            for folder in options.data:
                await measure(store, read_dataset(folder), embedder, options.limit)

    asyncio.run(run())
