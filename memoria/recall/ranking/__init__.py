"""Rank the memories that a recall found, by energy alone or by their relevance to the query."""

from memoria.recall.ranking.alike import ask_alike
from memoria.recall.ranking.candidates import (
    DEFAULT_SPREAD,
    NOTHING_KNOWN,
    Candidate,
    Facts,
    FactsRequest,
    Likeness,
    ask_facts,
    gather,
)
from memoria.recall.ranking.needs import needed_by, turned, with_needs
from memoria.recall.ranking.order import with_adjacent
from memoria.recall.ranking.relevance import rank_by_relevance, weighted_sum
from memoria.recall.ranking.talk import with_session

__all__ = [
    "DEFAULT_SPREAD",
    "NOTHING_KNOWN",
    "Candidate",
    "Facts",
    "FactsRequest",
    "Likeness",
    "ask_alike",
    "ask_facts",
    "gather",
    "needed_by",
    "rank_by_relevance",
    "turned",
    "weighted_sum",
    "with_adjacent",
    "with_needs",
    "with_session",
]
