"""Pack the memories that a recall found and ranked into its context.

In: explorations and hits with texts, and their ranking. Out: `ContextPack`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memoria._support.wording import number_of
from memoria.config import RetrieverConfig
from memoria.context import ContextBuilder, CountTokens
from memoria.recall.texts import Completed
from memoria.types import ContextPack, RankedMemory

# Least worth of a memory that was reached. It is above zero, so that even a memory that was reached
# without energy comes before the hits from which nothing was explored.
_LEAST_WORTH = 1e-9


def worth_of(
    found: Completed, ranked: Iterable[RankedMemory], config: RetrieverConfig
) -> dict[str, float]:
    """Return the worth of each memory in the context: id -> worth, >= 0, on one scale.

    A relevance model ranks all memories. Without a model, a memory that was reached has the score
    of the strategy, and the hits from which nothing was explored come after all of these memories,
    in the order of their scores in the search.
    """
    worth = {entry.memory.id: entry.score for entry in ranked}
    if config.relevance is not None:
        return worth
    worth = {id_: max(score, _LEAST_WORTH) for id_, score in worth.items()}
    below = min(worth.values(), default=1.0) / 2
    hits = {path.seed_id: below * path.energy for path in found.hits}
    return hits | worth


def irrelevant_of(ranked: Iterable[RankedMemory], config: RetrieverConfig) -> frozenset[str]:
    """Return the ids of the memories that are too unlikely to be evidence to enter the context."""
    return frozenset(entry.memory.id for entry in ranked if _is_below(entry, config))


def note_of(ranked: Sequence[RankedMemory], config: RetrieverConfig) -> str | None:
    """Say that nothing is relevant, if no memory that was found may enter; else return None."""
    if not ranked or not all(_is_below(entry, config) for entry in ranked):
        return None
    best = max(entry.relevance or 0.0 for entry in ranked)
    return (
        f"nothing is relevant: the best of {number_of(len(ranked), 'memory', 'memories')} has "
        f"{best:.2g}, below min_relevance {config.context.min_relevance:g}"
    )


def _is_below(entry: RankedMemory, config: RetrieverConfig) -> bool:
    return entry.relevance is not None and entry.relevance < config.context.min_relevance


def pack(
    found: Completed,
    ranked: Iterable[RankedMemory],
    near: Iterable[tuple[str, str]],
    config: RetrieverConfig,
    count_tokens: CountTokens | None,
) -> ContextPack:
    """Pack the memories that fit the budget.

    Parameters
    ----------
    ranked
        The memories in their order.
    near
        Pairs of ids whose vectors say that they are duplicates.
    """
    builder = ContextBuilder(config.budget_tokens, config=config.context, count_tokens=count_tokens)
    for exploration in found.explorations:
        for path in exploration.paths:
            builder.add(path)
    for path in found.hits:
        builder.add(path)
    return builder.build(
        near=near,
        worth=worth_of(found, ranked, config),
        irrelevant=irrelevant_of(ranked, config),
    )
