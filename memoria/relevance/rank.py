"""Order what a recall found by how likely it is what was asked for.

In: a query, candidates, what the database knows of them. Out: `RankedMemory`s. Touches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from memoria.relevance.candidates import Candidate, Facts
from memoria.relevance.features import features
from memoria.types import RankedMemory
from memoria.weights import RelevanceConfig


def rank_by_relevance(
    query: str, candidates: Sequence[Candidate], facts: Facts, config: RelevanceConfig
) -> tuple[RankedMemory, ...]:
    """Rank candidates by the weighted sum of their features; ties by id.

    The score of a memory is its relevance relative to the best, in (0, 1]: e to the power of the
    difference of their sums, which is the ratio of their odds in the model that the weights were
    fitted for.
    """
    if not candidates:
        return ()
    values = features(query, candidates, facts)
    weights = asdict(config)
    shares = {name: weights[name] * column for name, column in values.items() if weights[name]}
    total = np.sum(list(shares.values()), axis=0)
    scores = np.exp(total - total.max())
    ranked = [
        RankedMemory(
            memory=candidate.memory,
            score=float(scores[row]),
            path=candidate.path,
            features={name: float(column[row]) for name, column in values.items()},
            shares={name: float(column[row]) for name, column in shares.items()},
        )
        for row, candidate in enumerate(candidates)
    ]
    return tuple(sorted(ranked, key=lambda entry: (-entry.score, entry.memory.id)))
