// name: learn.undo
// mode: write
// params: directional, event, key, now, scope, undo
// returns: undone BOOLEAN, changes INTEGER, restored INTEGER
// again: same
// Take back one event: every edge, memory and pending pair gets the values that the log has from
// before. An edge whose weight, a memory whose counts, or a pair whose times are not those that the
// event left was written by something else since, and stays. Locks as in learn.reinforce. The event is marked in
// the same transaction, so that it is undone only once. undo: the value of that mark; a query that
// is sent again because its answer was lost recognises it and gives the same answer. The ids of a
// change are named before its memories are looked for, and both ends are found before something is
// computed: else the planner may read a whole scope for them.
MERGE (c:MemoriaMeta {key: $p.key})
SET c.key = $p.key
WITH c
MATCH (event:MemoriaMeta {key: $p.event})
WITH event, CASE WHEN event.undone_at IS NULL THEN event END AS e
CALL (e) {
  WITH e WHERE e IS NOT NULL
  SET e.undone_at = $p.now, e.undone_by = $p.undo
}
CALL (e) {
  OPTIONAL MATCH (e)-[:CHANGED]->(ch:LearningChange)
  WITH e, collect(ch) AS all
  UNWIND reduce(ids = [], ch IN all | ids + ch.change_source + ch.change_target) AS id
  WITH DISTINCT id ORDER BY id
  MATCH (m:Memory {scope: $p.scope, id: id})
  SET m.scope = $p.scope
  RETURN count(*) AS locked
}
CALL (e) {
  MATCH (e)-[:CHANGED]->(ch:LearningChange {change: 'memory'})
  WITH ch, ch.change_source AS id
  MATCH (m:Memory {scope: $p.scope, id: id})
  WHERE coalesce(ch.change_counts = [
    coalesce(m.use_count, 0), coalesce(m.confirmed, 0), coalesce(m.overridden, 0)
  ], true)
  SET m.use_times = ch.use_times, m.use_count = ch.use_count, m.confirmed = ch.confirmed,
      m.overridden = ch.overridden, m.active_hours = ch.active_hours, m.right_for = ch.right_for,
      m.wrong_for = ch.wrong_for
  RETURN count(*) AS memories
}
CALL (e) {
  MATCH (e)-[:CHANGED]->(ch:LearningChange {change: 'changed'})
  WITH ch, ch.change_source AS source, ch.change_target AS target
  MATCH (a:Memory {scope: $p.scope, id: source})
  MATCH (b:Memory {scope: $p.scope, id: target})
  WITH ch, a, b, ch.change_relation AS relation
  MATCH (a)-[r:RELATES]->(b)
  WHERE coalesce(toStringOrNull(r.relation), '') = relation
    AND r.weight = ch.change_weight
  SET r = ch {.*, change: null, change_source: null, change_target: null, change_relation: null,
              change_weight: null}
  RETURN count(*) AS changed
}
CALL (e) {
  MATCH (e)-[:CHANGED]->(ch:LearningChange {change: 'created'})
  WITH ch, ch.change_source AS source, ch.change_target AS target
  MATCH (a:Memory {scope: $p.scope, id: source})
  MATCH (b:Memory {scope: $p.scope, id: target})
  WITH ch, a, b, ch.change_relation AS relation
  MATCH (a)-[r:RELATES]->(b)
  WHERE coalesce(toStringOrNull(r.relation), '') = relation
    AND r.weight = ch.change_weight
  DELETE r
  RETURN count(*) AS created
}
CALL (e) {
  MATCH (e)-[:CHANGED]->(ch:LearningChange {change: 'deleted'})
  WITH ch, ch.change_source AS source, ch.change_target AS target
  MATCH (a:Memory {scope: $p.scope, id: source})
  MATCH (b:Memory {scope: $p.scope, id: target})
  WHERE NOT EXISTS {
    MATCH (a)-[there:RELATES]->(b)
    WHERE coalesce(toStringOrNull(there.relation), '') = ch.change_relation
  }
  CREATE (a)-[r:RELATES]->(b)
  SET r = ch {.*, change: null, change_source: null, change_target: null, change_relation: null,
              change_weight: null}
  RETURN count(*) AS deleted
}
CALL (e) {
  MATCH (e)-[:CHANGED]->(ch:LearningChange {change: 'suppression'})
  WITH ch, ch.change_source AS source, ch.change_target AS target
  MATCH (a:Memory {scope: $p.scope, id: source})
  MATCH (b:Memory {scope: $p.scope, id: target})
  WITH a, b, ch.change_relation AS kind
  MATCH (a)-[s:SUPPRESSES {kind: kind}]->(b)
  DELETE s
  WITH collect(a) + collect(b) AS ends, count(*) AS suppressions
  CALL (ends) {
    UNWIND ends AS target
    WITH DISTINCT target
    // As in learn.suppress.
    // use: mark_superseded(target)
  }
  RETURN suppressions
}
CALL (e) {
  MATCH (e)-[:CHANGED]->(ch:LearningChange {change: 'pair'})
  WITH ch, ch.change_source AS source, ch.change_target AS target
  MATCH (a:Memory {scope: $p.scope, id: source})
  MATCH (b:Memory {scope: $p.scope, id: target})
  WITH ch, a, b, coalesce(ch.change_times, []) AS left_times
  OPTIONAL MATCH (a)-[there:COACTIVATED]->(b)
  WITH ch, a, b, there, left_times
  WHERE coalesce(there.times, []) = left_times
  FOREACH (times IN CASE WHEN ch.times IS NULL THEN [] ELSE [ch.times] END |
    MERGE (a)-[pair:COACTIVATED]->(b)
    SET pair.times = times
  )
  FOREACH (_ IN CASE WHEN ch.times IS NULL THEN [1] ELSE [] END | DELETE there)
  RETURN count(*) AS pairs
}
CALL (e, memories, changed, created, deleted, suppressions, pairs) {
  WITH * WHERE e IS NOT NULL
  SET e.restored = memories + changed + created + deleted + suppressions + pairs
}
RETURN event.undone_by = $p.undo AS undone,
       COUNT { (event)-[:CHANGED]->() } AS changes,
       event.restored AS restored
