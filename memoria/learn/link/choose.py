"""Choose which of their nearest memories to link memories with.

In: neighbours, and the facts of both ends. Out: `Link`s, one for each pair. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memoria._support import foreign
from memoria.formulas.edge_score import category_match, composite_score, jaccard
from memoria.formulas.recency import temporal_proximity
from memoria.learn.link.config import CompositeLinkConfig, LinkConfig, SimilarityLinkConfig

#: Edges with a lower weight are not worth keeping (source: 002, section 16).
PRUNE_BELOW = 0.10


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFacts:
    """The values of a memory on which the score of an edge depends.

    Attributes
    ----------
    hours
        Time on the scope's clock at which the memory was learned; hours of use.
    """

    tags: frozenset[str] = frozenset()
    category: str = ""
    topics: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    hours: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An edge between two memories, ``source`` < ``target``.

    Attributes
    ----------
    weight
        0 to 1.
    tags
        Tags that both ends have; sorted.
    finders
        The ends from which the edge was found.
    """

    source: str
    target: str
    weight: float
    tags: tuple[str, ...]
    finders: frozenset[str] = field(compare=False)


def choose_links(
    neighbours: Mapping[str, Iterable[tuple[str, float]]],
    facts: Mapping[str, MemoryFacts],
    config: LinkConfig,
) -> list[Link]:
    """Choose the edges of each memory; an edge found from both ends is returned once.

    Parameters
    ----------
    neighbours
        Memory -> (id, cosine) of the memories near it.
    facts
        Facts of all these memories. A memory without facts is left out, because it was deleted
        meanwhile.
    """
    chosen: dict[tuple[str, str], Link] = {}
    for id_ in sorted(neighbours):
        if id_ not in facts:
            continue
        hits = [(other, cosine) for other, cosine in neighbours[id_] if other in facts]
        for other, weight in _choose(id_, hits, facts, config):
            pair = (id_, other) if id_ < other else (other, id_)
            tags = tuple(sorted(facts[id_].tags & facts[other].tags))
            link = Link(
                source=pair[0], target=pair[1], weight=weight, tags=tags, finders=frozenset([id_])
            )
            chosen[pair] = _merged(chosen[pair], link) if pair in chosen else link
    return [chosen[pair] for pair in sorted(chosen)]


def _merged(one: Link, other: Link) -> Link:
    return replace(one, weight=max(one.weight, other.weight), finders=one.finders | other.finders)


def _choose(
    id_: str, hits: list[tuple[str, float]], facts: Mapping[str, MemoryFacts], config: LinkConfig
) -> Iterable[tuple[str, float]]:
    if isinstance(config, CompositeLinkConfig):
        scored = (
            (other, _composite(cosine, facts[id_], facts[other], config)) for other, cosine in hits
        )
        return _best(((o, s) for o, s in scored if s >= config.min_score), config.max_links)
    return _similar(facts[id_], hits, facts, config)


def _composite(
    cosine: float, one: MemoryFacts, other: MemoryFacts, config: CompositeLinkConfig
) -> float:
    return composite_score(
        cosine,
        tags=jaccard(one.tags, other.tags),
        category=category_match(one.category, other.category),
        temporal=temporal_proximity(one.hours, other.hours, sigma=config.sigma_hours),
        min_cosine=config.least_cosine,
    )


def _similar(
    one: MemoryFacts,
    hits: list[tuple[str, float]],
    facts: Mapping[str, MemoryFacts],
    config: SimilarityLinkConfig,
) -> Iterator[tuple[str, float]]:
    """Yield the nearest by cosine, then memories that share topics or entities."""
    nearest = [
        (other, cosine)
        for other, cosine in _best(hits, config.max_links)
        if cosine >= config.least_cosine
    ]
    yield from nearest
    taken = {other for other, _ in nearest}
    shared = (
        (other, max(cosine, share))
        for other, cosine in hits
        if other not in taken and (share := _shared(one, facts[other])) > 0
    )
    yield from _best(((o, w) for o, w in shared if w >= PRUNE_BELOW), config.max_shared_links)


def _shared(one: MemoryFacts, other: MemoryFacts) -> float:
    """Return the Jaccard of topics and entities; a topic is never the same as an entity."""
    common = len(one.topics & other.topics) + len(one.entities & other.entities)
    every = len(one.topics | other.topics) + len(one.entities | other.entities)
    return common / every if common else 0.0


def _best(scored: Iterable[tuple[str, float]], count: int) -> list[tuple[str, float]]:
    return sorted(scored, key=lambda item: (-item[1], item[0]))[:count]


def facts_of(row: Any, hours: float) -> MemoryFacts:
    """Read a row of ``link.facts``, in which a foreign graph may have put any values."""
    _, tags, category, topics, entities, *_ = row
    return MemoryFacts(
        tags=frozenset(foreign.strings(tags)),
        category=foreign.string(category) or "",
        topics=frozenset(foreign.strings(topics)),
        entities=frozenset(foreign.strings(entities)),
        hours=hours,
    )
