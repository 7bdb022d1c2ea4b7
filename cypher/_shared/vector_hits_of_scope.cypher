// fragment: vector_hits_of_scope(m, score)
// What the vector index finds, filtered by scope inside the index (Neo4j 2026).
MATCH (m:Memory)
  SEARCH m IN (VECTOR INDEX memory_embedding FOR $p.vector WHERE m.scope = $p.scope LIMIT $p.limit)
  SCORE AS score
