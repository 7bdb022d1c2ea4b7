// name: doctor.fix_weight_missing
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: edges without a weight get the default weight of a relation.
MATCH (m:Memory)-[r:RELATES]-()
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND r.weight IS NULL
WITH DISTINCT r
SET r.weight = 0.5
RETURN count(*) AS changed
