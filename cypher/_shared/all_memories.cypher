// fragment: all_memories(m)
// Every memory of the scope. The condition on id makes it a seek: by the scope alone it would be a scan.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
