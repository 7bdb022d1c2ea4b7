// name: ingest.without_embedding
// mode: read
// params: after, limit, scope
// returns: rows
// Next memories of a scope that have no vector, by id. rows: [id, text].
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id > $p.after AND m.embedding IS NULL
WITH m ORDER BY m.id LIMIT toInteger($p.limit)
RETURN collect([m.id, m.text]) AS rows
