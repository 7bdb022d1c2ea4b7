// name: remember.connectors
// mode: write
// params: now, rows, scope
// returns: created INTEGER
// Write the connectors that are new, and lock all of them, sorted by id: most of those that messages
// need stand already, and need no more. rows: id, kind, name, created_at (null: now).
// They get no scope_key, which would only fill the full-text index.
// A topic keeps the shortest of its names, of those as short the first one: the same name, whichever
// writer comes first.
// Setting the scope to its own value takes the lock; see ingest.relations.
UNWIND $p.rows AS row
MERGE (m:Memory {scope: $p.scope, id: row.id})
SET m.scope = $p.scope
WITH m, row, m.connector_name IS NULL AS made
WHERE made OR row.kind = 'Topic' AND (
  size(row.name) < size(m.connector_name)
  OR size(row.name) = size(m.connector_name) AND row.name < m.connector_name)
SET m.connector_name = row.name
WITH m, row, made
WHERE made
SET m.created_at = coalesce(row.created_at, $p.now)
SET m:$(row.kind)
RETURN count(*) AS created
