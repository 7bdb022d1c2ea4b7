"""What a recall found, as frameworks take it: exactly k memories, each with its metadata.

In: a query. Out: ranked memories; metadata without vectors. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from memoria._support.checks import check_whole
from memoria.integrations._scopes import joined
from memoria.recall.call import QueryTags
from memoria.retriever import GraphRetriever
from memoria.types import MemoryFilter, RankedMemory, Recall

#: A recall ranks what two searches of at most 1,000 hits found, and what energy reached from there.
MAX_K = 1_000
#: Keys of the metadata that `metadata_of` adds to those of the memory.
KEYS = (
    "_depth",
    "_score",
    "_similarity_score",
    "memoria_id",
    "memoria_kind",
    "memoria_created_at",
    "memoria_path",
    "memoria_recall_id",
    "memoria_relevance",
)
#: Key of the scope of a memory, where several are read.
SCOPE_KEY = "memoria_scope"


async def find(
    memory: GraphRetriever,
    query: str,
    *,
    k: int,
    query_tags: QueryTags = (),
    where: MemoryFilter | None = None,
    scopes: Iterable[str] | None = None,
) -> tuple[Recall, tuple[RankedMemory, ...]]:
    """Recall, and return the best ``k`` memories; fewer only if fewer were found.

    Parameters
    ----------
    k
        Number of memories; 1 to 1,000.
    scopes
        As in `GraphRetriever.recall`.

    Raises
    ------
    InvalidInputError
        ``k`` is out of its range, or the query is blank.
    """
    check_whole(k, "k", low=1, high=MAX_K)
    config = memory.config
    if k > config.seed_search.candidates:
        config = replace(config, seeds=replace(config.seed_search, candidates=k))
    recall = await memory.recall(
        query, query_tags=query_tags, where=where, scopes=scopes, config=config
    )
    return recall, recall.ranked[:k]


def metadata_of(recall: Recall, ranked: RankedMemory) -> dict[str, Any]:
    """Return the metadata of a memory: its own, and how this recall found it.

    Returns
    -------
    dict
        ``_depth``: hops from the seed to the memory; ``_score``: as in `RankedMemory`;
        ``_similarity_score``: cosine with the query, or None where the search by vectors did not
        find the memory; ``memoria_path``: ids from the seed to the memory; ``memoria_recall_id``:
        id of the trace; ``memoria_scope`` only where several scopes are read. JSON can hold all of
        it.
    """
    memory, ids = ranked.memory, ranked.path.ids
    depth = ids.index(memory.id)
    created = memory.created_at
    values = (
        depth,
        ranked.score,
        _cosines(recall).get((ranked.scope, memory.id)),
        memory.id,
        memory.kind,
        None if created is None else created.isoformat(),
        list(ids[: depth + 1]),
        recall.trace.id,
        ranked.relevance,
    )
    scope = {SCOPE_KEY: ranked.scope} if ranked.scope else {}
    return {**memory.metadata, **dict(zip(KEYS, values, strict=True)), **scope}


def id_of(ranked: RankedMemory, own: str = "") -> str:
    """Return the id of a memory for a framework; with its scope, where several are read.

    The ids of memories of the scope ``own`` stay as they are: the framework may delete by them.
    """
    return ranked.id if ranked.scope in ("", own) else joined([ranked.scope, ranked.id])


def _cosines(recall: Recall) -> Mapping[tuple[str, str], float]:
    seeds = recall.seeds
    found = (*seeds.seeds, *seeds.runners_up)
    return {
        (seed.scope, seed.id): seed.vector_score for seed in found if seed.vector_score is not None
    }
