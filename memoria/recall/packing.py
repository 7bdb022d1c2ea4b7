"""Pack what a recall found and ranked into its context.

In: explorations and hits with texts, and their ranking. Out: `ContextPack`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memoria.config import RetrieverConfig
from memoria.context import ContextBuilder, CountTokens
from memoria.recall.texts import Completed
from memoria.types import ContextPack, Path, RankedMemory


def pack(
    found: Completed,
    ranked: Iterable[RankedMemory],
    near: Iterable[tuple[str, str]],
    config: RetrieverConfig,
    count_tokens: CountTokens | None,
) -> ContextPack:
    """Pack what fits the budget.

    Parameters
    ----------
    near
        Pairs of ids that are duplicates by their vectors.
    """
    builder = ContextBuilder(config.budget_tokens, config=config.context, count_tokens=count_tokens)
    for exploration in found.explorations:
        for path in exploration.paths:
            builder.add(path)
    for path in found.hits:
        builder.add(path)
    worth = {entry.memory.id: entry.score for entry in ranked}
    return builder.build(near=near, worth=worth if config.relevance else None)


def ids_by_score(
    hits: Sequence[Path], ranked: Iterable[RankedMemory], config: RetrieverConfig
) -> list[str]:
    """Return the ids of what was found, best first."""
    # A relevance model ranks the hits too, on a scale of its own.
    hits = () if config.relevance else hits
    scores = {path.seed_id: path.energy for path in hits}
    for entry in ranked:
        scores[entry.memory.id] = max(entry.score, scores.get(entry.memory.id, 0.0))
    return sorted(scores, key=lambda node: (-scores[node], node))
