// name: doctor.fix_self
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: delete edges from a memory to itself.
MATCH (m:Memory)-[r:RELATES]->(m)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
DELETE r
RETURN count(*) AS changed
