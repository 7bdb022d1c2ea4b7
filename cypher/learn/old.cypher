// name: learn.old
// mode: read
// params: before, key
// returns: events
// How many events of a scope are older than a time.
MATCH (:MemoriaMeta {key: $p.key})-[:LOGGED]->(e:LearningEvent)
WHERE e.at < $p.before
RETURN count(*) AS events
