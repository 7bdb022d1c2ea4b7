// name: ingest.end_edges
// mode: write
// params: ids, origin, rows, scope
// returns: deleted INTEGER
// Delete edges that one part of memoria made, its origin; edges of others stay. rows: [source,
// target, relation]. ids: every end, sorted. Locks as in ingest.relations.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
SET m.scope = $p.scope
WITH count(*) AS locked
UNWIND $p.rows AS row
MATCH (source:Memory {scope: $p.scope, id: row[0]})
MATCH (target:Memory {scope: $p.scope, id: row[1]})
// As in ingest.delete_edges.
WITH source, target, row[2] AS relation
MATCH (source)-[r:RELATES]->(target)
WHERE r.relation = relation AND r.origin = $p.origin
DELETE r
RETURN count(*) AS deleted
