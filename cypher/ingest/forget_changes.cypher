// name: ingest.forget_changes
// mode: write
// params: limit, scope
// returns: deleted INTEGER
// Delete some of what the events of a scope's log say that they changed. Scans the events of all
// scopes.
MATCH (e:LearningEvent) WHERE e.scope = $p.scope
MATCH (e)-[:CHANGED]->(ch:LearningChange)
WITH DISTINCT ch LIMIT toInteger($p.limit)
DETACH DELETE ch
RETURN count(*) AS deleted
