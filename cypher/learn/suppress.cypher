// name: learn.suppress
// mode: write
// params: call, directional, event, event_id, ids, key, kind, now, rows, scope, suppression, symmetric, time
// returns: kind STRING, fresh BOOLEAN, memories INTEGER, changed INTEGER, created INTEGER, pairs INTEGER, suppressions INTEGER
// again: same
// Write that memories suppress others, in one event that is applied once. rows: [source, target].
// symmetric: whether an edge in the other direction counts as the same edge. ids: all ends, sorted.
// The edges are SUPPRESSES relationships, so that they never count as RELATES. Locks and log as in
// learn.reinforce.
// A memory that another one supersedes carries a mark: who did so first, and since when. Recalls
// test the mark alone; it follows the edges. Of two memories with conditions, one that overrides the
// other does so only where its conditions hold, so that makes no mark; nor does an edge that a later
// one in the other direction takes back.
// use: log_event()
CALL (e, fresh) {
  UNWIND CASE fresh WHEN 1 THEN $p.rows ELSE [] END AS row
  MATCH (a:Memory {scope: $p.scope, id: row[0]})
  MATCH (b:Memory {scope: $p.scope, id: row[1]})
  WITH e, row, a, b
  WHERE NOT EXISTS { (a)-[:SUPPRESSES {kind: $p.suppression}]->(b) }
    AND NOT ($p.symmetric AND EXISTS { (b)-[:SUPPRESSES {kind: $p.suppression}]->(a) })
  CREATE (a)-[:SUPPRESSES {kind: $p.suppression, created_at: $p.now}]->(b)
  CREATE (e)-[:CHANGED]->(:LearningChange {
    change: 'suppression', change_source: row[0], change_target: row[1],
    change_relation: $p.suppression
  })
  WITH [a, b] AS ends
  UNWIND ends AS target
  WITH DISTINCT target
  // use: mark_superseded(target)
}
RETURN e.kind AS kind, coalesce(e.call = $p.call, false) AS fresh, 0 AS memories, 0 AS changed, 0 AS created, 0 AS pairs,
       COUNT { (e)-[:CHANGED]->(:LearningChange {change: 'suppression'}) } AS suppressions
