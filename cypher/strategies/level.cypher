// name: strategies.level
// mode: read
// params: cap, frontier, held, max_weight, min_activation, query_tags, scope, tag_sim_floor, visited
// returns: level LIST<LIST>, memories LIST<LIST>
// One hop for every frontier memory of one or more explorations (source: 001, section 6.2).
//
// frontier  [exploration, id, energy, whether the memory itself is wanted], one row per memory.
// visited   one map per exploration, whose keys are ids; a list would be searched from its start
//           for every neighbour.
// level     [exploration, id, degree, whether any neighbour is above the threshold, children], one
//           row per frontier memory that exists. children: [id, -transfer, relation, direction,
//           tags, weight, tag similarity], in the order of their selection, at most cap of them.
// memories  the wanted memories, as in graph.hydrate; each lies on a path, and is at hand here.
UNWIND $p.frontier AS f
WITH f[0] AS exploration, f[1] AS id, f[2] AS energy, f[3] AS wanted
// use: find_memory(current, id)
WHERE // use: is_valid(current)
WITH exploration, id, energy, wanted, current,
     // use: degree(current) AS degree
CALL (exploration, energy, current, degree) {
  // use: best_edges(current, energy, degree)
  WITH neighbour.id AS id, edge, $p.visited[exploration][neighbour.id] IS NOT NULL AS seen
  // At most cap children of a parent can be selected. A neighbour that was already visited only
  // serves to distinguish a dead end from energy below the threshold, so it comes last.
  ORDER BY seen, edge[0], id
  LIMIT toInteger($p.cap)
  RETURN count(*) > 0 AS any_above,
         collect(CASE WHEN NOT seen THEN [id] + edge END) AS children
}
RETURN collect([exploration, id, degree, any_above, children]) AS level,
       collect(CASE WHEN wanted THEN
         // use: memory_row(current)
       END) AS memories
