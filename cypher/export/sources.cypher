// name: export.sources
// mode: read
// params: after, limit, scope
// returns: rows
// Next memories of a scope, by id, with what leaves them. rows: [id, number of RELATES edges,
// other relationships], the latter as [type, number].
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id > $p.after
WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
WITH m, COUNT { (m)-->() } AS degree, COUNT { (m)-[:RELATES]->() } AS edges
RETURN collect([m.id, edges, CASE WHEN degree > edges THEN COLLECT {
  MATCH (m)-[r:!RELATES]->()
  WITH type(r) AS type, count(*) AS number ORDER BY type
  RETURN [type, number]
} ELSE [] END]) AS rows
