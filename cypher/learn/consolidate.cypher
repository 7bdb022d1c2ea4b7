// name: learn.consolidate
// mode: write
// params: before, call, event, event_id, ids, key, kind, now, page, rows, scope, time
// returns: kind STRING, fresh BOOLEAN, memories INTEGER, changed INTEGER, created INTEGER, pairs INTEGER, suppressions INTEGER
// again: same
// Write the decisions of a consolidation, in one event that is applied once. rows: [source, target,
// relation, weight that was read, new weight or null to delete, lif_weight or null, base_weight,
// promoted_uses]. An edge whose weight is no longer the one that was read was used meanwhile, and
// is left alone; changed counts the other edges. Pending pairs of the memories in page that were
// not active since before are deleted. ids: all ends, sorted. Locks and log as in learn.reinforce.
// use: log_event()
CALL (e, fresh) {
  UNWIND CASE fresh WHEN 1 THEN $p.rows ELSE [] END AS row
  MATCH (a:Memory {scope: $p.scope, id: row[0]})
  MATCH (b:Memory {scope: $p.scope, id: row[1]})
  // As in ingest.delete_edges.
  WITH row, a, b, row[2] AS relation
  MATCH (a)-[r:RELATES]->(b)
  WHERE coalesce(toStringOrNull(r.relation), '') = relation AND r.weight = row[3]
  CREATE (e)-[:CHANGED]->(ch:LearningChange)
  SET ch = properties(r),
      ch.change = CASE WHEN row[4] IS NULL THEN 'deleted' ELSE 'changed' END,
      ch.change_source = row[0], ch.change_target = row[1], ch.change_relation = row[2],
      ch.change_weight = row[4]
  FOREACH (_ IN CASE WHEN row[4] IS NULL THEN [1] ELSE [] END | DELETE r)
  FOREACH (weight IN CASE WHEN row[4] IS NULL THEN [] ELSE [row[4]] END |
    SET r.weight = weight, r.lif_weight = row[5], r.base_weight = row[6],
        r.promoted_uses = row[7], r.decayed_at = $p.now
  )
  RETURN count(*) AS written
}
CALL (e, fresh) {
  UNWIND CASE fresh WHEN 1 THEN $p.page ELSE [] END AS id
  MATCH (m:Memory {scope: $p.scope, id: id})-[pair:COACTIVATED]->(other:Memory)
  WHERE none(time IN pair.times WHERE time > $p.before)
  CREATE (e)-[:CHANGED]->(:LearningChange {
    change: 'pair', change_source: id, change_target: other.id, times: pair.times
  })
  DELETE pair
  RETURN count(*) AS forgotten
}
RETURN e.kind AS kind, coalesce(e.call = $p.call, false) AS fresh, 0 AS memories,
       COUNT { (e)-[:CHANGED]->(ch:LearningChange) WHERE ch.change <> 'pair' } AS changed,
       0 AS created,
       COUNT { (e)-[:CHANGED]->(:LearningChange {change: 'pair'}) } AS pairs,
       0 AS suppressions
