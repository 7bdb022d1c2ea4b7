// name: graph.stats_relations
// mode: read
// params: scope
// returns: relations LIST<LIST>
// The edges that leave memories of a scope, by relation: [relation, number, mean weight]. The mean
// is over the weights between 0 and 1; null if there is no such weight.
// use: all_memories_by_seek(m, IS NOT NULL)
// use: out_edges(m, r, target)
WITH coalesce(toStringOrNull(r.relation), '') AS relation, count(*) AS number,
     avg(CASE WHEN 0 <= r.weight <= 1 THEN r.weight END) AS mean_weight
ORDER BY number DESC, relation
RETURN collect([relation, number, mean_weight]) AS relations
