// name: ingest.forget
// mode: write
// params: cleared, delete_foreign, ids, kinds, known, max_edges, scope
// returns: edges, deleted, kept
// Forget memories with all their edges, unless that is too much for one transaction: then nothing
// changes, and edges tells how many there are. A node that holds more than a memory (a label beside
// Memory and one kind, a property that is not in known, a relationship of another type) stays, unless
// delete_foreign is set. It loses the edges, the properties in cleared, the label Memory and those in
// kinds, but for the last label that it has. kept: ids of such nodes; their id stays on them.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
WITH m, NOT $p.delete_foreign AND (
  size(labels(m)) > 2
  OR any(name IN keys(m) WHERE NOT name IN $p.known)
  OR EXISTS { (m)-[:!RELATES&!SUPPRESSES&!COACTIVATED]-() }
) AS keep
WITH collect([m, keep]) AS found,
     sum(CASE WHEN keep THEN COUNT { (m)-[:RELATES|SUPPRESSES|COACTIVATED]-() }
              ELSE COUNT { (m)--() } END) AS edges
WITH edges, CASE WHEN edges <= $p.max_edges THEN found ELSE [] END AS found
CALL (found) {
  UNWIND [pair IN found WHERE pair[1] | pair[0]] AS m
  CALL (m) {
    MATCH (m)-[r:RELATES|SUPPRESSES|COACTIVATED]-()
    DELETE r
  }
  SET m += $p.cleared
  REMOVE m:Memory
  WITH m, [label IN labels(m) WHERE label IN $p.kinds] AS kinds
  FOREACH (_ IN CASE WHEN size(labels(m)) > size(kinds) THEN [1] ELSE [] END | REMOVE m:$(kinds))
  RETURN collect(m.id) AS kept
}
CALL (found) {
  UNWIND [pair IN found WHERE NOT pair[1] | pair[0]] AS m
  DETACH DELETE m
  RETURN count(*) AS deleted
}
RETURN edges, deleted, kept
