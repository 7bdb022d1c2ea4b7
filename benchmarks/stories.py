"""Recall the questions of the sample and of the stories, from one throw-away Neo4j.

In: nothing but the files of the repository. Out: recalls, each with the memories that it should
find. The sample comes with the package; the stories are ``tests/data/chains``, whose answers stand
two to four edges from the words of the question. Both are embedded by the default embedder.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import memoria
from benchmarks.environment import ROOT
from memoria.evaluation import load_dataset, read_dataset
from memoria.evaluation.sample import QUESTIONS, sample_path
from memoria.ingest import ingest_files
from memoria.local import LocalNeo4j
from memoria.store import Target, open_driver

SAMPLE = "sample"
CHAINS = "chains"
STORIES = ROOT / "tests" / "data" / CHAINS
TIMEOUT_S = 120.0  # of each query and recall: a server that has just started is slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A recall, and what it should find.

    Attributes
    ----------
    source
        `SAMPLE` or `CHAINS`.
    question
        The question.
    expects
        Ids of the memories that together answer it.
    recall
        What was found, with default settings.
    """

    source: str
    question: str
    expects: frozenset[str]
    recall: memoria.Recall


async def tell() -> AsyncGenerator[Told]:
    """Start a server, load both, and ask each question once."""
    embedder = memoria.OnnxEmbedder()
    await embedder.load()
    async with LocalNeo4j.ephemeral() as server:
        target = Target(uri=server.uri, auth=server.auth)
        async with open_driver(target, memoria.StoreConfig()) as driver:
            config = memoria.StoreConfig(query_timeout_s=TIMEOUT_S)
            store = memoria.Store(driver, database=target.database, config=config)
            await memoria.apply_schema(store, embedder=embedder)
            retriever = memoria.GraphRetriever(
                store,
                scope=SAMPLE,
                embedder=embedder,
                config=memoria.RetrieverConfig(deadline_s=TIMEOUT_S),
            )
            async for told in _sample(retriever):
                yield told
            async for told in _stories(retriever, embedder):
                yield told


async def _sample(retriever: memoria.GraphRetriever) -> AsyncGenerator[Told]:
    await ingest_files(retriever.writer(), [sample_path()])
    for question in QUESTIONS:
        recall = await retriever.recall(question.text, query_tags=question.tags)
        yield Told(
            source=SAMPLE,
            question=question.text,
            expects=frozenset(question.expects),
            recall=recall,
        )


async def _stories(
    retriever: memoria.GraphRetriever, embedder: memoria.Embedder
) -> AsyncGenerator[Told]:
    data = read_dataset(STORIES)
    await load_dataset(retriever.store, data, embedder=embedder)
    for question in data.questions:
        recall = await retriever.for_scope(question.scope).recall(
            question.text, kinds=data.item_kinds
        )
        yield Told(
            source=CHAINS,
            question=question.text,
            expects=frozenset(question.gold),
            recall=recall,
        )
