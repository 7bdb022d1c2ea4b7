// name: doctor.degrees_of
// mode: read
// params: ids, scope
// returns: id, degree
// The number of edges of each of these memories, in both directions; a self loop counts once.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
RETURN id, COUNT { (m)-[:RELATES]-() } AS degree
