// name: link.nearest_search
// mode: read
// params: ids, limit, scope
// returns: rows LIST<LIST>
// needs: search
// The nearest memories of a scope for each of several memories, filtered by scope inside the index
// (Neo4j 2026 and later). rows: [id, hits]; hits: [id, cosine], including the memory itself.
CYPHER 25
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
CALL (m) {
  MATCH (n:Memory)
    SEARCH n IN (
      VECTOR INDEX memory_embedding FOR m.embedding WHERE n.scope = $p.scope LIMIT $p.limit
    )
    SCORE AS score
  RETURN collect([n.id, 2 * score - 1]) AS hits
}
RETURN collect([id, hits]) AS rows
