// fragment: vector_hits(m, score)
// What the vector index finds, in all scopes; score: (1 + cosine) / 2.
CALL db.index.vector.queryNodes('memory_embedding', toInteger($p.limit), $p.vector)
YIELD node AS m, score
