// name: link.prune
// mode: write
// params: below, ids, origin, scope
// returns: deleted INTEGER
// Delete the edges of these memories that linking made and whose weight is too low to be of use.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})-[r:RELATES]->()
USING INDEX SEEK m:Memory(scope, id)
WHERE r.origin = $p.origin AND r.weight < $p.below
DELETE r
RETURN count(*) AS deleted
