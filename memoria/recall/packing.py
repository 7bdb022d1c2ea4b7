"""Pack the memories that a recall found and ranked into its context.

In: explorations and hits with texts, and their ranking. Out: `ContextPack`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from memoria._support.wording import number_of
from memoria.graph.connectors import connectors_on
from memoria.graph.vocabulary import whole_id
from memoria.recall.config import RetrieverConfig
from memoria.recall.context import ContextBuilder, left_out, with_links
from memoria.recall.ranking import NOTHING_KNOWN
from memoria.recall.texts import Completed, path_of
from memoria.types import ContextItem, ContextPack, Exploration, RankedMemory, Seeds
from memoria.types.results import best_relevance

# Least worth of a memory that was reached. It is above zero, so that even a memory that was reached
# without energy comes before the hits from which nothing was explored.
_LEAST_WORTH = 1e-9
# Least worth of the other parts of the best document, as a share of the worth of its best part: the
# surroundings of an answer come before hardly relevant memories from elsewhere.
_OF_THE_BEST = 0.2
#: Relevance of the best memory below which readers are warned. It is the probability of being
#: evidence, so below this limit fewer than one in three best memories are.
WEAK_RELEVANCE = 0.3
#: Beginning of the note that the context is empty because of the limits of relevance.
NOTHING_RELEVANT = "nothing is relevant"


def worth_of(
    found: Completed, ranked: Sequence[RankedMemory], config: RetrieverConfig
) -> dict[str, float]:
    """Return the worth of each memory in the context: id -> worth, >= 0, on one scale.

    With a relevance model, the worth is the score of the model plus a share of what paths bring
    from other memories; other parts of the best document are worth at least a fifth of its best
    part. Without a model, a reached memory has the score of the strategy, and the hits from which
    nothing was explored come after all reached memories, in the order of their search scores.
    """
    worth = {entry.id: entry.score for entry in ranked}
    if config.relevance is not None:
        return _with_parts(ranked, with_links(found.linked, worth))
    worth = {id_: max(score, _LEAST_WORTH) for id_, score in worth.items()}
    below = min(worth.values(), default=1.0) / 2
    hits = {path.seed_id: below * path.energy for path in found.hits}
    return hits | worth


def _with_parts(ranked: Sequence[RankedMemory], worth: Mapping[str, float]) -> dict[str, float]:
    """Return the worth of memories, with the minimum for parts of the best document applied."""
    best = ranked[0].memory if ranked else None
    if best is None or "title" not in best.metadata:
        return dict(worth)
    document, least = whole_id(best.id), _OF_THE_BEST * worth[best.id]
    return {
        id_: max(own, least) if whole_id(id_) == document else own for id_, own in worth.items()
    }


def flat(found: Completed, ranked: Iterable[RankedMemory]) -> Completed:
    """Return the ranked memories as separate hits, so that their context has no trees."""
    hits = tuple(replace(path_of(entry.memory, entry.score), scope=entry.scope) for entry in ranked)
    return replace(found, explorations=(), needed=(), hits=hits, facts=NOTHING_KNOWN)


def relevance_of(ranked: Iterable[RankedMemory]) -> dict[str, float]:
    """Return id -> relevance, a probability, of the memories of which it is known."""
    return {entry.id: entry.relevance for entry in ranked if entry.relevance is not None}


def notes_of(ranked: Sequence[RankedMemory], config: RetrieverConfig) -> tuple[str, ...]:
    """Say that nothing is relevant, if that is why the context is empty, or that little is."""
    best, (name, least) = best_relevance(ranked), config.context.limit_of_best
    if best is None or best >= max(least, WEAK_RELEVANCE):
        return ()
    count = number_of(len(ranked), "memory", "memories")
    if best < least:
        return (f"{NOTHING_RELEVANT}: the best of {count} has {best:.3g}, below {name} {least:g}",)
    return (f"the best of {count} has a relevance of {best:.2g}: they may not answer the question",)


def pack(
    found: Completed,
    ranked: Sequence[RankedMemory],
    worth: Mapping[str, float],
    builder: ContextBuilder,
    *,
    query: str,
    near: Sequence[tuple[str, str]] = (),
) -> ContextPack:
    """Pack the memories that fit the budget, those with the most ``worth`` first.

    Parameters
    ----------
    builder
        Without a path yet; it has the budget.
    query
        The question; its words decide which sentences of long texts are shown.
    near
        Pairs of ids whose vectors say that they are duplicates.
    """
    for path in (*found.linked, *found.hits):
        builder.add(path)
    builder.set_edges(found.facts.edges)
    return builder.build(
        near=near,
        worth=worth,
        relevance=relevance_of(ranked),
        hidden=left_out(found.linked, worth),
        newer={entry.id: entry.newer for entry in ranked if entry.newer is not None},
        query=query,
    )


def packed(ranked: Iterable[RankedMemory], context: ContextPack) -> tuple[str, ...]:
    """Return the ids of the memories in a context, best first."""
    there = {(item.scope, item.id) for item in context.items}
    return tuple(entry.id for entry in ranked if (entry.scope, entry.id) in there)


def contributed(
    seeds: Seeds, explorations: Iterable[Exploration], items: Iterable[ContextItem]
) -> dict[str, int]:
    """Count what the energy brought, besides what the search had found; see `Trace`."""
    hits = {seed.id for seed in (*seeds.seeds, *seeds.runners_up)}
    paths = [path for found in explorations for path in found.paths]
    reached = {hop.target for path in paths for hop in path.hops} - connectors_on(paths)
    return {
        "reached": len(reached),
        "only_reached": len(reached - hits),
        "packed": len((reached - hits) & {item.id for item in items}),
    }
