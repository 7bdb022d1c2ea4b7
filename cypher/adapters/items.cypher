// name: adapters.items
// mode: read
// params: after, before, limit, scope
// returns: ids
// The next memories whose ids lie between two: the items below one namespace.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id > $p.after AND m.id < $p.before
WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
RETURN collect(m.id) AS ids
