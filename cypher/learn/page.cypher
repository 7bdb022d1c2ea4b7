// name: learn.page
// mode: read
// params: after, limit, scope
// returns: ids
// Next memories of a scope, by id. The sort names scope too, so that the index gives the order.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id > $p.after
WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
RETURN collect(m.id) AS ids
