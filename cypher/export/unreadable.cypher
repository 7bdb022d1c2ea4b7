// name: export.unreadable
// mode: read
// params: scope
// returns: count INTEGER
// Memories of a scope whose id is not a string, or is empty; memoria has no name for them.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND NOT coalesce(m.id > '', false)
RETURN count(*) AS count
