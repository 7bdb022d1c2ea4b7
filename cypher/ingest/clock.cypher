// name: ingest.clock
// mode: write
// params: active_hours, key, last_active_at, log_since, scope
// returns: written INTEGER
// Set a scope's clock to where it was elsewhere, unless it is further here; null says nothing. Locks
// as in graph.advance_clock.
MERGE (c:MemoriaMeta {key: $p.key})
SET c.key = $p.key
WITH c
SET c.scope = $p.scope,
    c.active_hours = CASE WHEN c.active_hours >= $p.active_hours THEN c.active_hours
                          ELSE coalesce($p.active_hours, c.active_hours) END,
    c.last_active_at = CASE WHEN c.last_active_at >= $p.last_active_at THEN c.last_active_at
                            ELSE coalesce($p.last_active_at, c.last_active_at) END,
    c.log_since = CASE WHEN c.log_since >= $p.log_since THEN c.log_since
                       ELSE coalesce($p.log_since, c.log_since) END
RETURN count(*) AS written
