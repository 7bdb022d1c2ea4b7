"""Order the memories that a recall found by how relevant they are to the query.

In: a query, candidates, and facts about them. Out: `RankedMemory`s. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from memoria.ranking.candidates import Candidate, Facts
from memoria.ranking.config import RelevanceConfig
from memoria.ranking.features import Array, features
from memoria.types import RankedMemory

#: Name of the share by which `behind_seeds` lowers a sum.
BEHIND_SEED = "behind_seed"
# A memory that is placed behind its seed is lowered just enough to stand there.
_STEP = 1e-3


def rank_by_relevance(
    query: str, candidates: Sequence[Candidate], facts: Facts, config: RelevanceConfig
) -> tuple[RankedMemory, ...]:
    """Rank candidates by the weighted sum of their features.

    Some memories are then placed behind their seeds; see `behind_seeds`. The score of a memory is
    in (0, 1] and relative to the best one: e to the power of the difference of the two sums. In
    the model that the weights were fitted for, that is the ratio of the two odds. Ties by id.
    """
    if not candidates:
        return ()
    values = features(query, candidates, facts)
    weights = asdict(config)
    shares = {name: weights[name] * column for name, column in values.items() if weights[name]}
    linear = weighted_sum(values, weights)
    total = behind_seeds(linear, values, seed_rows(candidates))
    shares[BEHIND_SEED] = total - linear
    scores = np.exp(total - total.max()).tolist()
    ranked = {
        (-sum_, candidate.memory.id): RankedMemory(
            memory=candidate.memory,
            score=score,
            path=candidate.path,
            features=of_features,
            shares=of_shares,
        )
        for candidate, sum_, score, of_features, of_shares in zip(
            candidates, total.tolist(), scores, _by_row(values), _by_row(shares), strict=True
        )
    }
    return tuple(ranked[place] for place in sorted(ranked))


def _by_row(columns: Mapping[str, Array]) -> Iterator[dict[str, float]]:
    """Turn columns by name into a dictionary for each row."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return (dict(zip(columns, row, strict=True)) for row in rows)


def weighted_sum(values: Mapping[str, Array], weights: Mapping[str, float]) -> Array:
    """Add up features, each times its weight; in a fixed order, so equal rows have equal sums."""
    total = np.zeros(len(next(iter(values.values()))))
    for name, column in values.items():
        total += weights[name] * column
    return total


def seed_rows(candidates: Sequence[Candidate]) -> list[list[int]]:
    """Return, for each candidate, the rows of the seeds from which energy reached it."""
    place = {candidate.memory.id: row for row, candidate in enumerate(candidates)}
    return [
        [place[seed] for seed in candidate.energy if seed in place and place[seed] != row]
        for row, candidate in enumerate(candidates)
    ]


def behind_seeds(sums: Array, values: Mapping[str, Array], seeds: Sequence[Sequence[int]]) -> Array:
    """Place a memory behind the best of its seeds if it matches the query less than all of them.

    Energy and support come from the memories at the other end of edges. They may lift a memory to
    the top, but not past the seeds that gave the energy: only a memory with a better cosine or
    better words than one of its seeds may pass them.

    Parameters
    ----------
    sums
        Weighted sum of the features of each candidate; (N,).
    values
        Feature -> its values; (N,).
    seeds
        For each candidate the rows of its seeds; see `seed_rows`.

    Returns
    -------
    Array
        The sums in the same order, lowered for memories that are placed behind a seed; (N,).
    """
    match = list(zip(values["cosine"].tolist(), values["bm25"].tolist(), strict=True))
    placed = sums.tolist()  # numbers are read one by one, and lists are faster than arrays for that
    # Better matches first: if a seed is itself placed behind another seed, the memories that it
    # brought must follow it.
    for row in sorted(range(len(match)), key=match.__getitem__, reverse=True):
        cosine, bm25 = own = match[row]
        lenders = [match[seed] for seed in seeds[row]]
        if not lenders or any(one == own or one[0] < cosine or one[1] < bm25 for one in lenders):
            continue
        bound = max(placed[seed] for seed in seeds[row])
        if placed[row] >= bound:
            placed[row] = bound - _STEP / (1 + placed[row] - bound)
    return np.array(placed)
