// name: ingest.forget
// mode: write
// params: ids, max_edges, scope
// returns: edges, forgotten
// Delete memories with all their edges, unless that is too much for one transaction: then
// nothing is deleted, and edges tells how many there are.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
WITH collect(m) AS memories, sum(COUNT { (m)--() }) AS edges
CALL (memories, edges) {
  UNWIND CASE WHEN edges <= $p.max_edges THEN memories ELSE [] END AS m
  DETACH DELETE m
  RETURN count(*) AS forgotten
}
RETURN edges, forgotten
