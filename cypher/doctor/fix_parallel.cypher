// name: doctor.fix_parallel
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: of edges with the same source, target and relation, keep the strongest.
MATCH (m:Memory)-[r:RELATES]->(n)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
WITH m, n, r.relation AS relation, collect(r) AS same
WHERE size(same) > 1
UNWIND same AS r
WITH m, n, relation, r
ORDER BY CASE WHEN r.weight >= 0 AND r.weight <= 1.7976931348623157e308 THEN -r.weight ELSE 1 END,
         elementId(r)
WITH m, n, relation, collect(r)[1..] AS spare
UNWIND spare AS r
DELETE r
RETURN count(*) AS changed
