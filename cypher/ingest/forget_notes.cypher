// name: ingest.forget_notes
// mode: write
// params: key, limit, scope
// returns: events INTEGER, clocks INTEGER
// Delete some of the nodes that keep notes about a scope: the events of its log, and its clock. key:
// that of the clock. Scans the notes about all scopes.
MATCH (n:MemoriaMeta) WHERE n.scope = $p.scope OR n.key = $p.key
WITH n, n:LearningEvent AS is_event LIMIT toInteger($p.limit)
DETACH DELETE n
RETURN sum(CASE WHEN is_event THEN 1 ELSE 0 END) AS events,
       sum(CASE WHEN is_event THEN 0 ELSE 1 END) AS clocks
