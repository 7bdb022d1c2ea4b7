// name: ingest.left_over
// mode: read
// params: limit, scope
// returns: elements LIST<STRING>
// Element ids of memories that still name a scope, also of those without an id, which no index
// knows. Scans the memories of all scopes.
MATCH (m:Memory) WHERE m.scope = $p.scope
WITH m LIMIT toInteger($p.limit)
RETURN collect(elementId(m)) AS elements
