"""Rank what the energy reached, with the query in hand."""

from memoria.relevance.candidates import NOTHING_KNOWN, Candidate, Facts, ask_facts, gather
from memoria.relevance.rank import rank_by_relevance

__all__ = ["NOTHING_KNOWN", "Candidate", "Facts", "ask_facts", "gather", "rank_by_relevance"]
