// name: link.nearest_procedure
// mode: read
// params: ids, limit, scope
// returns: rows LIST<LIST>
// The nearest memories of all scopes for each of several memories, filtered by scope afterwards. A
// small scope in a large index may get fewer hits than it has, so the caller asks for more, and
// then searches exactly. rows: [id, hits]; hits: [id, cosine], including the memory itself.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
CALL (m) {
  CALL db.index.vector.queryNodes('memory_embedding', toInteger($p.limit), m.embedding)
  YIELD node AS n, score
  RETURN collect(CASE WHEN n.scope = $p.scope THEN [n.id, 2 * score - 1] END) AS hits
}
RETURN collect([id, hits]) AS rows
