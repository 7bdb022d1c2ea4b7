// name: seeds.text
// mode: read
// params: kinds, limit, lucene, scope
// returns: hits, seen
// Best memories of a scope by BM25. hits: [id, score]; seen: how many the index returned before
// kinds, which it can't filter; fewer than limit: it has no more.
// The Lucene query filters by scope_key inside the index; the test on scope makes it certain.
CALL db.index.fulltext.queryNodes('memory_text', $p.lucene, {limit: toInteger($p.limit)})
YIELD node AS m, score
WITH m, score, m.scope = $p.scope
     AND (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds)) AS fits
RETURN collect(CASE WHEN fits THEN [m.id, score] END) AS hits, count(*) AS seen
