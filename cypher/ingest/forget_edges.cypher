// name: ingest.forget_edges
// mode: write
// params: ids, max_edges, scope
// returns: deleted
// Delete some of the edges of memories that are about to be deleted.
UNWIND $p.ids AS id
MATCH (:Memory {scope: $p.scope, id: id})-[r]-()
WITH DISTINCT r LIMIT toInteger($p.max_edges)
DELETE r
RETURN count(*) AS deleted
