// name: seeds.text
// mode: read
// params: kinds, limit, lucene, scope
// returns: hits
// Best memories of a scope by BM25. hits: [id, score].
// The Lucene query filters by scope_key inside the index; the test on scope makes it certain.
CALL db.index.fulltext.queryNodes('memory_text', $p.lucene, {limit: toInteger($p.limit)})
YIELD node AS m, score
WITH m, score
WHERE m.scope = $p.scope
  AND (size($p.kinds) = 0 OR any(label IN labels(m) WHERE label IN $p.kinds))
RETURN collect([m.id, score]) AS hits
