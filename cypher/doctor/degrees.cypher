// name: doctor.degrees
// mode: read
// params: limit, scope
// returns: degree INTEGER, count INTEGER, examples LIST<LIST>
// The number of memories for each number of edges, among at most limit memories; the degree is the
// one by which an exploration divides. examples: [scope, id, element id] of five memories without
// any edge. A connector without an edge is left out: doctor.memories finds it.
// use: examined_memories()
WITH m, COUNT { (m)-[:RELATES]-() } AS degree
WHERE degree > 0 OR NOT m:Session|Speaker|Topic
RETURN degree, count(*) AS count,
       collect(CASE WHEN degree = 0 THEN [m.scope, m.id, elementId(m)] END)[..5] AS examples
ORDER BY degree
