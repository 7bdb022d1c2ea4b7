"""Whole recalls, from words and their vector to a context: memoria, and neo4j-graphrag.

In: a server and the questions. Out: `Contender`s. Reads only.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import neo4j
from neo4j_graphrag.retrievers import HybridCypherRetriever

from benchmarks.queries import text_of
from benchmarks.race.cases import Question
from benchmarks.race.contender import Contender, Outcome
from benchmarks.race.graphs import DIMENSIONS
from benchmarks.race.load import SCOPE
from benchmarks.race.names import ONE_HOP, RECALL, RECALL_STREAMED, TWO_HOPS
from benchmarks.race.serve import DATABASE, EMBEDDER, Served
from memoria.embed import CallableEmbedder
from memoria.graph.vocabulary import TEXT_INDEX, VECTOR_INDEX
from memoria.recall.config import RetrieverConfig
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.store.config import StoreConfig

TOP_K = 5


def make_retriever(served: Served, questions: Sequence[Question]) -> GraphRetriever:
    """Make memoria as `retriever_on` does, on a server's driver."""
    return retriever_on(served.driver, questions)


def retriever_on(
    driver: neo4j.AsyncDriver,
    questions: Sequence[Question],
    *,
    config: RetrieverConfig | None = None,
    store: StoreConfig | None = None,
) -> GraphRetriever:
    """Make memoria with an embedder that has the vectors at hand; None: the default settings."""
    vectors = {question.text: question.vector.tolist() for question in questions}

    async def embed(texts: list[str]) -> list[list[float]]:
        return [vectors[text] for text in texts]

    embedder = CallableEmbedder(embed, dimensions=DIMENSIONS, name=EMBEDDER)
    return GraphRetriever(
        Store(driver, database=DATABASE, config=store),
        scope=SCOPE,
        embedder=embedder,
        config=config,
    )


def memoria_recalls(retriever: GraphRetriever) -> list[Contender]:
    """Memoria in one piece, and streaming."""

    async def whole(question: Question) -> Outcome:
        recall = await retriever.recall(question.text, query_tags=question.tags, deadline_s=60)
        levels = max((found.stats.levels for found in recall.explorations), default=0)
        return Outcome(
            levels=levels,
            notes={"stages": dict(recall.trace.timings_s), "degraded": recall.trace.degraded},
        )

    async def streamed(question: Question) -> Outcome:
        started = time.perf_counter()
        first_s = None
        stream = retriever.recall_stream(question.text, query_tags=question.tags, deadline_s=60)
        async for _ in stream:
            first_s = first_s or time.perf_counter() - started
        return Outcome(first_s=first_s)

    return [Contender(name=RECALL, run=whole), Contender(name=RECALL_STREAMED, run=streamed)]


@asynccontextmanager
async def graphrag_recalls(served: Served) -> AsyncIterator[list[Contender]]:
    """neo4j-graphrag's hybrid search with a tail of one hop, and of two."""
    target = served.target
    with neo4j.GraphDatabase.driver(
        target.uri, auth=target.auth, notifications_min_severity="OFF"
    ) as driver:
        yield [
            _hybrid(driver, ONE_HOP, "one_hop"),
            _hybrid(driver, TWO_HOPS, "two_hops"),
        ]


def _hybrid(driver: neo4j.Driver, name: str, tail: str) -> Contender:
    retriever = HybridCypherRetriever(
        driver,
        vector_index_name=VECTOR_INDEX,
        fulltext_index_name=TEXT_INDEX,
        retrieval_query=text_of(tail),
        neo4j_database=DATABASE,
    )

    async def run(question: Question) -> Outcome:
        # It blocks; nothing else runs meanwhile.
        found = retriever.search(
            query_text=question.text, query_vector=question.vector.tolist(), top_k=TOP_K
        )
        return Outcome(notes={"rows": len(found.items)})

    return Contender(name=name, run=run)
