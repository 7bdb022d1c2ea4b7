// name: ingest.reembed.remove
// mode: write
// params: after, limit, live, scope
// returns: seen INTEGER, last LIST, bare INTEGER
// Remove the vectors of a generation from the next memories of the database; seen, last, scope and
// after as in ingest.reembed.page. bare: how many of them are left without a vector of the live
// generation, whose property is named live.
// use: next_in_all_scopes()
CALL (page) {
  UNWIND page AS m
  WITH m WHERE m.embedding IS NOT NULL
  REMOVE m.embedding
  RETURN sum(CASE WHEN m[$p.live] IS NULL THEN 1 ELSE 0 END) AS bare
}
RETURN size(page) AS seen, [page[-1].scope, page[-1].id] AS last, bare
