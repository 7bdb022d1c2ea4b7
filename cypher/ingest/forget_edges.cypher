// name: ingest.forget_edges
// mode: write
// params: delete_foreign, ids, max_edges, scope
// returns: deleted
// Delete some of the edges of memories that are about to be forgotten; those of other types than
// memoria's only where delete_foreign is set.
UNWIND $p.ids AS id
MATCH (:Memory {scope: $p.scope, id: id})-[r]-()
WHERE $p.delete_foreign OR r:RELATES|SUPPRESSES|COACTIVATED
WITH DISTINCT r LIMIT toInteger($p.max_edges)
DELETE r
RETURN count(*) AS deleted
