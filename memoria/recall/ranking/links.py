"""What candidates get from the memories that edges join them to.

In: candidates, facts about them, how well each matches the query. Out: arrays by feature.
Touches nothing.

The graph is the part that a recall has seen: the edges among candidates, and those of the paths
that brought them, which may lead through memories that are not ranked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoria.recall.ranking.candidates import Candidate, Facts

Array = NDArray[np.float64]
Places = NDArray[np.int64]

# What a hop leaves of a chain's strength, and how many hops are followed.
_CHAIN_SHARE = 0.8
_CHAIN_HOPS = 4
# Share of a walk that continues over an edge; the rest starts again. After twelve steps, less than
# 0.5 ** 12 of the mass stands elsewhere than at the end of all steps.
_WALK_SHARE = 0.5
_WALK_STEPS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The edges that a recall has seen.

    Attributes
    ----------
    candidates
        Number of candidates, N; they are the first of the ``nodes``.
    nodes
        Number of memories, M: candidates, and memories on their paths.
    source, target, weight
        The edges in their stored direction, sorted; of parallel edges the strongest; (E,).
    """

    candidates: int
    nodes: int
    source: Places
    target: Places
    weight: Array

    @classmethod
    def of(cls, candidates: Sequence[Candidate], facts: Facts) -> Links:
        """Collect the edges among candidates, and those of the paths that brought them."""
        place = {candidate.memory.id: row for row, candidate in enumerate(candidates)}
        ends: list[tuple[int, int]] = []
        weights: list[float] = []
        for id_, neighbours in facts.neighbours.items():
            one = place.get(id_)
            if one is None:
                continue
            for other, weight, outgoing in neighbours:
                if (two := place.get(other)) is not None:
                    ends.append((one, two) if outgoing else (two, one))
                    weights.append(weight)
        for path in {each.path.ids: each.path for each in candidates}.values():
            for hop in path.hops:
                near = place.setdefault(hop.source, len(place))
                far = place.setdefault(hop.target, len(place))
                ends.append((near, far) if hop.direction == "out" else (far, near))
                weights.append(min(hop.weight, 1.0))
        source, target = np.array(ends, np.int64).reshape(-1, 2).T
        source, target, strongest = _strongest(source, target, np.array(weights, np.float64))
        return cls(
            candidates=len(candidates),
            nodes=len(place),
            source=source,
            target=target,
            weight=strongest,
        )

    def both_ways(self) -> tuple[Places, Places, Array]:
        """Return source, target and weight of each edge once in each direction."""
        source = np.concatenate([self.source, self.target])
        target = np.concatenate([self.target, self.source])
        return _strongest(source, target, np.tile(self.weight, 2))


def _strongest(source: Places, target: Places, weight: Array) -> tuple[Places, Places, Array]:
    """Return the strongest of the edges with the same ends, sorted by source, then target.

    What is added up over edges is added up in one order, so that a sum is always the same.
    """
    order = np.lexsort((weight, target, source))
    source, target, weight = source[order], target[order], weight[order]
    last = (np.diff(source, append=-1) != 0) | (np.diff(target, append=-1) != 0)
    return source[last], target[last], weight[last]


def link_features(
    candidates: Sequence[Candidate], facts: Facts, match: Array, cosine: Array, bm25: Array
) -> dict[str, Array]:
    """Compute the features of a candidate that come from other memories, each 0 to 1.

    Parameters
    ----------
    match
        How well each candidate matches the query by itself; (N,), >= 0.
    cosine, bm25
        The features of that name; (N,).

    Returns
    -------
    dict
        Feature -> N values; `RelevanceConfig` says what each means.

    Notes
    -----
    O(N + E log E) for E edges. Source of the walks: L. Page et al., "The PageRank Citation
    Ranking", 1999, with restarts at the matches.
    """
    links = Links.of(candidates, facts)
    count = links.candidates
    own = _padded(over_best(match), links.nodes)
    chain = _chain(links, own)[:count]
    source, target, weight = links.both_ways()
    walk = _walk(source, target, weight, np.square(own))[:count]
    return {
        "chain_beyond": chain * (1.0 - np.clip(cosine, 0.0, 1.0)),
        "walk_beyond": np.sqrt(over_best(walk)) * (1.0 - bm25),
    }


def _padded(values: Array, size: int) -> Array:
    padded = np.zeros(size)
    padded[: len(values)] = values
    return padded


def over_best(values: Array) -> Array:
    """Divide by the highest value; all zeros if no value is above 0."""
    best = values.max(initial=0.0)
    return values / best if best > 0 else np.zeros_like(values)


def _walk(source: Places, target: Places, weight: Array, restart: Array) -> Array:
    """Return the mass that reaches each memory over edges, without what starts at itself."""
    passed = weight / np.bincount(source, weight, len(restart))[source]
    restart = restart / (restart.sum() or 1.0)
    mass = restart
    for _ in range(_WALK_STEPS):
        arriving = np.bincount(target, mass[source] * passed, len(restart))
        mass = _WALK_SHARE * arriving + (1 - _WALK_SHARE) * restart
    return np.clip(mass - (1 - _WALK_SHARE) * restart, 0.0, None)


def _chain(links: Links, own: Array) -> Array:
    """Return the strength of the strongest chain of edges from a match to each memory."""
    found, start = np.zeros(len(own)), own
    for _ in range(_CHAIN_HOPS):
        reached = np.zeros(len(own))
        np.maximum.at(reached, links.target, start[links.source] * links.weight * _CHAIN_SHARE)
        found = np.maximum(found, reached)
        start = np.maximum(own, found)
    return found
