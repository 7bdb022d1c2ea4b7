// name: seeds.vector_search
// mode: read
// params: held, kinds, limit, scope, vector
// returns: hits, seen
// needs: search
// The nearest memories of a scope, filtered by scope inside the index (Neo4j 2026 and later). hits:
// [id, cosine]. Kinds are labels, which the index can't filter, so they are filtered after it.
// seen: how many hits the index returned; if fewer than limit, there are no more.
CYPHER 25
MATCH (m:Memory)
  SEARCH m IN (VECTOR INDEX memory_embedding FOR $p.vector WHERE m.scope = $p.scope LIMIT $p.limit)
  SCORE AS score
WITH m, score, (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
     AND NOT coalesce(m.superseded_at <= $p.held.at OR m.valid_until <= $p.held.at, false)
     AND ($p.held.plain OR NOT coalesce(
       m.created_at > $p.held.made_by OR m.`when` IN $p.held.outside, false)) AS fits
RETURN collect(CASE WHEN fits THEN [m.id, 2 * score - 1] END) AS hits, count(*) AS seen
