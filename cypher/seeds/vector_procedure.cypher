// name: seeds.vector_procedure
// mode: read
// params: held, kinds, limit, scope, vector
// returns: hits, seen
// The nearest memories of all scopes, filtered by scope afterwards. A small scope in a large index
// may get fewer hits than it has, so the caller asks for more, and then searches exactly. hits:
// [id, cosine]; seen: how many hits the index returned; if fewer than limit, there are no more.
CALL db.index.vector.queryNodes('memory_embedding', toInteger($p.limit), $p.vector)
YIELD node AS m, score
WITH m, score, m.scope = $p.scope
     AND (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
     AND NOT coalesce(m.superseded_at <= $p.held.at OR m.valid_until <= $p.held.at, false)
     AND ($p.held.plain OR NOT coalesce(
       m.created_at > $p.held.made_by OR m.`when` IN $p.held.outside, false)) AS fits
RETURN collect(CASE WHEN fits THEN [m.id, 2 * score - 1] END) AS hits, count(*) AS seen
