// name: learn.log
// mode: read
// params: key, since
// returns: events LIST, log_since
// Keys of the events of a scope since a time that were not undone, the newest first. log_since:
// start of the complete log; null if no event was ever dropped.
OPTIONAL MATCH (c:MemoriaMeta {key: $p.key})
OPTIONAL MATCH (c)-[:LOGGED]->(e:LearningEvent)
WHERE e.at >= $p.since AND e.undone_at IS NULL
WITH c, e ORDER BY e.sequence DESC
RETURN collect(e.key) AS events, c.log_since AS log_since
