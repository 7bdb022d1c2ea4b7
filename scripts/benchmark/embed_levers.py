"""Decisions about embedding, each with the other way: batches, threads, a cache of queries.

In: a server, questions. Out: `Lever`s; both sides of each make the same vectors.
Touches memoria's home, where the model lies; reads the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from memoria._support.home import default_home
from memoria.embed import DEFAULT_ONNX_MODEL, ONNX_MODELS, CachedEmbedder, OnnxEmbedder
from memoria.embed.models import read_files
from memoria.retriever import GraphRetriever
from scripts.benchmark.cases import Question
from scripts.benchmark.lever_queries import Lever
from scripts.benchmark.load import SCOPE
from scripts.benchmark.serve import DATABASE, EMBEDDER, Served

TEXTS = 16
CASES = 24
WARM_UP = 4
DIGITS = 5


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


async def embed_levers(served: Served, questions: Sequence[Question]) -> list[Lever]:
    """Every decision about embedding; the model is loaded beforehand."""
    one, two = OnnxEmbedder(threads=1), OnnxEmbedder(threads=2)
    for embedder in (one, two):
        await embedder.load()
    texts = served.graph.texts(0, TEXTS * CASES)
    batches = [texts[start : start + TEXTS] for start in range(0, len(texts), TEXTS)]
    asked = questions[:CASES]
    return [
        *_documents(one, two, batches),
        *_threads_of_session(two, asked),
        *_cached(served, two, asked),
    ]


def _documents(
    one: OnnxEmbedder, two: OnnxEmbedder, batches: Sequence[Sequence[str]]
) -> list[Lever]:
    """Texts to be stored."""

    async def one_by_one(batch: Sequence[str]) -> Any:
        return [(await two.embed_documents([text]))[0] for text in batch]

    padded = PaddedEncoder(two)

    async def in_one_run(batch: Sequence[str]) -> None:
        await asyncio.to_thread(padded, batch)

    async def without_result(batch: Sequence[str]) -> None:
        await two.embed_documents(batch)

    kept = f"{TEXTS} texts in one call, two threads, a run of the model for each text"
    return [
        Lever(
            kept=kept,
            against="a call for each text",
            cases=batches,
            warm_up=WARM_UP,
            ours=two.embed_documents,
            other=one_by_one,
        ),
        Lever(
            kept=kept,
            against="with one thread",
            cases=batches,
            warm_up=WARM_UP,
            ours=two.embed_documents,
            other=one.embed_documents,
        ),
        Lever(
            kept=kept,
            against="one run of the model in two threads of its own, texts padded (other vectors)",
            cases=batches,
            warm_up=WARM_UP,
            ours=without_result,
            other=in_one_run,
        ),
    ]


class PaddedEncoder:
    """The same network, its session with two threads, all texts in one run."""

    def __init__(self, embedder: OnnxEmbedder) -> None:
        self._encoder = with_threads(embedder, 2)

    def __call__(self, texts: Sequence[str]) -> Any:
        """Return one vector for each text."""
        found = self._encoder.tokenizer.encode_batch_fast(list(texts))
        length = max(len(each.ids) for each in found)
        ids = np.array([each.ids + [0] * (length - len(each.ids)) for each in found])
        inputs = {
            "input_ids": ids,
            "attention_mask": (np.arange(length) < [[len(each.ids)] for each in found]).astype(int),
            "token_type_ids": np.zeros_like(ids),
        }
        pooled = self._encoder.session.run(["last_hidden_state"], inputs)[0][:, 0]
        return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)


def with_threads(embedder: OnnxEmbedder, threads: int) -> Any:
    """Make the default model's encoder once more, its session with so many threads."""
    import onnxruntime

    network, _ = read_files(ONNX_MODELS[DEFAULT_ONNX_MODEL], home=default_home())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        network, sess_options=options, providers=["CPUExecutionProvider"]
    )
    return replace(embedder._load(None), session=session)


def _threads_of_session(embedder: OnnxEmbedder, questions: Sequence[Question]) -> list[Lever]:
    """Embed a query, which is one text, with a session of one thread or two."""
    encoder = with_threads(embedder, 2)
    prefix = ONNX_MODELS[DEFAULT_ONNX_MODEL].query_prefix

    async def ours(question: Question) -> Any:
        return np.round(await embedder.embed_query(question.text), DIGITS).tolist()

    async def other(question: Question) -> Any:
        vector = await asyncio.to_thread(encoder.encode, prefix + question.text)
        return np.round(vector, DIGITS).tolist()

    return [
        Lever(
            kept="a query's vector, the model's session with one thread",
            against="with two",
            cases=questions,
            warm_up=WARM_UP,
            ours=ours,
            other=other,
        )
    ]


def _cached(served: Served, embedder: OnnxEmbedder, questions: Sequence[Question]) -> list[Lever]:
    """Ask what was asked before; the first round of the other side fills the cache."""
    stored = AsStored(embedder)
    cached = CachedEmbedder(stored)

    def retriever(of: AsStored | CachedEmbedder) -> GraphRetriever:
        return GraphRetriever(served.driver, scope=SCOPE, database=DATABASE, embedder=of)

    plain, keeping = retriever(stored), retriever(cached)

    async def embedded(question: Question) -> Any:
        return await stored.embed_query(question.text)

    async def at_hand(question: Question) -> Any:
        return await cached.embed_query(question.text)

    def recalled(by: GraphRetriever) -> Any:
        async def run(question: Question) -> Any:
            recall = await by.recall(question.text, query_tags=question.tags, deadline_s=60)
            return [each.memory.id for each in recall.ranked]

        return run

    again = [*questions, *questions]
    return [
        Lever(
            kept="a query's vector, asked again",
            against="with `CachedEmbedder`",
            cases=again,
            warm_up=len(questions),
            ours=embedded,
            other=at_hand,
        ),
        Lever(
            kept="whole recall with the default embedder, asked again",
            against="with `CachedEmbedder`",
            cases=again,
            warm_up=len(questions),
            ours=recalled(plain),
            other=recalled(keeping),
        ),
    ]
