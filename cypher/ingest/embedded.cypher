// name: ingest.embedded
// mode: read
// params: rows, scope
// returns: ids LIST<STRING>
// Which of these memories are stored with the same text and a vector; they need not be embedded
// again. For collect(m.id), a server whose database is empty may plan to read the whole scope.
UNWIND $p.rows AS row
MATCH (m:Memory {scope: $p.scope, id: row.id})
WHERE m.text = row.text AND m.embedding IS NOT NULL
RETURN collect(row.id) AS ids
