// name: ingest.delete_edges
// mode: write
// params: ids, relation, scope, source, target
// returns: deleted INTEGER
// Delete the edges that lead from a memory to another; of one relation, or if it is null, of any.
// ids: the two ends, sorted. Locks as in ingest.relations.
UNWIND $p.ids AS id
MATCH (m:Memory {scope: $p.scope, id: id})
SET m.scope = $p.scope
WITH count(*) AS locked
MATCH (source:Memory {scope: $p.scope, id: $p.source})
MATCH (target:Memory {scope: $p.scope, id: $p.target})
// Both ends are found before the relation is named: else the planner may read every edge of one of them.
WITH source, target, $p.relation AS relation
MATCH (source)-[r:RELATES]->(target)
WHERE relation IS NULL OR toStringOrNull(r.relation) = relation
DELETE r
RETURN count(*) AS deleted
