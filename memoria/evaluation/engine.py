"""The real engine on a dataset: plain calls of `GraphRetriever.recall` with the given settings.

In: a question. Out: a `Recall`, or the ids that it ranks. Reads only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from memoria.embed import Embedder
from memoria.evaluation.dataset import Dataset, Question
from memoria.recall.config import RetrieverConfig
from memoria.recall.probing import embed_examples
from memoria.retriever import GraphRetriever
from memoria.store import Store
from memoria.types import MemoryFilter, RankedMemory, Recall

Engine = Callable[[Question], Awaitable[Recall]]


async def open_engine(
    store: Store, dataset: Dataset, *, embedder: Embedder | None, config: RetrieverConfig
) -> Engine:
    """Open a retriever that asks each question in its scope, at its time, for the ranked kinds.

    In a chat all kinds are ranked, so no filter by kind is needed.
    """
    scopes = list(dataset.memories)
    retriever = GraphRetriever(store, scope=scopes[0], embedder=embedder, config=config)
    await retriever.server_facts()
    if retriever.embedder is not None:
        await embed_examples(retriever.embedder)

    async def ask(question: Question) -> Recall:
        own = retriever.for_scope(question.scope)
        where = MemoryFilter(
            kinds=None if dataset.chats else dataset.item_kinds, created_before=question.asked_at
        )
        return await own.recall(question.text, where=where, as_of=question.asked_at)

    return ask


def ranked_items(recall: Recall, kinds: Collection[str]) -> list[RankedMemory]:
    """Return the ranked memories of a recall that are of the given kinds, best first."""
    return [entry for entry in recall.ranked if entry.memory.kind in kinds]


def ranking(recall: Recall, kinds: Collection[str]) -> list[str]:
    """Return the ids that a recall ranks, best first.

    Where a recall ranks by energy alone, the other hits of the search come after the ranked
    memories.
    """
    ranked = [entry.id for entry in ranked_items(recall, kinds)]
    hits = [hit.seed_id for hit in recall.hits if hit.memories[0].kind in kinds]
    return list(dict.fromkeys([*ranked, *hits]))
