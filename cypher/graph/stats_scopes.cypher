// name: graph.stats_scopes
// mode: read
// params:
// returns: scopes LIST<LIST>
// Every scope: [scope, number of memories, number of edges]; connectors are no memories, but their
// edges count. Reads the index of all memories, because no list of scopes is stored.
// use: any_memory(m)
WHERE m.scope > '' AND m.id IS NOT NULL
WITH m.scope AS scope, sum(CASE WHEN // use: is_connector(m) THEN 0 ELSE 1 END) AS memories,
     sum(// use: out_degree(m)) AS edges
ORDER BY scope
RETURN collect([scope, memories, edges]) AS scopes
