// name: export.clock
// mode: read
// params: key, scope
// returns: clock MAP | NULL
// The clock of a scope, null where there is none. log_since: what was learned before this time will
// stand in no log where the clock is ingested: that is all that was learned until now.
OPTIONAL MATCH (c:MemoriaMeta {key: $p.key}) WHERE c.scope = $p.scope
WITH c, CASE
  WHEN c.last_event_at IS NULL OR c.log_since > c.last_event_at THEN c.log_since
  ELSE c.last_event_at + duration({microseconds: 1})
END AS log_since
RETURN CASE WHEN c IS NOT NULL THEN {
  active_hours: c.active_hours,
  last_active_at: CASE WHEN c.last_active_at IS :: ZONED DATETIME NOT NULL
    THEN toString(datetime({datetime: c.last_active_at, timezone: 'Z'})) END,
  log_since: CASE WHEN log_since IS :: ZONED DATETIME NOT NULL
    THEN toString(datetime({datetime: log_since, timezone: 'Z'})) END
} END AS clock
