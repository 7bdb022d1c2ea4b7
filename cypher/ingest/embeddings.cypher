// name: ingest.embeddings
// mode: write
// params: rows, scope
// returns: written
// Store vectors, sorted by id. A memory whose text has changed since it was read is left out.
UNWIND $p.rows AS row
MATCH (m:Memory {scope: $p.scope, id: row.id})
WHERE m.text = row.text
SET m.embedding = row.embedding
RETURN count(*) AS written
