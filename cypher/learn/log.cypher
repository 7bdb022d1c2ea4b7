// name: learn.log
// mode: read
// params: key, since
// returns: events
// Keys of the events of a scope from a time on that were not undone, the newest first.
MATCH (:MemoriaMeta {key: $p.key})-[:LOGGED]->(e:LearningEvent)
WHERE e.at >= $p.since AND e.undone_at IS NULL
WITH e ORDER BY e.sequence DESC
RETURN collect(e.key) AS events
