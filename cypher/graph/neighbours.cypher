// name: graph.neighbours
// mode: read
// params: id, limit, scope
// returns: degree INTEGER, edges LIST<LIST>
// The strongest edges of a memory, in both directions, without loops and edges into another scope.
// edges: [id at the other end, relation, direction, weight, tags, uses]. degree: the number of all
// edges. No row if the memory does not exist.
WITH $p.id AS id
// use: find_memory(m, id)
WITH m, // use: degree(m) AS degree
CALL (m) {
  // use: edges(m, r, other)
  WITH m, other, r, coalesce(toStringOrNull(r.relation), '') AS relation,
       CASE WHEN startNode(r) = m THEN 'out' ELSE 'in' END AS direction,
       CASE
         WHEN r.weight IS NULL THEN 0.01
         WHEN r.weight > 1 AND r.weight <= 1.7976931348623157e308 THEN 1.0
         WHEN r.weight >= 0 AND r.weight <= 1 THEN toFloat(r.weight)
         ELSE 0.0
       END AS weight
  // The other ends are tested behind what is computed of the edges: else the planner may scan for them.
  WHERE other <> m AND // use: in_scope(other)
  WITH other.id AS id, r, relation, direction, weight
  ORDER BY weight DESC, id, relation, direction LIMIT toInteger($p.limit)
  RETURN collect([id, relation, direction, weight, r.tags, r.uses]) AS edges
}
RETURN degree, edges
