// name: export.sources
// mode: read
// params: after, limit, scope
// returns: rows LIST<LIST>
// The next memories of a scope, by id, with their outgoing relationships. rows: [id, number of
// RELATES edges, other relationships]; the latter are [type, number], in any order.
// after: the last id that was read; "" at first.
// use: after_last()
CALL (after) {
  MATCH (m:Memory)
  WHERE m.scope = $p.scope AND m.id > after
  WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
  RETURN m
}
WITH m, COUNT { (m)-->() } AS degree, COUNT { (m)-[:RELATES]->() } AS edges
CALL (m, degree, edges) {
  WITH m WHERE degree > edges
  MATCH (m)-[r:!RELATES]->()
  WITH type(r) AS type, count(*) AS number
  RETURN collect([type, number]) AS others
}
RETURN collect([m.id, edges, others]) AS rows
