// name: ingest.embedded
// mode: read
// params: rows, scope
// returns: ids LIST<STRING>
// Which of these memories are stored with the same text and a vector; they need not be embedded
// again.
UNWIND $p.rows AS row
MATCH (m:Memory {scope: $p.scope, id: row.id})
WHERE m.text = row.text AND m.embedding IS NOT NULL
RETURN collect(m.id) AS ids
