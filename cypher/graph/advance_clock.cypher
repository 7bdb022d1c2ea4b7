// name: graph.advance_clock
// mode: write
// params: key, max_pause, now, scope
// returns: active_hours FLOAT
// again: same
// Advance a scope's clock to now and read it. The clock counts the hours in which the scope was in
// use: of the time since its last use, at most max_pause hours. A wall clock that was set back
// counts nothing. Sent a second time, the query changes nothing.
// Setting the key to its own value locks the node before it is read, so that concurrent callers do
// not count the same time twice.
MERGE (c:MemoriaMeta {key: $p.key})
SET c.key = $p.key
WITH c, coalesce(c.active_hours, 0.0) AS hours, coalesce(c.last_active_at, $p.now) AS last
WITH c, hours, last, ($p.now.epochMillis - last.epochMillis) / 3600000.0 AS elapsed
SET c.scope = $p.scope,
    c.active_hours = hours + CASE
      WHEN elapsed <= 0 THEN 0.0 WHEN elapsed < $p.max_pause THEN elapsed ELSE $p.max_pause
    END,
    c.last_active_at = CASE WHEN elapsed > 0 THEN $p.now ELSE last END
RETURN c.active_hours AS active_hours
