"""Measure what links by cosine do to recall: datasets without their edges, with and without links.

    scripts/bench linked DATASET_DIR ... [--limit 160]

DATASET_DIR is a folder in the format of `memoria evaluate`; of its graph only the ranked memories
are written, so links are the only edges. Starts a throw-away Neo4j. Each set is asked without
links, then once for each way to link. Prints Markdown: recall at 10 in percent, and the paired
difference from the same questions without links.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.sets import measure_sets
from memoria._support.progress import progress_bars
from memoria.embed import Embedder
from memoria.evaluation import (
    Dataset,
    EvaluationConfig,
    Scores,
    ask_all,
    bootstrap,
    load_dataset,
    score,
)
from memoria.learn.link import CompositeLinkConfig, LinkConfig, Linker, SimilarityLinkConfig
from memoria.store import Store

K = 10
ADVERSARIAL = "adversarial"
#: Without `unrelated_cosine`, the thresholds count from the embedder's own unrelated cosine.
CONFIGS: Mapping[str, LinkConfig] = {
    "composite, cosines from 0": CompositeLinkConfig(unrelated_cosine=0.0),
    "composite": CompositeLinkConfig(),
    "similarity, cosines from 0": SimilarityLinkConfig(unrelated_cosine=0.0),
    "similarity": SimilarityLinkConfig(),
}


def without_edges(dataset: Dataset) -> Dataset:
    """Return the ranked memories of a dataset alone."""
    memories = {
        scope: tuple(m for m in found if m.kind in dataset.item_kinds)
        for scope, found in dataset.memories.items()
    }
    return replace(
        dataset,
        memories=memories,
        relations=dict.fromkeys(memories, ()),
        questions=tuple(q for q in dataset.questions if q.category != ADVERSARIAL),
    )


async def measure(store: Store, dataset: Dataset, embedder: Embedder, limit: int) -> None:
    """Ask without links and with each kind of links; print a row for each."""
    dataset = without_edges(dataset)
    with progress_bars() as progress:
        await load_dataset(store, dataset, embedder=embedder, progress=progress)
    settings = EvaluationConfig(ks=(K,), limit=limit)

    async def ask() -> Scores:
        [run] = await ask_all(store, dataset, embedder=embedder, config=settings)
        gold = {q.id: q.gold for q in dataset.questions if q.id in run.rankings}
        return score(gold, run.rankings, [K])

    plain = (await ask()).recall
    memories = sum(map(len, dataset.memories.values()))
    print(f"| {dataset.name} | none | {len(plain)} | 0 | {100 * plain.mean():.1f} | |", flush=True)
    for name, config in CONFIGS.items():
        edges = 0
        for scope in dataset.memories:
            linker = Linker(store, scope=scope, config=config)
            await linker.prune(below=1.0)
            edges += (await linker.link()).edges
        found = (await ask()).recall
        [gain] = bootstrap(100 * np.asarray(found - plain))
        print(
            f"| {dataset.name} | {name} | {len(plain)} | {edges / memories:.1f} | "
            f"{100 * found.mean():.1f} | {gain.mean:+.1f} ({gain.low:.1f} to {gain.high:.1f}) |",
            flush=True,
        )


def main(arguments: Sequence[str]) -> None:
    """Measure each dataset, print."""
    measure_sets(
        arguments,
        name="linked",
        description=__doc__,
        limit=160,
        columns=("set", "links", "questions", "edges a memory", f"recall@{K}", "against none"),
        measure=measure,
    )
