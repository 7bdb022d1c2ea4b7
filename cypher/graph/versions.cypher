// name: graph.versions
// mode: read
// params: id, kind, limit, scope
// returns: ids LIST<STRING>
// The memories that a memory has replaced, or that have replaced it, itself among them.
WITH $p.id AS wanted
// use: find_memory(m, wanted)
MATCH (m)-[:SUPPRESSES*0..10 {kind: $p.kind}]-(other)
// Tested behind DISTINCT: else the planner may begin at every memory of the scope.
WITH DISTINCT other
WHERE // use: in_scope(other)
WITH other.id AS id ORDER BY id LIMIT toInteger($p.limit)
RETURN collect(id) AS ids
