// name: graph.page
// mode: read
// params: after, limit, scope
// returns: ids LIST<STRING>
// The next memories of a scope, by id. The sort names scope, too, so that the index gives the
// order.
// after: the last id that was read; "" at first.
// use: after_last()
CALL (after) {
  // use: memories_after(m, after)
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
RETURN collect(m.id) AS ids
