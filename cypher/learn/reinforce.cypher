// name: learn.reinforce
// mode: write
// params: call, event, event_id, hours, ids, key, kind, max_questions, max_times, memories, now, origin, question, rows, scope, time
// returns: kind STRING, fresh BOOLEAN, memories INTEGER, changed INTEGER, created INTEGER, pairs INTEGER, suppressions INTEGER
// again: same
// Count uses and feedback of memories, and strengthen edges, in one event that is applied once.
// rows: [source, target, relation, increment, tags]; the increment is added to the weight, up to 1,
// and to the lif_weight, up to 2; a missing edge is made with the increment as its weight.
// memories: [id, 1 if used, 1 if confirmed, 1 if overridden]. ids: all of these, sorted.
// question: what was asked; a memory keeps the latest questions that it proved right, or wrong, for.
// Events of a scope are written one after the other: the node of the scope's clock is locked first,
// then the memories in order, as every writer locks them (see ingest.relations). So no event reads
// a value that another one is about to change. The old values go to the log, for an undo; and the
// counts after it, by which an undo sees that a memory was meanwhile forgotten and written again.
// call: the call that sends the event. fresh: whether this call applied it, the first time or, where
// the answer was lost, the time before.
// use: log_event()
CALL (e, fresh) {
  UNWIND CASE fresh WHEN 1 THEN $p.memories ELSE [] END AS row
  MATCH (m:Memory {scope: $p.scope, id: row[0]})
  CREATE (e)-[:CHANGED]->(ch:LearningChange)
  SET ch = m {
        .use_times, .use_count, .confirmed, .overridden, .active_hours, .right_for, .wrong_for
      },
      ch.change = 'memory', ch.change_source = row[0]
  SET m.use_count = CASE row[1] WHEN 1 THEN coalesce(m.use_count, 0) + 1 ELSE m.use_count END,
      m.use_times = CASE row[1]
        WHEN 1 THEN (coalesce(m.use_times, []) + $p.time)[-$p.max_times..] ELSE m.use_times END,
      m.active_hours = CASE
        WHEN row[1] = 1 AND NOT coalesce(m.active_hours >= $p.hours, false) THEN $p.hours
        ELSE m.active_hours END,
      m.confirmed = CASE row[2] WHEN 1 THEN coalesce(m.confirmed, 0) + 1 ELSE m.confirmed END,
      m.overridden = CASE row[3]
        WHEN 1 THEN coalesce(m.overridden, 0) + 1 ELSE m.overridden END
  SET ch.change_counts = [
        coalesce(m.use_count, 0), coalesce(m.confirmed, 0), coalesce(m.overridden, 0)
      ]
  WITH m, row,
       CASE WHEN m.right_for IS :: LIST<STRING NOT NULL> NOT NULL THEN m.right_for ELSE [] END AS right,
       CASE WHEN m.wrong_for IS :: LIST<STRING NOT NULL> NOT NULL THEN m.wrong_for ELSE [] END AS wrong
  WITH m, row, [q IN right WHERE q <> $p.question] AS right, [q IN wrong WHERE q <> $p.question] AS wrong
  // Of the same question the last word counts.
  WITH m, CASE WHEN row[3] = 1 THEN right ELSE (right + $p.question)[-$p.max_questions..] END AS right,
       CASE WHEN row[3] = 1 THEN (wrong + $p.question)[-$p.max_questions..] ELSE wrong END AS wrong
  SET m.right_for = CASE WHEN size(right) > 0 THEN right END,
      m.wrong_for = CASE WHEN size(wrong) > 0 THEN wrong END
  RETURN count(*) AS counted
}
CALL (e, fresh) {
  UNWIND CASE fresh WHEN 1 THEN $p.rows ELSE [] END AS row
  MATCH (a:Memory {scope: $p.scope, id: row[0]})
  MATCH (b:Memory {scope: $p.scope, id: row[1]})
  OPTIONAL MATCH (a)-[r:RELATES]->(b)
    WHERE coalesce(toStringOrNull(r.relation), '') = row[2]
  WITH e, row, a, b, collect(r) AS found
  CALL (e, row, found) {
    UNWIND found AS r
    // An edge whose weight is not a number is ignored everywhere, and so it is left alone here.
    WITH e, row, r, properties(r) AS before, CASE
      WHEN r.weight IS NULL THEN 0.01
      WHEN r.weight >= 0 AND r.weight <= 1.7976931348623157e308 THEN toFloat(r.weight)
    END AS weight
    WHERE weight IS NOT NULL
    SET r.weight = CASE
          WHEN weight + row[3] <= 1.0 THEN weight + row[3]
          WHEN weight > 1.0 THEN weight
          ELSE 1.0 END,
        r.lif_weight = CASE
          WHEN r.lif_weight >= 2.0 THEN r.lif_weight
          WHEN r.lif_weight + row[3] > 2.0 THEN 2.0
          WHEN r.lif_weight IS NOT NULL THEN r.lif_weight + row[3]
          WHEN weight + row[3] > 2.0 THEN 2.0
          WHEN weight + row[3] > 1.0 THEN weight + row[3] END,
        r.base_weight = coalesce(r.base_weight, weight),
        r.given_weight = CASE WHEN before.base_weight IS NULL THEN weight ELSE r.given_weight END,
        r.uses = coalesce(r.uses, 0) + 1,
        r.last_used_at = $p.now
    CREATE (e)-[:CHANGED]->(ch:LearningChange)
    SET ch = before,
        ch.change = 'changed', ch.change_source = row[0], ch.change_target = row[1],
        ch.change_relation = row[2], ch.change_weight = r.weight
    RETURN count(*) AS strengthened
  }
  CALL (e, row, a, b, found) {
    // An edge without a relation is not made again: no writer writes one.
    UNWIND CASE WHEN size(found) = 0 AND row[2] <> '' THEN [1] ELSE [] END AS _
    CREATE (a)-[:RELATES {
      relation: row[2], weight: row[3], base_weight: 0.0, tags: row[4], origin: $p.origin,
      uses: 1, created_at: $p.now, last_used_at: $p.now
    }]->(b)
    CREATE (e)-[:CHANGED]->(:LearningChange {
      change: 'created', change_source: row[0], change_target: row[1], change_relation: row[2],
      change_weight: row[3]
    })
    RETURN count(*) AS made
  }
  RETURN count(*) AS ready
}
RETURN e.kind AS kind, coalesce(e.call = $p.call, false) AS fresh,
       COUNT { (e)-[:CHANGED]->(:LearningChange {change: 'memory'}) } AS memories,
       COUNT { (e)-[:CHANGED]->(:LearningChange {change: 'changed'}) } AS changed,
       COUNT { (e)-[:CHANGED]->(:LearningChange {change: 'created'}) } AS created,
       0 AS pairs, 0 AS suppressions
