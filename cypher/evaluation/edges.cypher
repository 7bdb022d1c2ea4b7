// name: evaluation.edges
// mode: read
// params: after, limit, scope
// returns: rows LIST<LIST>
// The next memories of a scope, by id, each with its outgoing edges: [id, [[target, weight], ...]].
// after: the last id that was read; "" at first. It is compared in its stored form (see
// export.edges), so that ids come once, in one order.
OPTIONAL MATCH (last:Memory {scope: $p.scope, id: $p.after})
WITH coalesce(last[head(['id'])], $p.after) AS after
CALL (after) {
  MATCH (m:Memory)
  WHERE m.scope = $p.scope AND m.id > after
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
RETURN collect([m.id, COLLECT {
  MATCH (m)-[r:RELATES]->(t)
  WITH t, r.weight AS weight
  WHERE weight IS NOT NULL AND t:Memory AND t.scope = $p.scope
  RETURN [t.id, weight]
}]) AS rows
