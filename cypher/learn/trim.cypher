// name: learn.trim
// mode: write
// params: before, key, limit
// returns: trimmed INTEGER
// Delete events of a scope that are older than a time, at most limit events, the oldest first,
// together with the old values that they logged. The clock's node gets log_since: the start of the
// complete log. Sent a second time, the query deletes the next events. Locks as in learn.reinforce.
MERGE (c:MemoriaMeta {key: $p.key})
SET c.key = $p.key
WITH c
CALL (c) {
  MATCH (c)-[:LOGGED]->(e:LearningEvent)
  WHERE e.at < $p.before
  WITH e ORDER BY e.sequence LIMIT toInteger($p.limit)
  CALL (e) {
    OPTIONAL MATCH (e)-[:CHANGED]->(ch:LearningChange)
    DETACH DELETE ch
  }
  DETACH DELETE e
  RETURN count(*) AS trimmed
}
SET c.log_since = CASE
  WHEN trimmed > 0 AND NOT coalesce(c.log_since >= $p.before, false) THEN $p.before
  ELSE c.log_since END
RETURN trimmed
