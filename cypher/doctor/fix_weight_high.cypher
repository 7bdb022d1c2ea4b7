// name: doctor.fix_weight_high
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: finite weights above 1 become 1, the weight with which they count.
MATCH (m:Memory)-[r:RELATES]-()
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND r.weight IS :: INTEGER NOT NULL | FLOAT NOT NULL
  AND r.weight > 1 AND r.weight <= 1.7976931348623157e308
WITH DISTINCT r
SET r.weight = 1.0
RETURN count(*) AS changed
