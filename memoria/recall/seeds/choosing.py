"""Choose seeds from lists of hits: fuse the lists, order the hits, add those of a second search.

In: hits, as (id, score). Out: `Seeds`. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memoria.formulas.fusion import Hits, linear_fusion, reciprocal_rank_fusion, scaled
from memoria.recall.seeds.config import SeedConfig
from memoria.types import Seed, Seeds


def fuse(lists: Sequence[Hits], config: SeedConfig) -> Seeds:
    """Fuse the hits by vector and those by words, and choose the best as seeds."""
    vector, text = lists
    if config.fusion == "rrf":
        fused = reciprocal_rank_fusion([vector, text], k=config.rrf_k)
    else:
        fused = linear_fusion(vector, text, alpha=config.alpha)
    # The server computes in single precision, so the cosine of equal vectors may exceed 1 a little.
    by_vector = {
        node: (rank, min(max(cosine, -1.0), 1.0))
        for rank, (node, cosine) in enumerate(vector, start=1)
    }
    by_text = {node: (rank, score) for rank, (node, score) in enumerate(text, start=1)}
    nothing = (None, None)
    found = [
        Seed(
            id=node,
            score=score,
            vector_rank=by_vector.get(node, nothing)[0],
            vector_score=by_vector.get(node, nothing)[1],
            text_rank=by_text.get(node, nothing)[0],
            text_score=by_text.get(node, nothing)[1],
        )
        for node, score in scaled(fused)
    ]
    return Seeds(
        seeds=tuple(found[: config.max_seeds]),
        runners_up=tuple(found[config.max_seeds :]),
    )


def choose_by_cosine(lists: Sequence[Hits], config: SeedConfig) -> Seeds:
    """Choose from all hits and those of the kinds of facts."""
    every, facts = lists
    known = {node for node, _ in facts}
    others = [hit for hit in every if hit[0] not in known]
    cosines = dict([*facts[: config.max_facts], *others[: config.max_seeds]])
    chosen = _cosine_seeds(cosines)
    rest = dict(hit for hit in every if hit[0] not in cosines)
    return Seeds(seeds=chosen, runners_up=_cosine_seeds(rest, len(chosen)))


def _cosine_seeds(cosines: Mapping[str, float], before: int = 0) -> tuple[Seed, ...]:
    """Return the hits with a cosine above 0, best first; ranks continue after ``before``."""
    hits = best_hits([(node, min(cosine, 1.0)) for node, cosine in cosines.items() if cosine > 0])
    return tuple(
        Seed(id=node, score=cosine, vector_rank=rank, vector_score=cosine)
        for rank, (node, cosine) in enumerate(hits, start=before + 1)
    )


def best_hits(hits: Hits) -> Hits:
    """Return hits best first, each memory once: a mapped graph may find it by several facts."""
    found: dict[str, tuple[str, float]] = {}
    for hit in sorted(hits, key=lambda hit: (-hit[1], hit[0])):
        found.setdefault(hit[0], hit)
    return [*found.values()]


def joined(found: Seeds, hits: Seeds) -> Seeds:
    """Append the hits of a second search, such as that within a window, to those of the first."""
    degraded = tuple(dict.fromkeys((*found.degraded, *hits.degraded)))
    if not found.seeds:
        return replace(hits, degraded=degraded, pending=found.pending)
    known = {seed.id for seed in (*found.seeds, *found.runners_up, *found.echoes)}
    least = min((seed.score for seed in (*found.seeds, *found.runners_up)), default=1.0)
    added = tuple(
        replace(seed, score=least * seed.score, vector_rank=None, text_rank=None)
        for seed in (*hits.seeds, *hits.runners_up)
        if seed.id not in known
    )
    echoes = {seed.id for seed in hits.echoes}
    return replace(
        found,
        runners_up=(*found.runners_up, *(seed for seed in added if seed.id not in echoes)),
        loose=tuple(dict.fromkeys((*found.loose, *hits.loose))),
        degraded=degraded,
    )
