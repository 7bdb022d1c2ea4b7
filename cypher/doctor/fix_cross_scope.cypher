// name: doctor.fix_cross_scope
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: delete edges between memories of two scopes.
MATCH (m:Memory)-[r:RELATES]-(n:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND (m.scope <> n.scope
  OR (m.scope IS NULL) <> (n.scope IS NULL))
WITH DISTINCT r
DELETE r
RETURN count(*) AS changed
