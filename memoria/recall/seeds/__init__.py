"""Find the memories to start from."""

from memoria.recall.seeds.across import across, of_window
from memoria.recall.seeds.choosing import joined
from memoria.recall.seeds.lucene import lucene_query
from memoria.recall.seeds.search import SeedRequest, search_seeds
from memoria.recall.seeds.unembedded import VECTORS_PENDING, pending_note, with_unembedded

__all__ = [
    "VECTORS_PENDING",
    "SeedRequest",
    "across",
    "joined",
    "lucene_query",
    "of_window",
    "pending_note",
    "search_seeds",
    "with_unembedded",
]
