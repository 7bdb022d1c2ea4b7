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
//
// The order of the arithmetic must stay: Python computes the same doubles, bit for bit.
UNWIND $p.frontier AS f
MATCH (current:Memory {scope: $p.scope, id: f[1]})
WHERE NOT coalesce(current.superseded_at <= $p.held.at OR current.valid_until <= $p.held.at, false)
  AND ($p.held.plain OR NOT coalesce(
    current.created_at > $p.held.made_by OR current.`when` IN $p.held.outside, false))
WITH f, current, COUNT { (current)-[:RELATES]-() } AS degree
CALL (f, current, degree) {
  // A parent is not expanded if even the best possible edge would carry too little energy.
  // An edge without a weight may be the best; the factor allows for rounding of a similarity of 1.
  WITH *, CASE WHEN $p.max_weight > 0.01 THEN $p.max_weight ELSE 0.01 END AS best
  WHERE ((f[2] * best) / sqrt(toFloat(degree))) * 1.000000000000001 > $p.min_activation
  // The weight alone decides about most edges of a hub, because tags can only lower the energy. The
  // factor allows for rounding; below 1e-290 doubles lose precision, so nothing is left out there.
  WITH *, CASE WHEN $p.min_activation > 1e-290
            THEN (($p.min_activation * sqrt(toFloat(degree))) / f[2]) * 0.999999999999 ELSE 0.0
          END AS least
  // Properties of the edges decide first; neighbours are read only for the edges that are left.
  MATCH (current)-[r:RELATES]-(neighbour)
  WHERE coalesce(r.weight, 0.01) >= least
  WITH neighbour, r,
       CASE WHEN r.tags IS :: LIST<ANY> NOT NULL THEN r.tags ELSE [] END AS tags,
       CASE
         WHEN r.weight IS NULL THEN 0.01
         WHEN r.weight > $p.max_weight AND r.weight <= 1.7976931348623157e308 THEN $p.max_weight
         WHEN r.weight >= 0 AND r.weight <= $p.max_weight THEN toFloat(r.weight)
       END AS weight
  WITH neighbour, r, tags, weight, size([t IN $p.query_tags WHERE t IN tags]) AS shared
  WITH neighbour, r, tags, weight,
       CASE
         WHEN size($p.query_tags) = 0 THEN 1.0
         WHEN size(tags) = 0 THEN $p.tag_sim_floor
         ELSE $p.tag_sim_floor + ((1.0 - $p.tag_sim_floor) * shared)
              / (size(tags) + size($p.query_tags) - shared)
       END AS similarity
  WITH neighbour, r, tags, weight, similarity,
       ((f[2] * weight) / sqrt(toFloat(degree))) * similarity AS transfer
  WHERE transfer > $p.min_activation
  // Of parallel edges the strongest counts; ties by relation, direction and tags.
  WITH neighbour, min([
         -transfer,
         coalesce(toStringOrNull(r.relation), ''),
         CASE WHEN startNode(r) = current THEN 'out' ELSE 'in' END,
         tags, weight, similarity
       ]) AS edge
  WHERE neighbour.scope = $p.scope AND neighbour:Memory AND neighbour.id IS :: STRING NOT NULL
    AND NOT coalesce(neighbour.superseded_at <= $p.held.at OR neighbour.valid_until <= $p.held.at, false)
    AND ($p.held.plain OR NOT coalesce(
      neighbour.created_at > $p.held.made_by OR neighbour.`when` IN $p.held.outside, false))
    // A connector with one edge leads nowhere, and must take no branch from what does.
    AND NOT (neighbour:Session|Speaker|Topic AND COUNT { (neighbour)-[:RELATES]-() } = 1)
  WITH neighbour.id AS id, edge, $p.visited[f[0]][neighbour.id] IS NOT NULL AS seen
  // At most cap children of a parent can be selected. A neighbour that was already visited only
  // serves to distinguish a dead end from energy below the threshold, so it comes last.
  ORDER BY seen, edge[0], id
  LIMIT toInteger($p.cap)
  RETURN count(*) > 0 AS any_above,
         collect(CASE WHEN NOT seen THEN [id] + edge END) AS children
}
RETURN collect([f[0], f[1], degree, any_above, children]) AS level,
       collect(CASE WHEN f[3] THEN [
         current.id, labels(current), coalesce(current.text, current.connector_name), current.tags,
         current.topics, current.entities, current.category, current.priority, current.`when`,
         CASE
           WHEN current.created_at IS :: ZONED DATETIME OR current.created_at IS :: LOCAL DATETIME
             THEN toString(current.created_at)
         END,
         current.metadata,
         CASE
           WHEN current.valid_until IS :: ZONED DATETIME OR current.valid_until IS :: LOCAL DATETIME
             THEN toString(current.valid_until)
         END
       ] END) AS memories
