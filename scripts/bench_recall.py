"""Time the stages of recalls on a data set of questions over a graph.

    python scripts/bench_recall.py DATA_DIR [--questions 200]

DATA_DIR holds ``nodes.dev.jsonl.gz``, ``edges.dev.jsonl.gz``, ``emb_nodes.dev.f16.npy`` and
``questions.dev.jsonl``, each node with its ``conversation``: one scope each. Starts a throw-away
Neo4j. Both settings of ``seeds_per_session`` take turns on the same questions, and their results
are compared. Prints Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import statistics
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import numpy as np

import memoria
from memoria.local import LocalNeo4j
from memoria.progress import progress_bars
from memoria.store import Target, open_driver

KINDS = ("Utterance", "Session", "Speaker", "Entity", "Keyword")
STAGES = ("embed", "seeds", "explore", "hydrate", "pack")
WARM_UP = 20


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def scope_of(node_id: str) -> str:
    """Conversation that a node belongs to: the part of its id before the first colon."""
    return node_id.partition(":")[0]


def memories(folder: Path) -> dict[str, list[memoria.Memory]]:
    """Read the nodes, by scope; the vectors belong to the first nodes of the file."""
    vectors = np.load(folder / "emb_nodes.dev.f16.npy").astype(float)
    found = defaultdict(list)
    for row, node in enumerate(lines(folder / "nodes.dev.jsonl.gz")):
        found[scope_of(node["id"])].append(
            memoria.Memory(
                id=node["id"],
                kind=node["kind"].capitalize(),
                text=node.get("text") or node.get("name") or node.get("time_text") or node["id"],
                embedding=vectors[row] if row < len(vectors) else None,
            )
        )
    return found


def relations(folder: Path) -> dict[str, list[memoria.Relation]]:
    """Read the edges, by scope."""
    found = defaultdict(list)
    for edge in lines(folder / "edges.dev.jsonl.gz"):
        if edge["s"] != edge["t"]:
            found[scope_of(edge["s"])].append(
                memoria.Relation(
                    source=edge["s"], target=edge["t"], relation=edge["type"], weight=edge["w"]
                )
            )
    return found


async def load(driver: neo4j.AsyncDriver, folder: Path, embedder: memoria.Embedder) -> None:
    """Write the graph."""
    store = memoria.Store(driver, database="neo4j")
    await memoria.apply_schema(store, dimensions=embedder.dimensions, embedder=embedder.name)
    edges = relations(folder)
    for scope, nodes in memories(folder).items():
        writer = memoria.GraphWriter(store, scope=scope, kinds=KINDS)
        report = await writer.write(nodes, edges[scope])
        print(f"{scope}: {report.memories} memories, {report.relations} edges")


async def measure(
    driver: neo4j.AsyncDriver, folder: Path, embedder: memoria.Embedder, count: int
) -> None:
    """Ask the questions in both settings, and print the medians."""
    configs = {
        name: memoria.RetrieverConfig(explore=memoria.ExploreConfig(seeds_per_session=size))
        for name, size in (("1 seed a session", 1), ("all seeds in one session", None))
    }
    timings: dict[str, list[dict[str, float]]] = {name: [] for name in configs}
    reached: list[int] = []
    questions = list(lines(folder / "questions.dev.jsonl"))[: count + WARM_UP]
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
                    row["explore"] -= row["hydrate"]  # in a recall, texts come after all levels
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


async def main() -> None:
    """Load and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--questions", type=int, default=200)
    arguments = parser.parse_args()
    embedder = memoria.OnnxEmbedder("all-minilm-l6-v2-q")
    async with LocalNeo4j.ephemeral() as server:
        target = Target(uri=server.uri, auth=server.auth, database="neo4j")
        async with open_driver(target, memoria.StoreConfig()) as driver:
            await load(driver, arguments.data, embedder)
            await measure(driver, arguments.data, embedder, arguments.questions)


if __name__ == "__main__":
    asyncio.run(main())
