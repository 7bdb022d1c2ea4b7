// name: evaluation.edges
// mode: read
// params: after, limit, scope
// returns: rows
// Next memories of a scope, by id, with the edges that leave each: [id, [[target, weight], ...]].
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id > $p.after
WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
RETURN collect([m.id, COLLECT {
  MATCH (m)-[r:RELATES]->(t:Memory)
  WHERE t.scope = $p.scope AND r.weight IS NOT NULL
  RETURN [t.id, r.weight]
}]) AS rows
