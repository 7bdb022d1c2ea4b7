// name: doctor.pending
// mode: read
// params: key
// returns: count INTEGER, scopes LIST<STRING>
// How many memories the notes about missing vectors hold whose keys begin with key, and the scopes of
// the notes, sorted; see ingest.pending.
MATCH (note:MemoriaMeta) WHERE note.key STARTS WITH $p.key
WITH note.scope AS scope, sum(size(note.ids)) AS number ORDER BY scope
RETURN sum(number) AS count, collect(scope) AS scopes
