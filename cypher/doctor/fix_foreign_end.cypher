// name: doctor.fix_foreign_end
// mode: write
// params: scope
// returns: changed INTEGER
// Remedy: delete edges between a memory and a node that is not a memory.
MATCH (m:Memory)-[r:RELATES]-(n)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND NOT n:Memory
DELETE r
RETURN count(*) AS changed
