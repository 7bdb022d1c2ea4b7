"""Order what a recall found by how likely it is what was asked for.

In: a query, candidates, what the database knows of them. Out: `RankedMemory`s. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from memoria.ranking.candidates import Candidate, Facts
from memoria.ranking.config import RelevanceConfig
from memoria.ranking.features import Array, features
from memoria.types import RankedMemory

#: Name of the share that `behind_seeds` takes.
BEHIND_SEED = "behind_seed"
# By how much, at most, a memory stands behind its seed: it only has to stand there.
_STEP = 1e-3


def rank_by_relevance(
    query: str, candidates: Sequence[Candidate], facts: Facts, config: RelevanceConfig
) -> tuple[RankedMemory, ...]:
    """Rank candidates by the weighted sum of their features, some of them behind their seeds.

    The score of a memory is its relevance relative to the best, in (0, 1]: e to the power of the
    difference of their sums, which is the ratio of their odds in the model that the weights were
    fitted for. Ties by id. Who stands behind a seed: `behind_seeds`.
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
    """Add up features, each times its weight, one after the other: equal rows have equal sums."""
    total = np.zeros(len(next(iter(values.values()))))
    for name, column in values.items():
        total += weights[name] * column
    return total


def seed_rows(candidates: Sequence[Candidate]) -> list[list[int]]:
    """Return for each candidate the places of the candidates from which energy reached it."""
    place = {candidate.memory.id: row for row, candidate in enumerate(candidates)}
    return [
        [place[seed] for seed in candidate.energy if seed in place and place[seed] != row]
        for row, candidate in enumerate(candidates)
    ]


def behind_seeds(sums: Array, values: Mapping[str, Array], seeds: Sequence[Sequence[int]]) -> Array:
    """Place each memory that matches less than each of its seeds behind the best of them.

    Energy and support are borrowed from what a memory is joined to. They may bring it to the top,
    but not past the memories that lent them, unless by its cosine or its words it is ahead of one.

    Parameters
    ----------
    sums
        Weighted sum of the features of each candidate; (N,).
    values
        Feature -> its values; (N,).
    seeds
        For each candidate the places of those from which energy reached it; see `seed_rows`.

    Returns
    -------
    Array
        The sums; those of memories placed behind a seed lowered, in the same order; (N,).
    """
    match = list(zip(values["cosine"].tolist(), values["bm25"].tolist(), strict=True))
    placed = sums.tolist()  # one by one, plain numbers are faster than arrays
    # The better match first: where a seed is placed behind another one, what it brought follows.
    for row in sorted(range(len(match)), key=match.__getitem__, reverse=True):
        cosine, bm25 = own = match[row]
        lenders = [match[seed] for seed in seeds[row]]
        if not lenders or any(one == own or one[0] < cosine or one[1] < bm25 for one in lenders):
            continue
        bound = max(placed[seed] for seed in seeds[row])
        if placed[row] >= bound:
            placed[row] = bound - _STEP / (1 + placed[row] - bound)
    return np.array(placed)
