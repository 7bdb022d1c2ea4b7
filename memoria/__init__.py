"""Graph retrieval for the memory of AI agents, on Neo4j."""
