// name: link.nearest_search
// mode: read
// params: ids, limit, scope
// returns: rows
// needs: search
// Nearest memories of a scope for each of several, filtered by scope inside the index (Neo4j 2026
// and later). rows: [id, hits, seen]; hits: [id, cosine], itself included; seen: how many the index
// returned; fewer than limit: it has no more.
CYPHER 25
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
CALL (m) {
  MATCH (n:Memory)
    SEARCH n IN (
      VECTOR INDEX memory_embedding FOR m.embedding WHERE n.scope = $p.scope LIMIT $p.limit
    )
    SCORE AS score
  RETURN collect([n.id, 2 * score - 1]) AS hits, count(*) AS seen
}
RETURN collect([id, hits, seen]) AS rows
