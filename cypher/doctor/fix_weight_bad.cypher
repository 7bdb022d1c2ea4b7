// name: doctor.fix_weight_bad
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: a number that is stored as text becomes a number, at most 1. A value that is not a weight
// at all becomes the default weight of a relation.
MATCH (m:Memory)-[r:RELATES]-()
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND r.weight IS NOT NULL
  AND CASE
        WHEN r.weight IS :: INTEGER | FLOAT
        THEN NOT (r.weight >= 0 AND r.weight <= 1.7976931348623157e308)
        ELSE true
      END
WITH DISTINCT r, toFloatOrNull(r.weight) AS number
SET r.weight = CASE
  WHEN number >= 0 AND number <= 1 THEN number
  WHEN number > 1 AND number <= 1.7976931348623157e308 THEN 1.0
  ELSE 0.5
END
RETURN count(*) AS changed
