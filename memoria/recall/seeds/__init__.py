"""Find the memories to start from."""

from memoria.recall.seeds.lucene import lucene_query
from memoria.recall.seeds.search import SeedRequest, joined, search_seeds
from memoria.recall.seeds.unembedded import with_unembedded

__all__ = ["SeedRequest", "joined", "lucene_query", "search_seeds", "with_unembedded"]
