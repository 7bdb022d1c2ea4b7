// name: graph.stats_edge_tags
// mode: read
// params: limit, scope
// returns: tags LIST<LIST>
// The tags that most edges have that leave memories of a scope: [tag, number of edges].
// use: all_memories_by_seek(m, IS NOT NULL)
// use: out_edges(m, r, target)
UNWIND r.tags AS tag
WITH toString(tag) AS tag, count(*) AS number
ORDER BY number DESC, tag LIMIT toInteger($p.limit)
RETURN collect([tag, number]) AS tags
