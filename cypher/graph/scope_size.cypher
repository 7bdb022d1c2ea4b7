// name: graph.scope_size
// mode: read
// params: limit, scope
// returns: memories INTEGER
// How many memories a scope holds, without connectors; counting ends at the limit.
// use: all_memories(m) AND NOT // use: is_connector(m)
WITH m LIMIT toInteger($p.limit)
RETURN count(m) AS memories
