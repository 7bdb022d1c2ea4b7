// name: seeds.text
// mode: read
// params: held, kinds, limit, lucene, scope
// returns: hits, seen
// The best memories of a scope by BM25. hits: [id, score]. seen: how many hits the index returned
// before they were filtered by kinds, which the index can't do; if fewer than limit, there are no
// more. The Lucene query filters by scope_key inside the index; the comparison of scope makes sure.
CALL db.index.fulltext.queryNodes('memory_text', $p.lucene, {limit: toInteger($p.limit)})
YIELD node AS m, score
WITH m, score, m.scope = $p.scope
     AND (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
     AND NOT coalesce(m.superseded_at <= $p.held.at OR m.valid_until <= $p.held.at, false)
     AND ($p.held.plain OR NOT coalesce(
       m.created_at > $p.held.made_by OR m.`when` IN $p.held.outside, false)) AS fits
RETURN collect(CASE WHEN fits THEN [m.id, score] END) AS hits, count(*) AS seen
