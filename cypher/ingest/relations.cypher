// name: ingest.relations
// mode: write
// params: ids, now, origin, rows, scope, skip_missing
// returns: missing, written, created
// Write edges between memories of one scope; an edge is known by source, target and relation.
// ids: every end, sorted. All are locked first, in that order, by setting the scope to what it
// is, so that writers of the same memories wait for each other instead of deadlocking. The value
// must not be read from the node: for that the server takes, and gives back, one lock more, out
// of order. Without skip_missing nothing is written when an end is missing.
UNWIND $p.ids AS id
OPTIONAL MATCH (m:Memory {scope: $p.scope, id: id})
SET m.scope = $p.scope
WITH collect(CASE WHEN m IS NULL THEN id END) AS missing
CALL (missing) {
  UNWIND CASE WHEN $p.skip_missing OR size(missing) = 0 THEN $p.rows ELSE [] END AS row
  MATCH (source:Memory {scope: $p.scope, id: row.source})
  MATCH (target:Memory {scope: $p.scope, id: row.target})
  MERGE (source)-[r:RELATES {relation: row.relation}]->(target)
    ON CREATE SET r.origin = $p.origin, r.created_at = $p.now
  WITH r, row, r.uses IS NULL AS created
  SET r.weight = row.weight, r.tags = row.tags, r.uses = coalesce(r.uses, 0)
  RETURN count(*) AS written, sum(CASE WHEN created THEN 1 ELSE 0 END) AS created
}
RETURN missing, written, created
