// name: remember.connectors
// mode: write
// params: now, rows, scope
// returns: created
// Write the connectors that are new, and lock all of them, sorted by id: most of those that messages
// need stand already, and need no more. rows: id, kind, name, created_at (null: now).
// They get no scope_key, which would only fill the full-text index.
// Setting the scope to its own value takes the lock; see ingest.relations.
UNWIND $p.rows AS row
MERGE (m:Memory {scope: $p.scope, id: row.id})
SET m.scope = $p.scope
WITH m, row
WHERE m.connector_name IS NULL
SET m.connector_name = row.name, m.created_at = coalesce(row.created_at, $p.now)
SET m:$(row.kind)
RETURN count(*) AS created
