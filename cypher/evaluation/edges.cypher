// name: evaluation.edges
// mode: read
// params: after, limit, scope
// returns: rows LIST<LIST>
// The next memories of a scope, by id, each with its outgoing edges: [id, [[target, weight], ...]].
// after: the last id that was read; "" at first.
// use: after_last()
CALL (after) {
  // use: memories_after(m, after)
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
RETURN collect([m.id, COLLECT {
  // use: out_edges(m, r, t)
  WITH t, r.weight AS weight
  WHERE weight >= 0 AND // use: in_scope(t)
  RETURN [t.id, weight]
}]) AS rows
