"""What the contenders are called, in records, tables and plots."""

from __future__ import annotations

ROUND_TRIP = "RETURN 1"

# Explorations.
MEMORIA = "memoria, one session"
EACH = "memoria, a session for each seed"
MANAGED = ", managed transactions"
STREAMED = "memoria, one session, paths streamed"
BARE = "memoria's queries alone"
PRINTED = "the query of a level without pruning"
LOOP = "a query for each frontier node"
VARIABLE = "one pattern of 1 to {} hops"
PAGERANK = "PageRank in memory, graph loaded before"
WITH_LOAD = "PageRank in memory, graph loaded for it"

# Whole recalls.
RECALL = "memoria, whole recall"
RECALL_STREAMED = "memoria, whole recall, paths streamed"
ONE_HOP = "HybridCypherRetriever, one hop"
TWO_HOPS = "HybridCypherRetriever, two hops"
