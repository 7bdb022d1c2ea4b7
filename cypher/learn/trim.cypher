// name: learn.trim
// mode: write
// params: before, key, limit
// returns: trimmed
// Delete events of a scope that are older than a time, limit of them, the oldest first, and what they
// say of before. log_since of the clock's node: from when on the log is complete. Sent again it deletes
// the next. Locks as in learn.reinforce.
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
