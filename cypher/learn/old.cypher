// name: learn.old
// mode: read
// params: before, key
// returns: events INTEGER
// The number of events of a scope that are older than a time.
MATCH (:MemoriaMeta {key: $p.key})-[:LOGGED]->(e:LearningEvent)
WHERE e.at < $p.before
RETURN count(*) AS events
