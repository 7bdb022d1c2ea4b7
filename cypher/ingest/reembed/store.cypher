// name: ingest.reembed.store
// mode: write
// params: generation, rows
// returns: written INTEGER, wanted BOOLEAN
// Store vectors of a generation that is being made, or was made and is being completed. rows: scope,
// id, text, embedding; sorted, as all writers lock memories. A memory whose text has changed since it
// was read is left out, and one that has a vector by now keeps it.
// wanted: whether the generation still is wanted; else nothing is written.
OPTIONAL MATCH (meta:MemoriaMeta {key: 'memoria'})
WITH coalesce(
  meta.reembedding = 'filling' AND meta.other_generation = $p.generation
  OR meta.reembedding = 'sweeping' AND meta.generation = $p.generation, false) AS wanted
CALL (wanted) {
  UNWIND CASE WHEN wanted THEN $p.rows ELSE [] END AS row
  MATCH (m:Memory {scope: row.scope, id: row.id})
  // Takes the lock before the text is read, so that no other text can come between.
  SET m.scope = row.scope
  WITH m, row
  WHERE m.text = row.text AND m.embedding IS NULL
  SET m.embedding = row.embedding
  RETURN count(*) AS written
}
RETURN written, wanted
