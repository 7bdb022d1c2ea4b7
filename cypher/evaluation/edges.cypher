// name: evaluation.edges
// mode: read
// params: after, limit, scope
// returns: rows
// Next memories of a scope, by id, with the edges that leave each: [id, [[target, weight], ...]].
// after: the last id read. Compared as it is stored, see export.edges: ids come once, in one order.
OPTIONAL MATCH (last:Memory {scope: $p.scope, id: $p.after})
WITH coalesce(last[head(['id'])], $p.after) AS after
CALL (after) {
  MATCH (m:Memory)
  WHERE m.scope = $p.scope AND m.id > after
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
RETURN collect([m.id, COLLECT {
  MATCH (m)-[r:RELATES]->(t:Memory)
  WHERE t.scope = $p.scope AND r.weight IS NOT NULL
  RETURN [t.id, r.weight]
}]) AS rows
