// name: graph.versions
// mode: read
// params: id, kind, limit, scope
// returns: ids LIST<STRING>
// The memories that a memory has replaced, or that have replaced it, itself among them.
MATCH (m:Memory {scope: $p.scope, id: $p.id})
MATCH (m)-[:SUPPRESSES*0..10 {kind: $p.kind}]-(other:Memory {scope: $p.scope})
WITH DISTINCT other.id AS id ORDER BY id LIMIT toInteger($p.limit)
RETURN collect(id) AS ids
