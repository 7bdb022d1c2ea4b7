// name: ingest.forget_notes
// mode: write
// params: key, limit, scope
// returns: events INTEGER, clocks INTEGER, others INTEGER
// Delete some of the nodes that keep notes about a scope: the events of its log, its clock, and others. key:
// that of the clock. Scans the notes about all scopes.
MATCH (n:MemoriaMeta) WHERE n.scope = $p.scope OR n.key = $p.key
WITH n, n:LearningEvent AS is_event, n.key = $p.key AS is_clock LIMIT toInteger($p.limit)
DETACH DELETE n
RETURN sum(CASE WHEN is_event THEN 1 ELSE 0 END) AS events,
       sum(CASE WHEN is_clock THEN 1 ELSE 0 END) AS clocks,
       sum(CASE WHEN is_event OR is_clock THEN 0 ELSE 1 END) AS others
