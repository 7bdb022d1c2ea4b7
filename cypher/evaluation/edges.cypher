// name: evaluation.edges
// mode: read
// params: after, limit, scope
// returns: rows LIST<LIST>
// The next memories of a scope, by id, each with its outgoing edges: [id, [[target, weight], ...]].
// after: the last id that was read; "" at first. It is compared in its stored form (see
// export.edges), so that ids come once, in one order.
// use: after_last()
CALL (after) {
  // use: memories_after(m, after)
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
RETURN collect([m.id, COLLECT {
  // use: out_edges(m, r, t)
  WITH t, r.weight AS weight
  WHERE weight IS NOT NULL AND t.scope = $p.scope AND t:Memory
  RETURN [t.id, weight]
}]) AS rows
