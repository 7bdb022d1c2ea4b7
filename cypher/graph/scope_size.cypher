// name: graph.scope_size
// mode: read
// params: limit, scope
// returns: memories INTEGER
// How many memories a scope holds, without connectors; counting ends at the limit.
MATCH (m:Memory)
WHERE m.scope = $p.scope AND m.id IS NOT NULL AND NOT m:Session|Speaker|Topic
WITH m LIMIT toInteger($p.limit)
RETURN count(m) AS memories
