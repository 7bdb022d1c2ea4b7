// name: learn.co_activate
// mode: write
// params: call, event, event_id, ids, increment, key, kind, needed, now, origin, relation, rows, scope, time, window_s
// returns: kind STRING, fresh BOOLEAN, memories INTEGER, changed INTEGER, created INTEGER, pairs INTEGER, suppressions INTEGER
// again: same
// Count that pairs of memories were active together, in one event that is applied once. rows:
// [source, target, gain, loss], source < target. An edge of this relation between the two gets the
// weight w + (gain - loss * w), Oja's rule, within 0 and 1. A pair without any edge is counted;
// when it was counted needed times within window_s, it gets an edge with the weight increment. A
// pair with another edge is left alone, because that edge explains why both were active. ids: all
// ends, sorted.
// Pending pairs are stored on COACTIVATED relationships, so that they never count as edges. Locks
// and log as in learn.reinforce.
// use: log_event()
CALL (e, fresh) {
  UNWIND CASE fresh WHEN 1 THEN $p.rows ELSE [] END AS row
  MATCH (a:Memory {scope: $p.scope, id: row[0]})
  MATCH (b:Memory {scope: $p.scope, id: row[1]})
  OPTIONAL MATCH (a)-[r:RELATES]-(b)
  WITH e, row, a, b, collect(r) AS joined
  WITH e, row, a, b, joined, [r IN joined WHERE r.relation = $p.relation] AS learned
  CALL (e, row, learned) {
    UNWIND learned AS r
    WITH e, row, r, properties(r) AS before,
         r.weight + (row[2] - row[3] * r.weight) AS weight
    WHERE weight IS NOT NULL AND r.weight >= 0 AND r.weight <= 1.0
    SET r.weight = CASE WHEN weight > 1.0 THEN 1.0 WHEN weight < 0.0 THEN 0.0 ELSE weight END,
        r.base_weight = coalesce(r.base_weight, 0.0),
        r.uses = coalesce(r.uses, 0) + 1,
        r.last_used_at = $p.now
    CREATE (e)-[:CHANGED]->(ch:LearningChange)
    SET ch = before,
        ch.change = 'changed', ch.change_source = startNode(r).id,
        ch.change_target = endNode(r).id, ch.change_relation = $p.relation,
        ch.change_weight = r.weight
    RETURN count(*) AS updated
  }
  CALL (e, row, a, b, joined) {
    UNWIND CASE size(joined) WHEN 0 THEN [1] ELSE [] END AS _
    MERGE (a)-[pair:COACTIVATED]->(b)
    WITH e, row, a, b, pair, pair.times AS before
    SET pair.times = ([time IN coalesce(before, []) WHERE time > $p.time - $p.window_s]
                      + $p.time)[-$p.needed..]
    CREATE (e)-[:CHANGED]->(:LearningChange {
      change: 'pair', change_source: row[0], change_target: row[1],
      times: before, change_times: pair.times
    })
    WITH e, row, a, b, size(pair.times) >= $p.needed AS often
    CALL (e, row, a, b, often) {
      UNWIND CASE WHEN often THEN [1] ELSE [] END AS _
      CREATE (a)-[:RELATES {
        relation: $p.relation, weight: $p.increment, base_weight: 0.0, tags: [],
        origin: $p.origin, uses: 1, created_at: $p.now, last_used_at: $p.now
      }]->(b)
      CREATE (e)-[:CHANGED]->(:LearningChange {
        change: 'created', change_source: row[0], change_target: row[1],
        change_relation: $p.relation, change_weight: $p.increment
      })
      RETURN count(*) AS made
    }
    RETURN count(*) AS counted
  }
  RETURN count(*) AS ready
}
RETURN e.kind AS kind, coalesce(e.call = $p.call, false) AS fresh, 0 AS memories,
       COUNT { (e)-[:CHANGED]->(:LearningChange {change: 'changed'}) } AS changed,
       COUNT { (e)-[:CHANGED]->(:LearningChange {change: 'created'}) } AS created,
       COUNT { (e)-[:CHANGED]->(:LearningChange {change: 'pair'}) } AS pairs, 0 AS suppressions
