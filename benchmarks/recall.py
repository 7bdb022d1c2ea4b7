"""Time the stages of recalls on a data set of questions over a graph.

    scripts/bench recall DATA_DIR [--questions 200]

DATA_DIR holds what `benchmarks.locomo` reads. Starts a throw-away Neo4j. Both settings of
``seeds_per_session`` take turns on the same questions, and their results are compared. Prints
Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Sequence
from pathlib import Path

import neo4j
import numpy as np

import memoria
from benchmarks import locomo
from memoria._support.progress import progress_bars

STAGES = ("embed", "seeds", "explore", "hydrate", "rank", "pack")
WARM_UP = 20


async def measure(
    driver: neo4j.AsyncDriver, folder: Path, embedder: memoria.Embedder, count: int
) -> None:
    """Ask the questions in both settings, and print the medians."""
    configs = {
        name: memoria.RetrieverConfig(seeds_per_session=size)
        for name, size in (("1 seed a session", 1), ("all seeds in one session", None))
    }
    timings: dict[str, list[dict[str, float]]] = {name: [] for name in configs}
    reached: list[int] = []
    questions = locomo.questions(folder)[: count + WARM_UP]
    with progress_bars() as progress:
        for number, question in enumerate(questions):
            scope = question["conversation"]
            retriever = memoria.GraphRetriever(driver, scope=scope, embedder=embedder)
            rankings = []
            for name, config in configs.items():
                recall = await retriever.recall(
                    question["question"], kinds=["Utterance"], config=config
                )
                rankings.append([(entry.memory.id, entry.score) for entry in recall.ranked])
                if number >= WARM_UP:
                    row = dict(recall.trace.timings_s)
                    row["explore"] -= row["hydrate"]  # what is read comes after all levels
                    timings[name].append(row)
            if rankings[0] != rankings[1]:
                raise SystemExit(f"results differ for {question['id']}")
            reached.append(len(rankings[0]))
            progress("questions", number + 1, len(questions))
    print(
        f"\n{len(questions) - WARM_UP} questions, results equal; "
        f"median {statistics.median(reached):.0f} memories reached\n"
    )
    table(timings)


def table(timings: dict[str, list[dict[str, float]]]) -> None:
    """Print p50 / p95 of each stage and of the whole; milliseconds."""
    print("| ms, p50 / p95 | " + " | ".join([*STAGES, "whole"]) + " |")
    print("|---" * (len(STAGES) + 2) + "|")
    for name, rows in timings.items():
        columns = [[row[stage] * 1000 for row in rows] for stage in STAGES]
        columns.append([sum(values) for values in zip(*columns, strict=True)])
        cells = [f"{np.percentile(c, 50):.1f} / {np.percentile(c, 95):.1f}" for c in columns]
        print(f"| {name} | " + " | ".join(cells) + " |")


def main(arguments: Sequence[str]) -> None:
    """Load and measure."""
    parser = argparse.ArgumentParser(prog="scripts/bench recall", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args(arguments)

    async def run() -> None:
        embedder = memoria.OnnxEmbedder("all-minilm-l6-v2-q")
        async with locomo.served(options.data, embedder) as driver:
            await measure(driver, options.data, embedder, options.questions)

    asyncio.run(run())
