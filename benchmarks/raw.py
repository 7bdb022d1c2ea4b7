"""Compare the graph that memoria builds from raw texts with a prepared graph.

    scripts/bench raw DIR --limit 240 --exclude-category adversarial

DIR is a dataset of conversations or of passages (``docs/evaluation.md``). Only the texts of its
nodes are used: `ConversationWriter` builds a graph from utterances, as ``memoria evaluate --raw``
does, and `DocumentWriter` from passages (title, text). The questions are then asked twice, with the
same settings and vectors: in the graph that came with the dataset, and in ours. The parts of a long
text count as one text, with the rank of the first part.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.locomo import lines
from benchmarks.server import add_server, opened, parser_of
from benchmarks.vectors import IN_MEMORY, KeptVectors
from memoria import StoreConfig
from memoria.embed import Embedder, OnnxEmbedder
from memoria.evaluation import (
    Dataset,
    EvaluationConfig,
    Question,
    Run,
    ask_all,
    bootstrap,
    load_dataset,
    prepare,
    read_dataset,
    score,
)
from memoria.evaluation.files import find_file
from memoria.graph.stats import scope_stats
from memoria.graph.vocabulary import whole_id
from memoria.learn.link import Linker
from memoria.remember.documents import DocumentConfig, DocumentWriter
from memoria.remember.ids import document_id
from memoria.store import Store
from memoria.types import Document

KS = (5, 10, 25)
QUERY_TIMEOUT_S = 120.0
KIND = "Event"


def read_passages(folder: Path, split: str = "dev") -> list[Document]:
    """Read the passages of a dataset in order."""
    path = find_file(folder, "nodes", split)
    assert path is not None, f"{folder} has no nodes"  # noqa: S101  # read_dataset has read them
    return [
        Document(id=node["id"], title=node.get("title"), text=node["text"])
        for node in lines(path)
        if node["kind"] == "passage"
    ]


def without(dataset: Dataset, excluded: Sequence[str]) -> Dataset:
    """Return a dataset without the questions of these categories."""
    kept = tuple(q for q in dataset.questions if q.category not in excluded)
    return replace(dataset, questions=kept)


async def write_passages(
    store: Store, dataset: Dataset, passages: Sequence[Document], embedder: Embedder
) -> Dataset:
    """Write the passages into scopes of their own; return the dataset with these scopes."""
    now = datetime(2000, 1, 1, tzinfo=UTC)
    scopes = {scope: f"{scope}/raw" for scope in dataset.memories}
    for scope in scopes.values():
        writer = DocumentWriter(
            store,
            scope=scope,
            embedder=embedder,
            config=DocumentConfig(kind=KIND),
            clock=lambda: now,
        )
        done = await writer.write(passages)
        print(f"  {done.names} edges to documents by their titles, {done.topics} topics")
    return replace(
        dataset,
        memories=dict.fromkeys(scopes.values(), ()),
        relations=dict.fromkeys(scopes.values(), ()),
        questions=tuple(replace(q, scope=scopes[q.scope]) for q in dataset.questions),
        item_kinds=(KIND,),
        vectors={},
    )


def as_given(run: Run, passages: Sequence[Document]) -> Mapping[str, Sequence[str]]:
    """Return the rankings in the dataset's ids; a passage has the rank of its first part."""
    ids = {document_id("", passage.id): passage.id for passage in passages}
    return {
        question: list(dict.fromkeys(ids.get(whole_id(id_), id_) for id_ in ranked))
        for question, ranked in run.rankings.items()
    }


async def ask(
    store: Store, dataset: Dataset, embedder: Embedder, limit: int | None
) -> tuple[Run, tuple[Question, ...]]:
    """Ask the questions, as ``memoria evaluate`` does."""
    config = EvaluationConfig(ks=KS, limit=limit)
    (run,) = await ask_all(store, dataset, embedder=embedder, config=config)
    asked = [q for q in dataset.questions if q.id in run.rankings]
    return run, tuple(asked)


def recall_of(asked: Sequence[Question], rankings: Mapping[str, Sequence[str]]) -> np.ndarray:
    """Return the recall of each question at each k; (questions, K)."""
    return score({q.id: q.gold for q in asked}, rankings, KS).recall


def show(name: str, recall: np.ndarray, run: Run) -> None:
    """Print the figures of one graph."""
    figures = "  ".join(
        f"R@{k} {100 * each.mean:5.1f} ({100 * each.low:.1f} to {100 * each.high:.1f})"
        for k, each in zip(KS, bootstrap(recall), strict=True)
    )
    p50_ms = 1_000 * float(np.median(run.latencies_s))
    print(f"{name:<22}{figures}  p50 {p50_ms:.0f} ms", flush=True)


async def compare(
    store: Store, folder: Path, embedder: Embedder, options: argparse.Namespace
) -> None:
    """Write both graphs of a dataset, ask the questions, and print the figures."""
    dataset = without(read_dataset(folder), options.exclude_category)
    print(f"{dataset.name}: {len(dataset.questions)} questions")
    await load_dataset(store, dataset, embedder=embedder)
    prepared, asked = await ask(store, dataset, embedder, options.limit)
    base = recall_of(asked, prepared.rankings)
    show("prepared", base, prepared)
    started = time.perf_counter()
    passages = read_passages(folder)
    if passages:
        ours = await write_passages(store, dataset, passages, embedder)
    else:
        ours = without(read_dataset(folder, raw=True), options.exclude_category)
        await load_dataset(store, ours, embedder=embedder)
    seconds = time.perf_counter() - started
    for name in ("raw", "raw, linked") if options.links else ("raw",):
        if name != "raw":
            for scope in ours.memories:
                await Linker(store, scope=scope).link()
        run, _ = await ask(store, ours, embedder, options.limit)
        recall = recall_of(asked, as_given(run, passages))
        show(name, recall, run)
        show("  minus prepared", recall - base, run)
        sizes = [await scope_stats(store, scope) for scope in ours.memories]
        memories, edges = sum(each.memories for each in sizes), sum(each.edges for each in sizes)
        print(f"  {memories} memories, {edges} edges, written in {seconds:.1f} s")


async def measure(options: argparse.Namespace) -> None:
    """Compare both graphs of each dataset."""
    embedder = KeptVectors(OnnxEmbedder(), options.vectors)
    config = StoreConfig(query_timeout_s=QUERY_TIMEOUT_S)
    async with opened(options, config) as driver:
        store = Store(driver, database=options.database, config=config)
        await prepare(store, embedder)
        for folder in options.folders:
            await compare(store, folder, embedder, options)


def main(arguments: Sequence[str]) -> None:
    """Read the command line, and measure."""
    parser = parser_of("raw", __doc__)
    add_server(parser)
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--limit", type=int, help="questions to ask, evenly spread")
    parser.add_argument("--exclude-category", action="append", default=[])
    parser.add_argument("--links", action="store_true", help="also with links by cosine")
    parser.add_argument("--vectors", default=IN_MEMORY, help="file that keeps the vectors of texts")
    asyncio.run(measure(parser.parse_args(arguments)))
