// seeds.vector_search and seeds.text in one query.
CYPHER 25
CALL () {
  MATCH (m:Memory)
    SEARCH m IN (VECTOR INDEX memory_embedding FOR $p.vector WHERE m.scope = $p.scope LIMIT $p.limit)
    SCORE AS score
  RETURN collect([m.id, 2 * score - 1]) AS by_vector
}
CALL () {
  CALL db.index.fulltext.queryNodes('memory_text', $p.lucene, {limit: toInteger($p.limit)})
  YIELD node AS m, score
  WITH m, score WHERE m.scope = $p.scope
  RETURN collect([m.id, score]) AS by_text
}
RETURN by_vector, by_text
