// name: graph.matching
// mode: read
// params: after, kinds, limit, scope, where
// returns: ids LIST<STRING>
// The next memories of a scope, by id, that fit kinds and where. If no kinds are given, connectors
// are left out. after: as in graph.page.
// use: after_last()
CALL (after) {
  // use: memories_after(m, after)
    AND (size($p.kinds) > 0 OR NOT // use: is_connector(m))
    AND // use: fits_filter(m)
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
RETURN collect(m.id) AS ids
