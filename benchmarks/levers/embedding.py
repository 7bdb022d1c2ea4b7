"""Choices about embedding with the default model: its threads, and a cache of queries.

In: a server, questions. Out: `Lever`s. Touches memoria's home, where the model lies; reads the
server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.levers.lever import Lever, Run
from benchmarks.race.cases import Question
from benchmarks.race.load import SCOPE
from benchmarks.race.serve import DATABASE, EMBEDDER, Served
from memoria.embed import CachedEmbedder, OnnxEmbedder
from memoria.retriever import GraphRetriever

TEXTS = 16
CASES = 24
WARM_UP = 4


class AsStored:
    """An embedder under the name that the benchmark's vectors are recorded with."""

    name = EMBEDDER

    def __init__(self, embedder: OnnxEmbedder) -> None:
        self._embedder = embedder
        self.dimensions = embedder.dimensions

    async def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Embed texts to be stored."""
        return await self._embedder.embed_documents(texts)

    async def embed_query(self, text: str) -> list[float]:
        """Embed a text to search with."""
        return await self._embedder.embed_query(text)


async def embedding_levers(served: Served, questions: Sequence[Question]) -> list[Lever]:
    """Both choices; the model is loaded beforehand."""
    one, two = OnnxEmbedder(threads=1), OnnxEmbedder(threads=2)
    for embedder in (one, two):
        await embedder.load()
    texts = served.graph.texts(0, TEXTS * CASES)
    asked = questions[:CASES]
    stored = AsStored(two)
    return [
        Lever(
            kept=f"{TEXTS} texts embedded in two threads",
            against="in one (`threads=1`)",
            cases=[texts[start : start + TEXTS] for start in range(0, len(texts), TEXTS)],
            warm_up=WARM_UP,
            ours=two.embed_documents,
            other=one.embed_documents,
        ),
        Lever(
            kept="whole recall with the default embedder, asked again",
            against="with `CachedEmbedder`",
            cases=[*asked, *asked],
            warm_up=len(asked),  # the first round fills the cache
            ours=_recalls(served, stored),
            other=_recalls(served, CachedEmbedder(stored)),
        ),
    ]


def _recalls(served: Served, embedder: AsStored | CachedEmbedder) -> Run:
    retriever = GraphRetriever(served.driver, scope=SCOPE, database=DATABASE, embedder=embedder)

    async def run(question: Question) -> Any:
        recall = await retriever.recall(question.text, query_tags=question.tags, deadline_s=60)
        return [each.memory.id for each in recall.ranked]

    return run
