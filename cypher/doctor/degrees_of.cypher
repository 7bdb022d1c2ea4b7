// name: doctor.degrees_of
// mode: read
// params: ids, scope
// returns: id STRING, degree INTEGER
// The number of edges of each of these memories, in both directions; a self loop counts once.
// Connectors are left out: they are there to have many edges.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
WHERE m.connector_name IS NULL
RETURN id, COUNT { (m)-[:RELATES]-() } AS degree
