// name: ingest.memories
// mode: write
// params: kinds, now, rows, scope, scope_key
// returns: written, created
// Write memories of one scope, sorted by id, so that concurrent writers lock in one order.
// rows: id, kind, properties (null removes one), created_at, history (what use and linking left
// elsewhere, in place of what they left here; null keeps that), embedding (null keeps the one stored,
// unless the text changed). Learning counters stay. kinds: the labels of which a memory has one.
// A changed text is to be linked anew; linked_before keeps that an earlier text was linked, so that
// linking strengthens the edges that it finds again.
UNWIND $p.rows AS row
MERGE (m:Memory {scope: $p.scope, id: row.id})
WITH m, row,
     m.text IS NULL AS created,
     coalesce(m.text <> row.properties.text, false) AS changed,
     coalesce(row.created_at, m.created_at, $p.now) AS created_at
SET m += row.properties, m.scope_key = $p.scope_key, m.created_at = created_at
REMOVE m:$([kind IN $p.kinds WHERE kind <> row.kind])
SET m:$(row.kind)
FOREACH (_ IN CASE WHEN changed AND row.embedding IS NULL THEN [1] ELSE [] END |
  REMOVE m.embedding
)
FOREACH (_ IN CASE WHEN changed AND m.linked_at IS NOT NULL THEN [1] ELSE [] END |
  SET m.linked_before = true
  REMOVE m.linked_at
)
FOREACH (vector IN CASE WHEN row.embedding IS NULL THEN [] ELSE [row.embedding] END |
  SET m.embedding = vector
)
FOREACH (history IN CASE WHEN row.history IS NULL THEN [] ELSE [row.history] END |
  SET m += history
)
RETURN count(*) AS written, sum(CASE WHEN created THEN 1 ELSE 0 END) AS created
