// name: remember.lock
// mode: write
// params: ids, scope
// returns: states LIST<LIST>
// Lock the first sessions of conversations, in the order of ids, and read their state; a
// conversation that is new gets its node. states: [id, metadata].
// Setting the scope to its own value takes the lock; see ingest.relations.
UNWIND $p.ids AS id
MERGE (m:Memory {scope: $p.scope, id: id})
SET m.scope = $p.scope
WITH m, id
RETURN collect([id, m.metadata]) AS states
