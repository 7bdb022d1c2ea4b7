// name: graph.stats_tags
// mode: read
// params: limit, scope
// returns: tags LIST<LIST>
// The tags that most memories of a scope have: [tag, number of memories].
// use: all_memories(m)
UNWIND m.tags AS tag
WITH toString(tag) AS tag, count(*) AS number
ORDER BY number DESC, tag LIMIT toInteger($p.limit)
RETURN collect([tag, number]) AS tags
