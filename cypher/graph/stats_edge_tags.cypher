// name: graph.stats_edge_tags
// mode: read
// params: limit, scope
// returns: tags LIST<LIST>
// The tags that most edges have that leave memories of a scope: [tag, number of edges].
MATCH (m:Memory)
USING INDEX SEEK m:Memory(scope, id)
WHERE m.scope = $p.scope AND m.id IS NOT NULL
MATCH (m)-[r:RELATES]->()
UNWIND r.tags AS tag
WITH toString(tag) AS tag, count(*) AS number
ORDER BY number DESC, tag LIMIT toInteger($p.limit)
RETURN collect([tag, number]) AS tags
