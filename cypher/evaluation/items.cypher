// name: evaluation.items
// mode: read
// params: after, kinds, limit, scope
// returns: rows
// Next memories of these kinds, by id: [id, text, embedding]; the embedding may be null.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id > $p.after AND any(label IN labels(m) WHERE label IN $p.kinds)
WITH m ORDER BY m.scope, m.id LIMIT toInteger($p.limit)
RETURN collect([m.id, m.text, m.embedding]) AS rows
