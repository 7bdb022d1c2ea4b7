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
MERGE (c:MemoriaMeta {key: $p.key})
SET c.key = $p.key
WITH c
CALL (c) {
  OPTIONAL MATCH (known:MemoriaMeta {key: $p.event})
  WITH c, known WHERE known IS NULL
  SET c.scope = $p.scope,
      c.learning_events = coalesce(c.learning_events, 0) + 1,
      c.last_event_at = CASE WHEN c.last_event_at > $p.now THEN c.last_event_at ELSE $p.now END
  CREATE (c)-[:LOGGED]->(:LearningEvent:MemoriaMeta {
    key: $p.event, id: $p.event_id, scope: $p.scope, kind: $p.kind, time: $p.time,
    at: c.last_event_at, sequence: c.learning_events, call: $p.call
  })
  RETURN count(*) AS fresh
}
MATCH (e:MemoriaMeta {key: $p.event})
CALL (fresh) {
  UNWIND CASE fresh WHEN 1 THEN $p.ids ELSE [] END AS id
  MATCH (m:Memory {scope: $p.scope, id: id})
  SET m.scope = $p.scope
  RETURN count(*) AS locked
}
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
  OPTIONAL MATCH (by:Memory {scope: $p.scope})-[s:SUPPRESSES]->(target)
  WHERE by <> target AND s.kind IN $p.directional
    AND (s.kind <> 'overrides' OR by.`when` IS NULL OR target.`when` IS NULL)
    AND NOT EXISTS {
      (target)-[back:SUPPRESSES]->(by)
      WHERE back.kind IN $p.directional AND back.created_at >= s.created_at
    }
  WITH target, by.id AS id, CASE
    WHEN s.created_at IS :: ZONED DATETIME NOT NULL THEN s.created_at
    WHEN s IS NOT NULL THEN datetime({epochMillis: 0})
  END AS at
  ORDER BY at, id
  WITH target, collect([id, at])[0] AS first
  SET target.superseded_by = first[0], target.superseded_at = first[1]
  RETURN count(*) AS marked
}
RETURN e.kind AS kind, coalesce(e.call = $p.call, false) AS fresh, 0 AS memories, 0 AS changed, 0 AS created, 0 AS pairs,
       COUNT { (e)-[:CHANGED]->(:LearningChange {change: 'suppression'}) } AS suppressions
