// name: ingest.memories
// mode: write
// params: generation, kinds, notes, now, pending, rows, scope, scope_key
// returns: written INTEGER, created INTEGER, owed BOOLEAN
// Write memories of one scope, sorted by id, so that concurrent writers lock in one order.
// rows: id, kind, properties (null removes one; a connector has connector_name instead of text and
// scope_key), created_at (text in ISO 8601; null keeps that; a new memory gets now, unless it is
// undated), history (what use and linking left elsewhere, instead of what they left here; null
// keeps that), embedding (null keeps the one stored, unless the text changed). Learning counters
// stay. kinds: the labels of which a memory has one.
// generation: that of the vectors in rows; if another one is live by now, nothing is written. Null
// where there are no vectors. A changed text loses the vectors of every generation.
// notes: key and ids of memories whose vectors could not be made and are to be made later. owed:
// whether there is any such note of the scope, whose keys begin with pending.
// A changed text is to be linked again; linked_before keeps that an earlier text was linked, so that
// linking strengthens the edges that it finds again.
OPTIONAL MATCH (meta:MemoriaMeta {key: 'memoria'})
WITH coalesce(meta.generation, 1) AS live
UNWIND CASE WHEN coalesce($p.generation = live, true) THEN $p.rows ELSE [] END AS row
MERGE (m:Memory {scope: $p.scope, id: row.id})
WITH m, row,
     m.text IS NULL AND m.connector_name IS NULL AS created,
     m.text IS NOT NULL AND coalesce(m.text <> row.properties.text, true) AS changed,
     coalesce(datetime(row.created_at), m.created_at, CASE
       WHEN m.text IS NULL AND m.connector_name IS NULL AND NOT row.undated THEN $p.now
     END) AS created_at
SET m += row.properties, m.created_at = created_at,
    m.scope_key = CASE WHEN row.properties.connector_name IS NULL THEN $p.scope_key END
REMOVE m:$([kind IN $p.kinds WHERE kind <> row.kind])
SET m:$(row.kind)
FOREACH (
  name IN CASE WHEN changed THEN [name IN keys(m) WHERE name =~ 'embedding(_g[0-9]+)?'] ELSE [] END |
  REMOVE m[name]
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
WITH count(*) AS written, sum(CASE WHEN created THEN 1 ELSE 0 END) AS created
CALL (written) {
  UNWIND CASE WHEN written > 0 THEN $p.notes ELSE [] END AS row
  MERGE (note:MemoriaMeta {key: row.key})
  SET note.scope = $p.scope, note.ids = row.ids
  RETURN count(*) AS noted
}
RETURN written, created,
       EXISTS { MATCH (note:MemoriaMeta) WHERE note.key STARTS WITH $p.pending } AS owed
