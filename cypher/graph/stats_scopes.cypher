// name: graph.stats_scopes
// mode: read
// params:
// returns: scopes
// Every scope: [scope, number of memories, number of edges that leave them]. Reads the index of all
// memories, because no list of scopes is stored.
MATCH (m:Memory)
WHERE m.scope > '' AND m.id IS NOT NULL
WITH m.scope AS scope, count(*) AS memories, sum(COUNT { (m)-[:RELATES]->() }) AS edges
ORDER BY scope
RETURN collect([scope, memories, edges]) AS scopes
