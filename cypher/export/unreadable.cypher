// name: export.unreadable
// mode: read
// params: scope
// returns: count
// Memories of a scope whose id is no string, or empty: nothing of memoria can name them.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND NOT coalesce(m.id > '', false)
RETURN count(*) AS count
