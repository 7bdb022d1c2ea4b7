// name: doctor.degrees_of
// mode: read
// params: ids, scope
// returns: id, degree
// Edges of each of these memories, both directions, a self loop once.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
RETURN id, COUNT { (m)-[:RELATES]-() } AS degree
