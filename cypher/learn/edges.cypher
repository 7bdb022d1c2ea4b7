// name: learn.edges
// mode: read
// params: before, ids, scope
// returns: edges LIST<LIST>, pairs INTEGER
// What learning left at memories: the outgoing edges whose weight it changed, and the number of
// pending pairs that were not active since before (epoch seconds). edges: [source, target,
// relation, weight, lif_weight, base_weight, uses, promoted_uses, origin, time of last use, time of
// last decay], both times in epoch seconds.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
CALL (m) {
  MATCH (m)-[r:RELATES]->(other)
  WHERE r.base_weight IS NOT NULL
  // Ends are tested behind what is computed of the edges: else the planner may scan for them.
  WITH m, r, other, coalesce(toStringOrNull(r.relation), '') AS relation
  WHERE other:Memory AND other.scope = $p.scope
  RETURN collect([
    m.id, other.id, relation, r.weight, r.lif_weight,
    r.base_weight, r.uses, r.promoted_uses, r.origin,
    CASE WHEN r.last_used_at IS :: ZONED DATETIME NOT NULL
      THEN r.last_used_at.epochMillis / 1000.0 END,
    CASE WHEN r.decayed_at IS :: ZONED DATETIME NOT NULL
      THEN r.decayed_at.epochMillis / 1000.0 END
  ]) AS edges
}
CALL (m) {
  MATCH (m)-[pair:COACTIVATED]->()
  WHERE none(time IN pair.times WHERE time > $p.before)
  RETURN count(*) AS pairs
}
RETURN reduce(all = [], some IN collect(edges) | all + some) AS edges, sum(pairs) AS pairs
