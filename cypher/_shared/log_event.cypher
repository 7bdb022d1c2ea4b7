// fragment: log_event()
// Lock the scope's clock, log the event, unless it is logged already, and lock the memories in order.
// fresh: 1 if the event is new.
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
