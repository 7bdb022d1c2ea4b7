// name: ingest.embeddings
// mode: write
// params: generation, rows, scope
// returns: written INTEGER, live BOOLEAN
// again: same
// Store vectors, sorted by id. A memory whose text has changed since it was read is left out.
// live: whether generation, that of the vectors, still is the live one; else nothing is written.
OPTIONAL MATCH (meta:MemoriaMeta {key: 'memoria'})
WITH coalesce(meta.generation, 1) = $p.generation AS live
CALL (live) {
  UNWIND CASE WHEN live THEN $p.rows ELSE [] END AS row
  MATCH (m:Memory {scope: $p.scope, id: row.id})
  // Takes the lock before the text is read, so that no other text can come between.
  SET m.scope = $p.scope
  WITH m, row
  WHERE m.text = row.text
  SET m.embedding = row.embedding
  RETURN count(*) AS written
}
RETURN written, live
