// name: seeds.vector_procedure
// mode: read
// params: kinds, limit, scope, vector
// returns: hits
// Nearest memories of all scopes, filtered afterwards: a small scope in a large index may get
// fewer than it has, so the caller searches exactly when hits are short. hits: [id, cosine].
CALL db.index.vector.queryNodes('memory_embedding', toInteger($p.limit), $p.vector)
YIELD node AS m, score
WITH m, score
WHERE m.scope = $p.scope
  AND (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
RETURN collect([m.id, 2 * score - 1]) AS hits
