// fragment: text_hits(m, score)
// What the full-text index finds, best first. The Lucene query filters by scope_key inside the index.
CALL db.index.fulltext.queryNodes('memory_text', $p.lucene, {limit: toInteger($p.limit)})
YIELD node AS m, score
