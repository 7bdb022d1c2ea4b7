"""Find the memories to start from."""

from memoria.recall.seeds.across import across, of_window
from memoria.recall.seeds.lucene import lucene_query
from memoria.recall.seeds.search import SeedRequest, joined, search_seeds
from memoria.recall.seeds.unembedded import with_unembedded

__all__ = [
    "SeedRequest",
    "across",
    "joined",
    "lucene_query",
    "of_window",
    "search_seeds",
    "with_unembedded",
]
