// name: strategies.synapse
// mode: read
// params: conflicts, directional, floor, frontier, held, limit, max_weight, min_overlap, now_ms, rate, scope
// returns: found LIST, edges LIST<LIST>, suppressions LIST<LIST>, affinities LIST<LIST>, connectors LIST
// The edges that leave memories, in each of the four categories, and the number of edges of that
// category at the source, which alone divides the energy (source: 003, "Why four denominators?").
//
// frontier    [id, energy to pass on], one row per memory.
// floor       an edge that carries less energy is left out.
// limit       the most rows of each category: the strongest of all frontier memories together.
// rate        the weight of an edge counts times e^(-rate * hours since it was last used, or made).
// min_overlap least Jaccard of two memories' tags for an affinity; null: no affinities.
// found        ids of the frontier memories that exist.
// edges        [source, target, relation, direction, weight, hours, tags, edges at the source]
// suppressions [source, target, kind, direction, weight, edges of the category at the source]
// affinities   [source, target, Jaccard, shared tags, affinities of the source]
// connectors   ids of the frontier, and of the neighbours in edges, that are connectors
// Without loops and edges into another scope.
UNWIND $p.frontier AS f
WITH f[0] AS id, f[1] AS energy
// use: find_memory(memory, id)
WHERE // use: is_valid(memory)
WITH collect({memory: memory, energy: energy}) AS rows
CALL (rows) {
  UNWIND rows AS row
  WITH row.memory AS current, row.energy AS energy,
       CASE WHEN $p.max_weight > 0.01 THEN $p.max_weight ELSE 0.01 END AS best
  WHERE energy * best >= $p.floor
  WITH current, energy, best, // use: degree(current) AS edge_count
  // A hub is not expanded if even its best possible edge would carry too little.
  WHERE energy * best >= $p.floor * edge_count
  // use: edges(current, r, neighbour)
  WHERE neighbour <> current
  WITH current, energy, edge_count, r, neighbour,
       // use: counted_weight(r.weight, $p.max_weight) AS weight,
       CASE
         WHEN r.last_used_at IS :: ZONED DATETIME NOT NULL THEN r.last_used_at.epochMillis
         WHEN r.created_at IS :: ZONED DATETIME NOT NULL THEN r.created_at.epochMillis
       END AS since
  WITH current, energy, edge_count, r, neighbour, weight,
       CASE WHEN since < $p.now_ms THEN ($p.now_ms - since) / 3600000.0 ELSE 0.0 END AS hours
  WITH current, edge_count, r, neighbour, weight, hours,
       energy * weight * exp(-$p.rate * hours) / edge_count AS strength
  WHERE strength >= $p.floor AND // use: in_scope(neighbour)
    AND // use: is_valid(neighbour)
  WITH current, edge_count, neighbour, weight, hours, strength,
       coalesce(toStringOrNull(r.relation), '') AS relation,
       CASE WHEN startNode(r) = current THEN 'out' ELSE 'in' END AS direction,
       CASE WHEN r.tags IS :: LIST<ANY> NOT NULL THEN r.tags ELSE [] END AS tags
  ORDER BY strength DESC, current.id, neighbour.id, relation, direction, tags
  LIMIT toInteger($p.limit)
  RETURN collect([
    current.id, neighbour.id, relation, direction, weight, hours, tags, edge_count
  ]) AS edges,
  collect(DISTINCT CASE WHEN // use: is_connector(neighbour) THEN neighbour.id END) AS joining
}
CALL (rows) {
  UNWIND rows AS row
  WITH row.memory AS current, row.energy AS energy
  WHERE energy * $p.max_weight >= $p.floor
  WITH current, energy,
       COUNT { (current)-[s:SUPPRESSES]-() WHERE s.kind = $p.conflicts } AS conflict_count,
       COUNT { (current)-[s:SUPPRESSES]->() WHERE s.kind IN $p.directional } AS directional_count
  MATCH (current)-[s:SUPPRESSES]-(neighbour)
  WHERE neighbour <> current
    AND (s.kind = $p.conflicts OR (s.kind IN $p.directional AND startNode(s) = current))
  WITH current, energy, s, neighbour,
       CASE WHEN s.kind = $p.conflicts THEN conflict_count ELSE directional_count END AS edge_count,
       CASE
         WHEN s.weight IS NULL THEN $p.max_weight
         WHEN s.weight > $p.max_weight AND s.weight <= 1.7976931348623157e308 THEN $p.max_weight
         WHEN s.weight >= 0 AND s.weight <= $p.max_weight THEN toFloat(s.weight)
       END AS weight
  WITH current, s, neighbour, edge_count, weight, energy * weight / edge_count AS strength
  WHERE strength >= $p.floor AND // use: in_scope(neighbour)
    AND // use: is_valid(neighbour)
  WITH current, neighbour, edge_count, weight, strength, s.kind AS kind,
       CASE WHEN startNode(s) = current THEN 'out' ELSE 'in' END AS direction
  ORDER BY strength DESC, current.id, neighbour.id, kind, direction
  LIMIT toInteger($p.limit)
  RETURN collect([
    current.id, neighbour.id, kind, direction, weight, edge_count
  ]) AS suppressions
}
CALL (rows) {
  WITH [row IN rows
        WHERE row.energy >= $p.floor AND row.memory.tags IS :: LIST<STRING NOT NULL> NOT NULL
          AND size(row.memory.tags) > 0] AS tagged
  WHERE $p.min_overlap IS NOT NULL AND size(tagged) > 0
  WITH tagged, reduce(every = [], row IN tagged | every + row.memory.tags) AS every
  // There is no index on tags, so this takes one pass over the scope for all frontier memories.
  // use: all_memories(other)
    AND other.id IS :: STRING NOT NULL AND NOT // use: is_connector(other)
    AND // use: is_valid(other)
  WITH tagged, every, other, other.tags AS tags
  // A memory with too many tags that no frontier memory has can't overlap enough, and is left out
  // at once. The factor allows for rounding.
  WHERE tags IS :: LIST<STRING NOT NULL> NOT NULL AND size(tags) > 0
    AND size([tag IN tags WHERE tag IN every]) >= 0.999 * $p.min_overlap * size(tags)
  UNWIND tagged AS row
  WITH row.memory AS current, row.energy AS energy, other, tags,
       [tag IN row.memory.tags WHERE tag IN tags] AS shared
  WHERE other <> current
  WITH current, energy, other, shared,
       toFloat(size(shared)) / (size(current.tags) + size(tags) - size(shared)) AS overlap
  WHERE overlap >= $p.min_overlap
  WITH current, energy, collect([other.id, overlap, shared]) AS partners
  UNWIND partners AS partner
  WITH current, partner, size(partners) AS edge_count,
       energy * partner[1] / size(partners) AS strength
  WHERE strength >= $p.floor
  ORDER BY strength DESC, current.id, partner[0]
  LIMIT toInteger($p.limit)
  RETURN collect([current.id, partner[0], partner[1], partner[2], edge_count]) AS affinities
}
RETURN [row IN rows | row.memory.id] AS found, edges, suppressions, affinities,
       joining + [row IN rows WHERE // use: is_connector(row.memory) | row.memory.id] AS connectors
