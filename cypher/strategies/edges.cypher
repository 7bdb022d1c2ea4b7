// name: strategies.edges
// mode: read
// params: both_ways, connector_edges, floor, frontier, held, limit, max_lif_weight, max_weight, scope
// returns: found LIST, edges LIST<LIST>, connectors LIST
// The strongest edges at memories of a scope, for a strategy that decides in Python.
//
// frontier   [id, energy], one row per memory.
// floor      an edge with less energy * weight is left out.
// both_ways  relations that are followed against their stored direction, too; null: all relations.
// connector_edges  the most edges of a connector whose edges are followed both ways, whatever their
//            relation: they have no direction, and a larger one joins too much to mean anything.
// limit      the most edges of all frontier memories together, by energy * weight.
// max_lif_weight  lif_weight counts up to this value, instead of weight, which counts up to
//            max_weight; null: only weight counts.
// found      ids of the frontier memories that exist.
// edges      [source, target, relation, direction, weight, tags, degree of the source]; without
//            loops and edges into another scope.
// connectors ids of the frontier, and of the neighbours in edges, that are connectors.
UNWIND $p.frontier AS f
WITH f[0] AS id, f[1] AS energy
// use: find_memory(memory, id)
WHERE // use: is_valid(memory)
WITH collect({memory: memory, energy: energy}) AS rows
CALL (rows) {
  UNWIND rows AS row
  WITH row.memory AS current, row.energy AS energy,
       CASE WHEN $p.max_lif_weight > $p.max_weight THEN $p.max_lif_weight ELSE $p.max_weight END
         AS most
  // An edge without a weight may be the best one, so it must be read.
  WHERE energy * CASE WHEN most > 0.01 THEN most ELSE 0.01 END >= $p.floor
  // use: edges(current, r, neighbour)
  WITH current, energy, r, neighbour,
       CASE WHEN $p.max_lif_weight IS NULL OR r.lif_weight IS NULL
         THEN [r.weight, $p.max_weight] ELSE [r.lif_weight, $p.max_lif_weight] END AS counted
  // Neighbours are tested behind what is computed of the edges: else the planner may scan for them.
  WHERE neighbour <> current
    AND ($p.both_ways IS NULL OR startNode(r) = current OR r.relation IN $p.both_ways
         OR (// use: is_connector(current)
             AND // use: degree(current) <= $p.connector_edges)
         OR (// use: is_connector(neighbour)
             AND // use: degree(neighbour) <= $p.connector_edges))
  WITH current, energy, r, neighbour,
       // use: counted_weight(counted[0], counted[1]) AS weight
  WHERE energy * weight >= $p.floor AND // use: in_scope(neighbour)
    AND // use: is_valid(neighbour)
  WITH current, neighbour, energy * weight AS strength, weight,
       coalesce(toStringOrNull(r.relation), '') AS relation,
       CASE WHEN startNode(r) = current THEN 'out' ELSE 'in' END AS direction,
       CASE WHEN r.tags IS :: LIST<ANY> NOT NULL THEN r.tags ELSE [] END AS tags
  ORDER BY strength DESC, current.id, neighbour.id, relation, direction, tags
  LIMIT toInteger($p.limit)
  RETURN collect([
    current.id, neighbour.id, relation, direction, weight, tags,
    // use: degree(current)
  ]) AS edges,
  collect(DISTINCT CASE WHEN // use: is_connector(neighbour) THEN neighbour.id END) AS joining
}
RETURN [row IN rows | row.memory.id] AS found, edges,
       joining + [row IN rows WHERE // use: is_connector(row.memory) | row.memory.id] AS connectors
