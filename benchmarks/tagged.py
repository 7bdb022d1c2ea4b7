"""Measure what tags that a query takes from its own words do to recall, on datasets.

    scripts/bench tagged DATASET_DIR ... [--limit 120]

DATASET_DIR is a folder in the format of `memoria evaluate`. Each edge to a connecting node, such as
a name or a keyword, gets the text of that node as its tag; so what a question names is a tag of the
edges of what it names. Starts a throw-away Neo4j. Each question is asked without tags, with
``query_tags="auto"``, and with these tags and a higher floor for edges that share none. Prints
Markdown: recall at 10 in percent, and the paired difference from asking without tags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.sets import measure_sets
from memoria import GraphRetriever, RetrieverConfig, TransferEnergy
from memoria._support.progress import progress_bars
from memoria.embed import Embedder
from memoria.evaluation import Dataset, Question, bootstrap, load_dataset
from memoria.evaluation.asking import chosen_questions
from memoria.evaluation.engine import ranking
from memoria.recall.call import AUTO, QueryTags
from memoria.store import Store
from memoria.types import Relation

K = 10
ADVERSARIAL = "adversarial"
DEADLINE_S = 60.0
MAX_TAG_CHARS = 100
#: Name -> tags of the query, and the floor of the similarity of tags.
WAYS: Mapping[str, tuple[QueryTags, float]] = {
    "none": ((), 0.15),
    "auto": (AUTO, 0.15),
    "auto, floor 0.5": (AUTO, 0.5),
    "auto, floor 0.8": (AUTO, 0.8),
}


def tagged(dataset: Dataset) -> Dataset:
    """Return the dataset with the texts of connecting nodes as tags of their edges."""
    known = {
        memory.id: memory.text
        for memories in dataset.memories.values()
        for memory in memories
        if memory.kind not in dataset.item_kinds and 0 < len(memory.text) <= MAX_TAG_CHARS
    }

    def with_tags(relation: Relation) -> Relation:
        ends = (relation.source, relation.target)
        return replace(relation, tags=[known[end] for end in ends if end in known])

    return replace(
        dataset,
        relations={
            scope: tuple(with_tags(edge) for edge in edges)
            for scope, edges in dataset.relations.items()
        },
        questions=tuple(q for q in dataset.questions if q.category != ADVERSARIAL),
    )


async def measure(store: Store, dataset: Dataset, embedder: Embedder, limit: int) -> None:
    """Ask in every way; print a row for each."""
    dataset = tagged(dataset)
    with progress_bars() as progress:
        await load_dataset(store, dataset, embedder=embedder, progress=progress)
    questions = chosen_questions(dataset.questions, limit)
    found: dict[str, list[float]] = {}
    for name, (tags, floor) in WAYS.items():
        config = RetrieverConfig(
            strategy=TransferEnergy(tag_sim_floor=floor), deadline_s=DEADLINE_S
        )
        retriever = GraphRetriever(
            store, scope=questions[0].scope, embedder=embedder, config=config
        )
        asked = [await ask(retriever, dataset, question, tags) for question in questions]
        found[name] = [share for share, _ in asked]
        [gain] = bootstrap(100 * (np.array(found[name]) - np.array(found["none"]))[:, None])
        with_tags = sum(count > 0 for _, count in asked)
        print(
            f"| {dataset.name} | {name} | {with_tags} of {len(questions)} "
            f"| {100 * np.mean(found[name]):.1f} "
            f"| {gain.mean:+.1f} ({gain.low:.1f} to {gain.high:.1f}) |",
            flush=True,
        )


async def ask(
    retriever: GraphRetriever, dataset: Dataset, question: Question, tags: QueryTags
) -> tuple[float, int]:
    """Return the share of the evidence among the first memories, and the number of tags."""
    own = retriever.for_scope(question.scope)
    recall = await own.recall(question.text, query_tags=tags, kinds=dataset.item_kinds)
    first = {*ranking(recall, dataset.item_kinds)[:K]}
    return len(first & {*question.gold}) / len({*question.gold}), len(recall.trace.query_tags)


def main(arguments: Sequence[str]) -> None:
    """Measure each dataset, print."""
    measure_sets(
        arguments,
        name="tagged",
        description=__doc__,
        limit=120,
        columns=("set", "tags of the query", "with tags", f"recall@{K}", "against none"),
        measure=measure,
    )
