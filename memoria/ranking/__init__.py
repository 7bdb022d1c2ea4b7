"""Rank what the energy reached, with the query in hand."""

from memoria.ranking.candidates import (
    NOTHING_KNOWN,
    Candidate,
    Facts,
    FactsRequest,
    ask_facts,
    gather,
)
from memoria.ranking.relevance import behind_seeds, rank_by_relevance, seed_rows, weighted_sum

__all__ = [
    "NOTHING_KNOWN",
    "Candidate",
    "Facts",
    "FactsRequest",
    "ask_facts",
    "behind_seeds",
    "gather",
    "rank_by_relevance",
    "seed_rows",
    "weighted_sum",
]
